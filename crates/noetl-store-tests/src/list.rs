//! Listing executions: newest first, filters, search, pages that hold still.

use std::sync::Arc;

use noetl_store::{ExecutionFilter, ExecutionRow, MatchCount, PathFilter, SHORT_SEARCH_REACH, Store};
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

fn failed(error: &str) -> ExecutionRow {
    ExecutionRow { status: RunStatus::Failed, error: Some(error.to_owned()), ..row("b") }
}

pub async fn search_looks_into_path_id_error_and_labels(store: Arc<dyn Store>) {
    let labels = [("Team".to_owned(), "Data \"X\"".to_owned())].into();
    let labelled = ExecutionRow { labels, ..row("c") };
    let refused = failed("Connection REFUSED by host");
    having(&*store, [(1043, row("Etl/Load")), (210, row("a")), (3, refused), (4, labelled)]).await;
    assert_eq!(search(&*store, "etl/l").await, [1043]);
    assert_eq!(search(&*store, "refused").await, [3]);
    assert_eq!(search(&*store, "1043").await, [1043]);
    assert_eq!(search(&*store, "104").await, [1043], "the id begins with it");
    assert_eq!(search(&*store, "043").await, [] as [i64; 0]);
    assert_eq!(search(&*store, "team=data \"x").await, [4]);
    assert_eq!(search(&*store, "nothing like it").await, [] as [i64; 0]);
}

pub async fn search_looks_into_the_beginning_of_long_errors(store: Arc<dyn Store>) {
    having(
        &*store,
        [
            (1, failed(&format!("{}early", "é".repeat(995)))),
            (2, failed(&format!("{}later", "é".repeat(996)))),
        ],
    )
    .await;
    assert_eq!(search(&*store, "early").await, [1]);
    assert_eq!(search(&*store, "later").await, [] as [i64; 0]);
    assert_eq!(search(&*store, "late").await, [2]);
}

pub async fn executions_are_filtered_by_a_part_of_their_path(store: Arc<dyn Store>) {
    having(&*store, [(1, row("Etl/Daily load")), (2, row("etl/hourly")), (3, row("dail"))]).await;
    let filter = |text: &str| ExecutionFilter {
        path: Some(PathFilter::Contains(text.to_owned())),
        ..Default::default()
    };
    assert_eq!(ids(&*store, filter("DAILY"), 10).await, [1]);
    assert_eq!(ids(&*store, filter("l/"), 10).await, [2, 1]);
    assert_eq!(ids(&*store, filter("%"), 10).await, [] as [i64; 0]);
}

pub async fn executions_are_filtered_by_catalog_entry_and_pool(store: Arc<dyn Store>) {
    let of = |catalog_id, pool: &str| ExecutionRow { catalog_id, pool: pool.into(), ..row("a") };
    having(&*store, [(1, of(5, "shared")), (2, of(6, "gpu")), (3, of(6, "shared"))]).await;
    let entry = ExecutionFilter { catalog_id: Some(6), ..Default::default() };
    assert_eq!(ids(&*store, entry.clone(), 10).await, [3, 2]);
    assert_eq!(ids(&*store, ExecutionFilter { pool: Some("gpu".to_owned()), ..entry }, 10).await, [2]);
}

pub async fn pages_go_both_ways(store: Arc<dyn Store>) {
    having(&*store, (1..=9).map(|id| (id, row(if id % 2 == 1 { "odd" } else { "even" })))).await;
    let after = |id, limit| {
        let filter = ExecutionFilter { after: Some(ExecutionId(id)), ..Default::default() };
        ids(&*store, filter, limit)
    };
    assert_eq!(after(4, 3).await, [7, 6, 5], "those next to it, newest first");
    assert_eq!(after(7, 3).await, [9, 8]);
    assert_eq!(after(9, 3).await, [] as [i64; 0]);
    let between = ExecutionFilter {
        after: Some(ExecutionId(2)),
        before: Some(ExecutionId(8)),
        path: Some(PathFilter::Is("odd".to_owned())),
        ..Default::default()
    };
    assert_eq!(ids(&*store, between, 2).await, [7, 5]);
    let nothing =
        ExecutionFilter { after: Some(ExecutionId(8)), before: Some(ExecutionId(2)), ..Default::default() };
    assert_eq!(ids(&*store, nothing, 2).await, [] as [i64; 0]);
}

pub async fn an_offset_leaves_out_the_beginning(store: Arc<dyn Store>) {
    having(&*store, (1..=9).map(|id| (id, row("a")))).await;
    let skip = |offset| ExecutionFilter { offset, ..Default::default() };
    assert_eq!(ids(&*store, skip(2), 3).await, [7, 6, 5]);
    assert_eq!(ids(&*store, skip(8), 3).await, [1]);
    assert_eq!(ids(&*store, skip(9), 3).await, [] as [i64; 0]);
    let filtered = ExecutionFilter {
        path: Some(PathFilter::Is("a".to_owned())),
        after: Some(ExecutionId(2)),
        ..skip(1)
    };
    assert_eq!(ids(&*store, filtered, 2).await, [5, 4]);
}

/// More than enough that not all of them are looked at one by one, and some older ones that are not like them.
async fn rare_among_many(store: &dyn Store) {
    let labels = |number: i64| [("order".to_owned(), format!("number-{number}"))].into();
    let rare = ExecutionRow {
        status: RunStatus::Failed,
        ended_at: Some(at(5)),
        error: Some("The Disk is full".to_owned()),
        pool: "gpu".into(),
        catalog_id: 77,
        labels: labels(0),
        ..row("old/and/rare")
    };
    having(store, [(1, row("flows/common")), (2, rare.clone()), (3, row("flows/common")), (4, rare)]).await;
    let common = |id| ExecutionRow { labels: labels(id), started_at: at(id), ..row("flows/common") };
    having(store, (5..1500).map(|id| (id, common(id)))).await;
}

pub async fn rare_executions_are_found_among_many(store: Arc<dyn Store>) {
    rare_among_many(&*store).await;
    let by = ExecutionFilter::default;
    let label = |number| ExecutionFilter {
        labels: [("order".to_owned(), format!("number-{number}"))].into(),
        ..by()
    };
    let path = |path| ExecutionFilter { path: Some(path), ..by() };
    let search = |text: &str| ExecutionFilter { search: Some(text.to_owned()), ..by() };
    for (way, filter) in [
        ("status", ExecutionFilter { statuses: vec![RunStatus::Failed], ..by() }),
        ("statuses", ExecutionFilter { statuses: vec![RunStatus::Failed, RunStatus::Cancelled], ..by() }),
        ("path", path(PathFilter::Is("old/and/rare".to_owned()))),
        ("prefix", path(PathFilter::StartsWith("old/".to_owned()))),
        ("part", path(PathFilter::Contains("D/RARE".to_owned()))),
        (
            "path and status",
            ExecutionFilter {
                statuses: vec![RunStatus::Failed],
                ..path(PathFilter::StartsWith(String::new()))
            },
        ),
        ("catalog entry", ExecutionFilter { catalog_id: Some(77), ..by() }),
        ("pool", ExecutionFilter { pool: Some("gpu".to_owned()), ..by() }),
        ("time", ExecutionFilter { started_before: Some(at(5)), pool: Some("gpu".to_owned()), ..by() }),
        ("label", label(0)),
        ("label and status", ExecutionFilter { statuses: vec![RunStatus::Failed], ..label(0) }),
        ("search in paths", search("and/RARE")),
        ("search in errors", search("disk IS")),
        ("search in labels", search("number-0")),
        ("search and status", ExecutionFilter { statuses: vec![RunStatus::Failed], ..search("number-") }),
    ] {
        assert_eq!(ids(&*store, filter.clone(), 10).await, [4, 2], "{way}");
        assert_eq!(ids(&*store, filter.clone(), 1).await, [4], "{way}");
        let older = ExecutionFilter { before: Some(ExecutionId(4)), ..filter.clone() };
        assert_eq!(ids(&*store, older, 10).await, [2], "{way}");
        let newer = ExecutionFilter { after: Some(ExecutionId(2)), ..filter.clone() };
        assert_eq!(ids(&*store, newer, 10).await, [4], "{way}");
        let count = store.count_matching(&filter, 10).await.unwrap();
        assert_eq!(count, MatchCount { count: 2, is_exact: true }, "{way}");
    }
    assert_eq!(ids(&*store, label(1200), 10).await, [1200]);
    assert_eq!(ids(&*store, search("number-120"), 20).await.len(), 11);
    assert_eq!(ids(&*store, search("no such text"), 10).await, [] as [i64; 0]);
    assert_eq!(ids(&*store, label(-1), 10).await, [] as [i64; 0]);
}

pub async fn a_short_text_is_looked_for_among_the_newest(store: Arc<dyn Store>) {
    having(&*store, [(1, row("q"))]).await;
    having(&*store, (2..2 + SHORT_SEARCH_REACH as i64 - 1).map(|id| (id, row("a")))).await;
    assert_eq!(search(&*store, "q").await, [1]);
    having(&*store, [(1_000_000, row("a"))]).await;
    assert_eq!(search(&*store, "q").await, [] as [i64; 0]);
}

pub async fn matches_are_counted_as_far_as_asked(store: Arc<dyn Store>) {
    having(&*store, (1..=9).map(|id| (id, row(if id > 4 { "new" } else { "old" })))).await;
    let count = |filter: ExecutionFilter, at_most| {
        let store = store.clone();
        async move {
            let counted = store.count_matching(&filter, at_most).await.unwrap();
            (counted.count, counted.is_exact)
        }
    };
    let new = ExecutionFilter { path: Some(PathFilter::Is("new".to_owned())), ..Default::default() };
    assert_eq!(count(new.clone(), 5).await, (5, true));
    assert_eq!(count(new.clone(), 4).await, (4, false));
    let a_page = ExecutionFilter { before: Some(ExecutionId(7)), offset: 1, ..new };
    assert_eq!(count(a_page, 10).await, (5, true), "the page makes no difference");
    assert_eq!(count(ExecutionFilter::default(), 3).await, (9, true), "all are counted anyway");
    let running = ExecutionFilter { statuses: vec![RunStatus::Running], ..Default::default() };
    assert_eq!(count(running, 3).await, (9, true));
}

pub async fn everything_below_an_execution_is_listed(store: Arc<dyn Store>) {
    let child = |parent| ExecutionRow { parent: Some(ExecutionId(parent)), ..row("a") };
    having(
        &*store,
        [(1, row("a")), (2, child(1)), (3, child(2)), (4, child(1)), (5, row("a")), (6, child(6))],
    )
    .await;
    let below = |id, limit| {
        let store = store.clone();
        async move {
            let ids = store.list_descendants(ExecutionId(id), limit).await.unwrap();
            ids.iter().map(|id| id.0).collect::<Vec<_>>()
        }
    };
    assert_eq!(below(1, 10).await, [2, 3, 4]);
    assert_eq!(below(1, 2).await, [2, 3]);
    assert_eq!(below(5, 10).await, [] as [i64; 0]);
    assert_eq!(below(6, 10).await, [] as [i64; 0], "what calls itself is not below itself");
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
    having(&*store, [(1, row("a")), (2, failed("it broke")), (3, row("a"))]).await;
    let counts = async || {
        let mut counts = store.count_executions().await.unwrap();
        counts.sort_by_key(|(status, _)| status.as_str());
        counts
    };
    assert_eq!(counts().await, [(RunStatus::Failed, 1), (RunStatus::Running, 2)]);
    for (id, status) in [(1, RunStatus::Failed), (3, RunStatus::Completed)] {
        let mut done = step(id, 1);
        done.row.status = status;
        commit(&*store, done).await;
    }
    assert_eq!(counts().await, [(RunStatus::Completed, 1), (RunStatus::Failed, 2)]);
}

pub async fn the_counts_follow_every_change_and_none_that_was_lost(store: Arc<dyn Store>) {
    let counts = async || {
        let mut counts = store.count_executions().await.unwrap();
        counts.sort_by_key(|(status, _)| status.as_str());
        counts
    };
    having(&*store, [(1, row("a")), (2, row("a"))]).await;
    // Whoever starts what exists, or goes on from where an execution no longer is, changes nothing.
    let mut stale = step(1, 7);
    stale.row.status = RunStatus::Failed;
    let batch = noetl_store::Batch { executions: vec![begin(2), stale] };
    assert_eq!(store.commit(&batch).await.unwrap().lost.len(), 2);
    assert_eq!(counts().await, [(RunStatus::Running, 2)]);
    for (seq, status) in [(1, RunStatus::Paused), (2, RunStatus::Running), (3, RunStatus::Cancelled)] {
        let mut change = step(1, seq);
        change.row.status = status;
        commit(&*store, change).await;
    }
    assert_eq!(counts().await, [(RunStatus::Cancelled, 1), (RunStatus::Running, 1)]);
    store.delete_execution(ExecutionId(1)).await.unwrap();
    assert_eq!(counts().await, [(RunStatus::Running, 1)]);
}
