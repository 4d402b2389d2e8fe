//! Values stored aside: unchanged or an error, collected when nobody can reach them.

use std::sync::Arc;

use noetl_store::{Error, ExecutionRow, ResultInfo, ResultRef, ResultRow, ResultsDeletion, Store};
use noetl_types::{ExecutionId, RunStatus};

use crate::given::*;

pub async fn a_result_is_found_as_it_was_put(store: Arc<dyn Store>) {
    let mut row = result(7, 1, "{\"rows\": [1, 2]}");
    row.at.name = "step/with/slashes".into();
    row.source_step = Some("fetch".into());
    row.scope = "workflow".into();
    row.expires_at = Some(at(100));
    store.put_result(&row).await.unwrap();
    assert_eq!(store.find_result(&row.at).await.unwrap(), Some(row));
}

pub async fn binary_content_is_kept_exactly(store: Arc<dyn Store>) {
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let mut row = ResultRow::json(result(7, 1, "").at, bytes, at(0));
    row.media_type = "application/octet-stream".into();
    store.put_result(&row).await.unwrap();
    assert_eq!(store.find_result(&row.at).await.unwrap(), Some(row));
}

pub async fn results_of_a_commit_are_found(store: Arc<dyn Store>) {
    let mut write = begin(7);
    write.results = vec![result(7, 1, "[1]"), result(7, 2, "[2]")];
    commit(&*store, write).await;
    assert_eq!(store.find_result(&result(7, 2, "").at).await.unwrap(), Some(result(7, 2, "[2]")));
}

pub async fn a_result_belongs_to_its_execution_and_name(store: Arc<dyn Store>) {
    store.put_result(&result(7, 1, "[1]")).await.unwrap();
    let at = result(7, 1, "").at;
    assert_eq!(store.find_result(&ResultRef { id: 2, ..at.clone() }).await.unwrap(), None);
    assert_eq!(store.find_result(&ResultRef { name: "other".into(), ..at.clone() }).await.unwrap(), None);
    assert_eq!(store.find_result(&ResultRef { execution: ExecutionId(8), ..at }).await.unwrap(), None);
    store.put_result(&result(8, 1, "[8]")).await.unwrap();
    assert_eq!(store.find_result(&result(8, 1, "").at).await.unwrap(), Some(result(8, 1, "[8]")));
}

pub async fn putting_a_result_again_is_harmless(store: Arc<dyn Store>) {
    store.put_result(&result(7, 1, "[1]")).await.unwrap();
    store.put_result(&result(7, 1, "[1]")).await.unwrap();
    let error = store.put_result(&result(7, 1, "[2]")).await.expect_err("the content differs");
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    assert_eq!(store.find_result(&result(7, 1, "").at).await.unwrap(), Some(result(7, 1, "[1]")));
}

pub async fn a_result_that_changed_is_an_error(store: Arc<dyn Store>) {
    let mut row = result(7, 1, "[1]");
    row.sha256 = result(7, 1, "[2]").sha256;
    store.put_result(&row).await.unwrap();
    let error = store.find_result(&row.at).await.expect_err("the content does not match its digest");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    let error = store.find_latest_result(ExecutionId(7), "big").await.expect_err("nor here");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

pub async fn the_latest_result_of_a_name_is_found(store: Arc<dyn Store>) {
    for id in [1, 3, 2] {
        store.put_result(&result(7, id, &format!("[{id}]"))).await.unwrap();
    }
    let latest = store.find_latest_result(ExecutionId(7), "big").await.unwrap();
    assert_eq!(latest, Some(result(7, 3, "[3]")));
    assert_eq!(store.find_latest_result(ExecutionId(7), "small").await.unwrap(), None);
}

async fn ended(store: &dyn Store, execution: i64, status: RunStatus, parent: Option<i64>) {
    let row = ExecutionRow { status, parent: parent.map(ExecutionId), ..row("a") };
    commit(store, begin_at(execution, row)).await;
}

async fn put_expiring(store: &dyn Store, execution: i64, id: i64, expires: i64) {
    let row = ResultRow { expires_at: Some(at(expires)), ..result(execution, id, "[1]") };
    store.put_result(&row).await.unwrap();
}

async fn collect(store: &dyn Store, now: i64, limit: usize) -> Vec<(i64, i64)> {
    let collected = store.collect_expired(at(now), limit).await.unwrap();
    collected.iter().map(|at| (at.execution.0, at.id)).collect()
}

pub async fn expired_results_are_collected(store: Arc<dyn Store>) {
    ended(&*store, 7, RunStatus::Completed, None).await;
    put_expiring(&*store, 7, 1, 10).await;
    put_expiring(&*store, 7, 2, 11).await;
    store.put_result(&result(7, 3, "[3]")).await.unwrap();
    assert_eq!(collect(&*store, 10, 10).await, [(7, 1)]);
    assert_eq!(store.find_result(&result(7, 1, "").at).await.unwrap(), None);
    assert_eq!(collect(&*store, 1000, 10).await, [(7, 2)], "what does not expire stays");
}

pub async fn collecting_takes_no_more_than_asked(store: Arc<dyn Store>) {
    ended(&*store, 7, RunStatus::Failed, None).await;
    for (id, expires) in [(1, 3), (2, 2), (3, 1)] {
        put_expiring(&*store, 7, id, expires).await;
    }
    assert_eq!(collect(&*store, 10, 2).await, [(7, 3), (7, 2)]);
    assert_eq!(collect(&*store, 10, 2).await, [(7, 1)]);
}

pub async fn results_of_a_live_execution_are_kept(store: Arc<dyn Store>) {
    ended(&*store, 7, RunStatus::Running, None).await;
    ended(&*store, 8, RunStatus::Paused, None).await;
    put_expiring(&*store, 7, 1, 10).await;
    put_expiring(&*store, 8, 1, 10).await;
    assert_eq!(collect(&*store, 1000, 10).await, []);
    let mut done = step(7, 1);
    done.row.status = RunStatus::Completed;
    commit(&*store, done).await;
    assert_eq!(collect(&*store, 1000, 10).await, [(7, 1)]);
}

pub async fn results_within_reach_of_a_live_ancestor_are_kept(store: Arc<dyn Store>) {
    ended(&*store, 1, RunStatus::Running, None).await;
    ended(&*store, 2, RunStatus::Completed, Some(1)).await;
    ended(&*store, 3, RunStatus::Completed, Some(2)).await;
    ended(&*store, 4, RunStatus::Completed, Some(404)).await;
    put_expiring(&*store, 3, 1, 10).await;
    put_expiring(&*store, 4, 1, 10).await;
    assert_eq!(collect(&*store, 1000, 10).await, [(4, 1)]);
    let mut done = step(1, 1);
    done.row.status = RunStatus::Cancelled;
    commit(&*store, done).await;
    assert_eq!(collect(&*store, 1000, 10).await, [(3, 1)]);
}

pub async fn results_within_reach_of_a_live_relative_are_kept(store: Arc<dyn Store>) {
    ended(&*store, 1, RunStatus::Completed, None).await;
    ended(&*store, 2, RunStatus::Completed, Some(1)).await;
    ended(&*store, 3, RunStatus::Running, Some(1)).await;
    for execution in [1, 2, 3] {
        put_expiring(&*store, execution, 1, 10).await;
    }
    assert_eq!(collect(&*store, 1000, 10).await, [], "the child that runs may have been given all of them");
    let mut done = step(3, 1);
    done.row.status = RunStatus::Completed;
    commit(&*store, done).await;
    assert_eq!(collect(&*store, 1000, 10).await, [(1, 1), (2, 1), (3, 1)]);
}

pub async fn results_within_reach_of_a_live_borrower_are_kept(store: Arc<dyn Store>) {
    ended(&*store, 1, RunStatus::Completed, None).await;
    ended(&*store, 2, RunStatus::Completed, Some(1)).await;
    let mut rerun = begin(3);
    rerun.borrows_from = vec![ExecutionId(2)];
    commit(&*store, rerun).await;
    for execution in [1, 2] {
        put_expiring(&*store, execution, 1, 10).await;
    }
    assert_eq!(collect(&*store, 1000, 10).await, [], "what it took over may lead to all of the family");
    let mut done = step(3, 1);
    done.row.status = RunStatus::Completed;
    commit(&*store, done).await;
    assert_eq!(collect(&*store, 1000, 10).await, [(1, 1), (2, 1)]);
}

pub async fn results_that_another_execution_refers_to_are_not_deleted(store: Arc<dyn Store>) {
    ended(&*store, 1, RunStatus::Failed, None).await;
    store.put_result(&result(1, 1, "[1]")).await.unwrap();
    let mut rerun = begin_at(2, ExecutionRow { status: RunStatus::Completed, ..row("a") });
    rerun.borrows_from = vec![ExecutionId(1)];
    commit(&*store, rerun).await;
    let refused = store.delete_results(ExecutionId(1)).await.unwrap();
    assert_eq!(refused, ResultsDeletion::Needed { by: ExecutionId(2) });
    assert_eq!(store.list_results(ExecutionId(1), None, 10).await.unwrap().len(), 1);
    store.delete_execution(ExecutionId(2)).await.unwrap();
    let deleted = store.delete_results(ExecutionId(1)).await.unwrap();
    assert_eq!(deleted, ResultsDeletion::Deleted { values: 1 });
}

pub async fn results_of_an_execution_are_listed_without_content(store: Arc<dyn Store>) {
    for id in [2, 1, 3] {
        store.put_result(&result(7, id, "[1, 2]")).await.unwrap();
    }
    store.put_result(&result(8, 1, "[8]")).await.unwrap();
    let listed = store.list_results(ExecutionId(7), None, 2).await.unwrap();
    let row = result(7, 1, "[1, 2]");
    let first = ResultInfo {
        at: row.at,
        scope: row.scope,
        source_step: None,
        size: 6,
        sha256: row.sha256,
        media_type: row.media_type,
        created_at: at(0),
        expires_at: None,
    };
    assert_eq!((listed.len(), &listed[0], listed[1].at.id), (2, &first, 2));
    let rest = store.list_results(ExecutionId(7), Some(2), 10).await.unwrap();
    assert_eq!(rest.iter().map(|info| info.at.id).collect::<Vec<_>>(), [3]);
}

pub async fn expired_results_without_an_execution_are_collected(store: Arc<dyn Store>) {
    put_expiring(&*store, 404, 1, 10).await;
    assert_eq!(collect(&*store, 10, 10).await, [(404, 1)]);
}

pub async fn results_of_an_execution_are_deleted(store: Arc<dyn Store>) {
    for (execution, id) in [(7, 1), (7, 2), (8, 3)] {
        store.put_result(&result(execution, id, "[1, 2]")).await.unwrap();
    }
    let deleted = store.delete_results(ExecutionId(7)).await.unwrap();
    assert_eq!(deleted, ResultsDeletion::Deleted { values: 2 });
    assert_eq!(store.list_results(ExecutionId(7), None, 10).await.unwrap(), []);
    assert_eq!(store.list_results(ExecutionId(8), None, 10).await.unwrap().len(), 1);
}
