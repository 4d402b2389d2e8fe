//! How the worker and its control plane get along.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use noetl_types::{Report, RunStatus, Value, value};
use noetl_worker::WorkerConfig;
use tokio::sync::Semaphore;

use crate::support::{Cluster, Probe, Server};

const ONE_CALL: &str = "workflow: [{step: start, tool: {kind: shell, command: x}}]";

#[tokio::test]
async fn a_short_step_is_reported_once_with_its_beginning_and_its_end() {
    let cluster = Cluster::with_probe(Probe::new(|_| async { Report::success(Value::Null) }));
    for flow in [ONE_CALL, "workflow: [{step: start, tool: {kind: noop, result: 1}}]"] {
        let before = cluster.server.reports().len();
        cluster.run(flow, Value::Null).await;
        let reports = cluster.server.reports().split_off(before);
        assert_eq!(reports.len(), 1, "{reports:?}");
        assert!(reports[0].began_at.is_some() && reports[0].outcome.is_some());
    }
}

#[tokio::test]
async fn a_long_step_is_reported_when_it_has_begun() {
    let gate = Arc::new(Semaphore::new(0));
    let probe = Probe::new({
        let gate = gate.clone();
        move |_| {
            let gate = gate.clone();
            async move {
                let _ = gate.acquire().await;
                Report::success(value!({"done": true}))
            }
        }
    });
    let config = WorkerConfig { announce_after: Duration::from_millis(1), ..WorkerConfig::default() };
    let cluster = Cluster::start_with(config, Some(probe));
    let execution = cluster.begin(ONE_CALL, Value::Null);
    cluster.until(|server| (!server.reports().is_empty()).then_some(())).await;
    let begun = cluster.server.reports();
    assert!(begun[0].began_at.is_some() && begun[0].outcome.is_none(), "{begun:?}");
    gate.add_permits(1);
    let run = cluster.end_of(execution).await;
    assert_eq!(cluster.result(&run), value!({"done": true}));
}

#[tokio::test]
async fn an_outcome_is_reported_until_it_arrives() {
    let calls = Arc::new(AtomicUsize::new(0));
    let probe = Probe::new({
        let calls = calls.clone();
        move |_| {
            calls.fetch_add(1, Ordering::SeqCst);
            async { Report::success(Value::Null) }
        }
    });
    let cluster = Cluster::with_probe(probe);
    cluster.server.fail_reports(2);
    let run = cluster.run(ONE_CALL, Value::Null).await;
    assert_eq!(run.status, RunStatus::Completed);
    assert_eq!(calls.load(Ordering::SeqCst), 1, "the tool is not called again for it");
}

#[tokio::test]
async fn leases_are_renewed_while_a_tool_runs() {
    let gate = Arc::new(Semaphore::new(0));
    let probe = Probe::new({
        let gate = gate.clone();
        move |_| {
            let gate = gate.clone();
            async move {
                let _ = gate.acquire().await;
                Report::success(Value::Null)
            }
        }
    });
    let server = Server::new(Duration::from_millis(30), false);
    let cluster = Cluster::start_on(server, WorkerConfig::default(), Some(probe));
    let execution = cluster.begin(ONE_CALL, Value::Null);
    cluster.until(|server| (server.renewals() >= 3).then_some(())).await;
    gate.add_permits(1);
    assert_eq!(cluster.end_of(execution).await.status, RunStatus::Completed);
}

#[tokio::test]
async fn a_worker_says_what_it_can_do_and_says_goodbye() {
    let cluster = Cluster::start();
    cluster.run("workflow: [{step: start, tool: {kind: noop, result: 1}}]", Value::Null).await;
    let workers = cluster.server.workers();
    assert_eq!(workers.len(), 1);
    assert!(workers[0].kinds.iter().any(|kind| &**kind == "noop"), "{workers:?}");
    assert!(cluster.shut_down().await.workers().is_empty());
}
