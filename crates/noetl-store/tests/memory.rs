//! What the store in memory has beyond every store: faults on request and copies.

use noetl_store::{
    Batch, Catalog, CommitFault, Error, ExecutionRow, ExecutionWrite, Executions, MemoryStore, Store,
};
use noetl_types::{Event, EventBody, EventId, ExecutionId, RunStatus, Timestamp, Value};

const RUN: ExecutionId = ExecutionId(7);

fn batch(expected_seq: u64) -> Batch {
    let row = ExecutionRow {
        path: "a".into(),
        catalog_id: 0,
        version: 1,
        parent: None,
        pool: "shared".into(),
        labels: Default::default(),
        started_at: Timestamp(0),
        status: RunStatus::Running,
        ended_at: None,
        error: None,
        result: None,
        meta: Value::Null,
    };
    let mut write = ExecutionWrite::new(RUN, expected_seq, row);
    let seq = expected_seq + 1;
    write.events = vec![Event { id: EventId(seq as i64), seq, at: Timestamp(0), body: EventBody::Resumed }];
    Batch { executions: vec![write] }
}

async fn seq(store: &MemoryStore) -> u64 {
    store.find_execution(RUN).await.unwrap().map_or(0, |execution| execution.seq)
}

#[tokio::test]
async fn a_commit_that_fails_before_it_applies_leaves_nothing() {
    let store = MemoryStore::new();
    store.fail_next_commit(CommitFault::BeforeApply);
    assert!(matches!(store.commit(&batch(0)).await, Err(Error::Unavailable { .. })));
    assert_eq!(seq(&store).await, 0);
    store.commit(&batch(0)).await.unwrap();
    assert_eq!(seq(&store).await, 1);
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_has_happened() {
    let store = MemoryStore::new();
    store.fail_next_commit(CommitFault::AfterApply);
    assert!(matches!(store.commit(&batch(0)).await, Err(Error::Unavailable { .. })));
    assert_eq!(seq(&store).await, 1);
    assert_eq!(
        store.commit(&batch(0)).await.unwrap().lost,
        [RUN],
        "trying again loses the race against oneself"
    );
}

#[tokio::test]
async fn faults_are_used_up_in_order() {
    let store = MemoryStore::new();
    store.fail_next_commit(CommitFault::BeforeApply);
    store.fail_next_commit(CommitFault::AfterApply);
    store.commit(&batch(0)).await.unwrap_err();
    assert_eq!(seq(&store).await, 0);
    store.commit(&batch(0)).await.unwrap_err();
    assert_eq!(seq(&store).await, 1);
    store.commit(&batch(1)).await.unwrap();
}

#[tokio::test]
async fn a_store_that_is_down_refuses_everything_and_forgets_nothing() {
    let store = MemoryStore::new();
    store.commit(&batch(0)).await.unwrap();
    store.set_down(true);
    assert!(matches!(store.commit(&batch(1)).await, Err(Error::Unavailable { .. })));
    assert!(matches!(store.find_execution(RUN).await, Err(Error::Unavailable { .. })));
    assert!(matches!(store.find_entry(1).await, Err(Error::Unavailable { .. })));
    assert!(matches!(store.check().await, Err(Error::Unavailable { .. })));
    store.set_down(false);
    assert_eq!(seq(&store).await, 1);
}

#[tokio::test]
async fn a_clone_shares_and_a_snapshot_does_not() {
    let store = MemoryStore::new();
    store.commit(&batch(0)).await.unwrap();
    let (shared, copy) = (store.clone(), store.snapshot());
    store.commit(&batch(1)).await.unwrap();
    assert_eq!((seq(&shared).await, seq(&copy).await), (2, 1));
    copy.commit(&batch(1)).await.unwrap();
    copy.commit(&batch(2)).await.unwrap();
    assert_eq!((seq(&store).await, seq(&copy).await), (2, 3));
}
