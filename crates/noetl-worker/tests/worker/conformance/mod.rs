//! The conformance suite, as far as it needs no service, through the in-memory control plane: engine, interpreter, worker
//! and tools together.
//!
//! `NOETL_CASE=area/name` runs the cases whose names begin so.

mod case;
mod matching;
mod mock;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::{StreamExt, stream};

use crate::support::Cluster;
use case::Case;
use mock::Mock;

/// Cases that run at the same time. Some of them measure time, so it is few.
const JOBS: usize = 4;

/// What a case may need here.
const AT_HAND: [&str; 4] = ["http", "python", "rhai", "shell"];

/// Rules that belong to the interface for clients and not to engine, interpreter or worker.
const OF_THE_SERVER: [&str; 1] = ["control/dedup_key"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn cases() -> Vec<Case> {
    let wanted = std::env::var("NOETL_CASE").unwrap_or_default();
    let mut cases = Vec::new();
    for area in std::fs::read_dir(folder().join("cases")).expect("the suite is there") {
        let area = area.expect("the suite can be read").path();
        for case in std::fs::read_dir(area).expect("an area is a folder") {
            cases.push(Case::read(&case.expect("the suite can be read").path()));
        }
    }
    cases.retain(|case| {
        case.needs().iter().all(|need| AT_HAND.contains(&need.as_str()))
            && !OF_THE_SERVER.contains(&case.name.as_str())
            && case.name.starts_with(&wanted)
    });
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

#[tokio::test(flavor = "multi_thread")]
async fn every_case_that_needs_no_service_has_its_expected_outcome() {
    let mock = Arc::new(Mock::start(&folder()).await);
    let cluster = Cluster::start();
    let cases = cases();
    assert!(!cases.is_empty(), "there are cases to run");
    let count = cases.len();
    let runs = cases.into_iter().enumerate().map(|(number, case)| {
        let (mock, cluster) = (mock.clone(), &cluster);
        async move {
            let outcome = case.run(cluster, &mock, number).await;
            outcome.err().map(|problem| format!("{}: {problem}", case.name))
        }
    });
    let mut failed: Vec<String> =
        stream::iter(runs).buffer_unordered(JOBS).filter_map(std::future::ready).collect().await;
    failed.sort();
    cluster.shut_down().await;
    assert!(failed.is_empty(), "{} of {count} cases failed:\n{}", failed.len(), failed.join("\n"));
}
