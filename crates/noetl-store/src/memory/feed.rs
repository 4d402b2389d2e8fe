//! The events of all executions in the order in which they were stored.

use async_trait::async_trait;

use super::MemoryStore;
use crate::{Error, FedEvent, Feed, FeedPosition};

#[async_trait]
impl Feed for MemoryStore {
    async fn read_feed(&self, after: FeedPosition, limit: usize) -> Result<Vec<FedEvent>, Error> {
        self.with(|state| {
            let skipped = usize::try_from(after.0).unwrap_or(0);
            let places = state.feed.iter().enumerate().skip(skipped);
            let events = places.filter_map(|(index, (execution, seq))| {
                let event = state.runs.get(execution)?.events.get(*seq as usize - 1)?;
                let position = FeedPosition(index as i64 + 1);
                Some(FedEvent { position, execution: *execution, event: (**event).clone() })
            });
            events.take(limit).collect()
        })
    }

    async fn end_of_feed(&self) -> Result<FeedPosition, Error> {
        self.with(|state| FeedPosition(state.feed.len() as i64))
    }
}
