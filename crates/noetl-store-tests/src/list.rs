//! Listing executions: newest first, filters, search, pages that hold still.

use std::sync::Arc;

use noetl_store::{ExecutionFilter, ExecutionRow, PathFilter, Store};
use noetl_types::{ExecutionId, RunStatus};

use crate::given::*;

async fn ids(store: &dyn Store, filter: ExecutionFilter, limit: usize) -> Vec<i64> {
    let listed = store.list_executions(&filter, limit).await.unwrap();
    listed.iter().map(|execution| execution.id.0).collect()
}

async fn having(store: &dyn Store, rows: impl IntoIterator<Item = (i64, ExecutionRow)>) {
    commit_all(store, rows.into_iter().map(|(id, row)| begin_at(id, row)).collect()).await;
}

pub async fn executions_are_listed_newest_first(store: Arc<dyn Store>) {
    having(&*store, [2, 9, 5].map(|id| (id, row("a")))).await;
    assert_eq!(ids(&*store, ExecutionFilter::default(), 10).await, [9, 5, 2]);
    assert_eq!(ids(&*store, ExecutionFilter::default(), 2).await, [9, 5]);
}

pub async fn pages_hold_still_while_executions_begin(store: Arc<dyn Store>) {
    having(&*store, (1..=6).map(|id| (id, row("a")))).await;
    assert_eq!(ids(&*store, ExecutionFilter::default(), 3).await, [6, 5, 4]);
    having(&*store, [(7, row("a")), (8, row("a"))]).await;
    let next = ExecutionFilter { before: Some(ExecutionId(4)), ..ExecutionFilter::default() };
    assert_eq!(ids(&*store, next, 3).await, [3, 2, 1]);
}

pub async fn executions_are_filtered_by_status(store: Arc<dyn Store>) {
    let with = |status| ExecutionRow { status, ..row("a") };
    having(
        &*store,
        [(1, with(RunStatus::Running)), (2, with(RunStatus::Completed)), (3, with(RunStatus::Failed))],
    )
    .await;
    let filter = |statuses: &[RunStatus]| ExecutionFilter { statuses: statuses.into(), ..Default::default() };
    assert_eq!(ids(&*store, filter(&[RunStatus::Completed]), 10).await, [2]);
    assert_eq!(ids(&*store, filter(&[RunStatus::Running, RunStatus::Failed]), 10).await, [3, 1]);
    assert_eq!(ids(&*store, filter(&[RunStatus::Cancelled]), 10).await, [] as [i64; 0]);
}

pub async fn a_changed_status_moves_an_execution_between_lists(store: Arc<dyn Store>) {
    having(&*store, [(1, row("a")), (2, row("a"))]).await;
    let mut done = step(1, 1);
    done.row.status = RunStatus::Completed;
    commit(&*store, done).await;
    let filter = |status| ExecutionFilter { statuses: vec![status], ..Default::default() };
    assert_eq!(ids(&*store, filter(RunStatus::Running), 10).await, [2]);
    assert_eq!(ids(&*store, filter(RunStatus::Completed), 10).await, [1]);
}

pub async fn executions_are_filtered_by_path(store: Arc<dyn Store>) {
    having(
        &*store,
        [
            (1, row("etl/load")),
            (2, row("etl/load_all")),
            (3, row("etlx")),
            (4, row("ETL/load")),
            (5, row("etl%")),
        ],
    )
    .await;
    let filter = |path| ExecutionFilter { path: Some(path), ..Default::default() };
    assert_eq!(ids(&*store, filter(PathFilter::Is("etl/load".to_owned())), 10).await, [1]);
    assert_eq!(ids(&*store, filter(PathFilter::StartsWith("etl/".to_owned())), 10).await, [2, 1]);
    assert_eq!(ids(&*store, filter(PathFilter::StartsWith("etl%".to_owned())), 10).await, [5]);
    assert_eq!(ids(&*store, filter(PathFilter::StartsWith(String::new())), 10).await, [5, 4, 3, 2, 1]);
}

pub async fn executions_are_filtered_by_parent(store: Arc<dyn Store>) {
    let child = |parent| ExecutionRow { parent: Some(ExecutionId(parent)), ..row("a") };
    having(&*store, [(1, row("a")), (2, child(1)), (3, child(1)), (4, child(2))]).await;
    let filter = ExecutionFilter { parent: Some(ExecutionId(1)), ..Default::default() };
    assert_eq!(ids(&*store, filter, 10).await, [3, 2]);
}

pub async fn executions_are_filtered_by_time(store: Arc<dyn Store>) {
    having(&*store, (1..=5).map(|id| (id, ExecutionRow { started_at: at(id), ..row("a") }))).await;
    let filter =
        ExecutionFilter { started_from: Some(at(2)), started_before: Some(at(4)), ..Default::default() };
    assert_eq!(ids(&*store, filter, 10).await, [3, 2]);
}

pub async fn executions_are_filtered_by_labels(store: Arc<dyn Store>) {
    let labelled = |labels: &[(&str, &str)]| ExecutionRow {
        labels: labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        ..row("a")
    };
    having(
        &*store,
        [
            (1, labelled(&[("team", "data"), ("odd.key \"'[]$", "x")])),
            (2, labelled(&[("team", "data")])),
            (3, labelled(&[("team", "ops")])),
            (4, row("a")),
        ],
    )
    .await;
    let filter =
        |labels: &[(&str, &str)]| ExecutionFilter { labels: labelled(labels).labels, ..Default::default() };
    assert_eq!(ids(&*store, filter(&[("team", "data")]), 10).await, [2, 1]);
    assert_eq!(ids(&*store, filter(&[("team", "data"), ("odd.key \"'[]$", "x")]), 10).await, [1]);
    assert_eq!(ids(&*store, filter(&[("team", "Data")]), 10).await, [] as [i64; 0]);
    assert_eq!(ids(&*store, filter(&[("no such key", "x")]), 10).await, [] as [i64; 0]);
}

async fn search(store: &dyn Store, text: &str) -> Vec<i64> {
    ids(store, ExecutionFilter { search: Some(text.to_owned()), ..Default::default() }, 10).await
}

pub async fn search_looks_into_path_id_and_error(store: Arc<dyn Store>) {
    let failed = ExecutionRow { error: Some("Connection REFUSED by host".to_owned()), ..row("b") };
    having(&*store, [(10, row("Etl/Load")), (210, row("a")), (3, failed)]).await;
    assert_eq!(search(&*store, "etl/l").await, [10]);
    assert_eq!(search(&*store, "refused").await, [3]);
    assert_eq!(search(&*store, "10").await, [210, 10]);
    assert_eq!(search(&*store, "nothing like it").await, [] as [i64; 0]);
}

pub async fn search_takes_wildcards_literally(store: Arc<dyn Store>) {
    having(&*store, [(1, row("a_b")), (2, row("axb")), (3, row("100%")), (4, row("it's"))]).await;
    assert_eq!(search(&*store, "a_b").await, [1]);
    assert_eq!(search(&*store, "%").await, [3]);
    assert_eq!(search(&*store, "'s").await, [4]);
}

pub async fn filters_apply_together(store: Arc<dyn Store>) {
    let failed = |path: &str| ExecutionRow { status: RunStatus::Failed, ..row(path) };
    having(&*store, [(1, failed("etl/a")), (2, row("etl/a")), (3, failed("web")), (4, failed("etl/b"))])
        .await;
    let filter = ExecutionFilter {
        statuses: vec![RunStatus::Failed],
        path: Some(PathFilter::StartsWith("etl/".to_owned())),
        search: Some("a".to_owned()),
        before: Some(ExecutionId(4)),
        ..Default::default()
    };
    assert_eq!(ids(&*store, filter, 10).await, [1]);
}

pub async fn executions_are_counted_by_status(store: Arc<dyn Store>) {
    assert_eq!(store.count_executions().await.unwrap(), []);
    let failed = ExecutionRow { status: RunStatus::Failed, ..row("a") };
    having(&*store, [(1, row("a")), (2, failed), (3, row("a"))]).await;
    let mut counts = store.count_executions().await.unwrap();
    counts.sort_by_key(|(status, _)| status.as_str());
    assert_eq!(counts, [(RunStatus::Failed, 1), (RunStatus::Running, 2)]);
}
