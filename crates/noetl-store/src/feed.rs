//! The events of all executions, one after the other in the order in which they were stored.

use async_trait::async_trait;
use noetl_types::{Event, ExecutionId};

use crate::Error;

/// A place in that order. The default is the beginning. It stays the same for as long as the store exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeedPosition(pub i64);

/// An event with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct FedEvent {
    pub position: FeedPosition,
    pub execution: ExecutionId,
    pub event: Event,
}

#[async_trait]
pub trait Feed {
    /// What was stored after this place. Nothing is ever stored before a place that was read: whoever goes on from the
    /// last one sees every event once.
    async fn read_feed(&self, after: FeedPosition, limit: usize) -> Result<Vec<FedEvent>, Error>;

    /// The place of the newest event.
    async fn end_of_feed(&self) -> Result<FeedPosition, Error>;
}
