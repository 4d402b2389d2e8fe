//! Events that others tell of: known once by their ids, kept as they came, beside the logs of the executions.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{EventId, ExecutionId, Timestamp, Value};

use crate::Error;

/// An event as somebody else tells it. Its execution need not be known here.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectedEvent {
    pub execution: ExecutionId,
    pub id: EventId,
    pub event_type: Arc<str>,
    /// When it happened.
    pub at: Timestamp,
    /// Everything that came with it.
    pub envelope: Value,
}

#[async_trait]
pub trait Projections {
    /// Keeps those that are not known yet and says of each whether it was new. Known are those that were told before and
    /// those in the log of their execution.
    async fn project_events(&self, events: &[ProjectedEvent]) -> Result<Vec<bool>, Error>;

    /// Those that were told of an execution, by id.
    async fn list_projected(
        &self,
        execution: ExecutionId,
        limit: usize,
    ) -> Result<Vec<ProjectedEvent>, Error>;

    /// Removes events that happened before an instant, at most `limit`, and says how many.
    async fn purge_projected(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}
