//! The events of all executions, in the order in which they were stored.

use std::sync::Arc;

use noetl_store::{FeedPosition, Store};
use noetl_types::ExecutionId;

use crate::given::*;

pub async fn every_event_is_read_once_in_the_order_of_commits(store: Arc<dyn Store>) {
    assert_eq!(store.end_of_feed().await.unwrap(), FeedPosition::default());
    // The first to be stored has the higher ids.
    commit(&*store, begin(2)).await;
    commit(&*store, begin(1)).await;
    commit(&*store, step(2, 1)).await;
    let all = store.read_feed(FeedPosition::default(), 100).await.unwrap();
    let executions: Vec<i64> = all.iter().map(|fed| fed.execution.0).collect();
    assert_eq!(executions, [2, 1, 2]);
    assert!(all.windows(2).all(|pair| pair[0].position < pair[1].position));
    assert_eq!(all.last().unwrap().position, store.end_of_feed().await.unwrap());
    // Whoever goes on from a place sees the rest, and only that.
    let mut read = Vec::new();
    let mut after = FeedPosition::default();
    while let Some(next) = store.read_feed(after, 1).await.unwrap().pop() {
        after = next.position;
        read.push(next);
    }
    assert_eq!(read, all);
    let stored = store.load_events(ExecutionId(2), 0, 100).await.unwrap();
    let fed: Vec<_> = all.into_iter().filter(|fed| fed.execution.0 == 2).map(|fed| fed.event).collect();
    assert_eq!(fed, stored);
}
