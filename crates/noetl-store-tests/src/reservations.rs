//! Keys that start at most one execution for a while.

use std::sync::Arc;

use noetl_store::{Batch, Duplicate, Error, ExecutionWrite, Reservation, Store};
use noetl_types::ExecutionId;

use crate::given::*;

fn reservation(key: &str, seen: i64, window: i64) -> Reservation {
    Reservation {
        scope: Some(ExecutionId(500)),
        key: key.into(),
        seen_at: at(seen),
        expires_at: at(seen + window),
    }
}

fn begin_with(execution: i64, reserve: Reservation) -> ExecutionWrite {
    ExecutionWrite { reserve: Some(reserve), ..begin(execution) }
}

/// Commits a write and says which execution had its key already, if one had.
async fn original(store: &dyn Store, write: ExecutionWrite) -> Option<i64> {
    let execution = write.execution;
    let committed = store.commit(&Batch { executions: vec![write] }).await.unwrap();
    assert_eq!(committed.lost, []);
    let exists = store.find_execution(execution).await.unwrap().is_some();
    assert_eq!(exists, committed.duplicates.is_empty(), "it begins unless it is a duplicate");
    committed.duplicates.first().map(|duplicate| {
        assert_eq!(duplicate.execution, execution);
        duplicate.original.0
    })
}

async fn holder(store: &dyn Store, key: &str, now: i64) -> Option<i64> {
    let found = store.find_reservation(Some(ExecutionId(500)), key, at(now)).await.unwrap();
    found.map(|execution| execution.0)
}

pub async fn a_key_starts_one_execution(store: Arc<dyn Store>) {
    assert_eq!(holder(&*store, "order-1", 0).await, None);
    assert_eq!(original(&*store, begin_with(7, reservation("order-1", 0, 300))).await, None);
    assert_eq!(original(&*store, begin_with(8, reservation("order-1", 299, 300))).await, Some(7));
    assert_eq!(original(&*store, begin_with(9, reservation("order-2", 299, 300))).await, None);
    assert_eq!(holder(&*store, "order-1", 299).await, Some(7));
}

pub async fn an_expired_key_is_free_again(store: Arc<dyn Store>) {
    assert_eq!(original(&*store, begin_with(7, reservation("order-1", 0, 300))).await, None);
    assert_eq!(holder(&*store, "order-1", 300).await, None);
    assert_eq!(original(&*store, begin_with(8, reservation("order-1", 300, 300))).await, None);
    assert_eq!(original(&*store, begin_with(9, reservation("order-1", 301, 300))).await, Some(8));
}

pub async fn scopes_have_keys_of_their_own(store: Arc<dyn Store>) {
    let other = Reservation { scope: Some(ExecutionId(501)), ..reservation("order-1", 0, 300) };
    let nobodys = Reservation { scope: None, ..other.clone() };
    assert_eq!(original(&*store, begin_with(7, reservation("order-1", 0, 300))).await, None);
    assert_eq!(original(&*store, begin_with(8, other)).await, None);
    assert_eq!(original(&*store, begin_with(9, nobodys.clone())).await, None);
    assert_eq!(original(&*store, begin_with(10, nobodys)).await, Some(9));
}

pub async fn an_execution_that_does_not_begin_takes_no_key(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let batch = Batch { executions: vec![begin_with(7, reservation("order-1", 0, 300))] };
    assert_eq!(store.commit(&batch).await.unwrap().lost, [ExecutionId(7)]);
    assert_eq!(holder(&*store, "order-1", 0).await, None);
    assert_eq!(original(&*store, begin_with(8, reservation("order-1", 1, 300))).await, None);
}

pub async fn of_two_in_a_batch_the_first_takes_the_key(store: Arc<dyn Store>) {
    let executions = vec![
        begin_with(7, reservation("order-1", 0, 300)),
        begin_with(8, reservation("order-1", 0, 300)),
        begin(9),
    ];
    let committed = store.commit(&Batch { executions }).await.unwrap();
    assert_eq!(committed.duplicates, [Duplicate { execution: ExecutionId(8), original: ExecutionId(7) }]);
    assert_eq!(committed.lost, []);
    assert!(store.find_execution(ExecutionId(9)).await.unwrap().is_some(), "the others begin");
}

pub async fn of_concurrent_starts_with_a_key_one_begins(store: Arc<dyn Store>) {
    let starts = (1..=8).map(|execution| {
        let store = store.clone();
        let write = begin_with(execution, reservation("order-1", 0, 300));
        tokio::spawn(async move { store.commit(&Batch { executions: vec![write] }).await.unwrap() })
    });
    let mut duplicates = 0;
    for start in starts.collect::<Vec<_>>() {
        duplicates += start.await.unwrap().duplicates.len();
    }
    assert_eq!(duplicates, 7);
}

pub async fn only_a_beginning_reserves(store: Arc<dyn Store>) {
    commit(&*store, begin(7)).await;
    let late = ExecutionWrite { reserve: Some(reservation("order-1", 0, 300)), ..step(7, 1) };
    let error = store.commit(&Batch { executions: vec![late] }).await.expect_err("it has begun");
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
}

pub async fn expired_reservations_are_purged(store: Arc<dyn Store>) {
    for (execution, window) in [(7, 10), (8, 20), (9, 30)] {
        let key = format!("order-{execution}");
        assert_eq!(original(&*store, begin_with(execution, reservation(&key, 0, window))).await, None);
    }
    assert_eq!(store.purge_reservations(at(20), 1).await.unwrap(), 1);
    assert_eq!(store.purge_reservations(at(20), 10).await.unwrap(), 1);
    assert_eq!(store.purge_reservations(at(20), 10).await.unwrap(), 0);
    assert_eq!(holder(&*store, "order-9", 20).await, Some(9));
}
