//! Letting go of what is over.

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use crate::Error;

/// What came of deleting an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionDeletion {
    /// It is gone with everything it owned, so many events among it.
    Deleted {
        events: u64,
    },
    /// It runs.
    Running,
    /// This execution refers to values of it.
    Needed {
        by: ExecutionId,
    },
    NotFound,
}

/// What a purge removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    pub executions: u64,
    pub events: u64,
}

#[async_trait]
pub trait Retention {
    /// Deletes an execution that has ended with everything it owns: events, commands, timers, messages, snapshot, results,
    /// variables, logs and its own keychain entries. Its children stay.
    async fn delete_execution(&self, execution: ExecutionId) -> Result<ExecutionDeletion, Error>;

    /// Deletes executions that ended before `ended_before`, those that started first, at most `limit`. An execution stays
    /// as long as one of its family runs, for they may still look at each other, or is borrowed from.
    async fn purge_executions(&self, ended_before: Timestamp, limit: usize) -> Result<Purged, Error>;

    /// Removes commands that were closed before `closed_before`, at most `limit`, and says how many.
    async fn purge_commands(&self, closed_before: Timestamp, limit: usize) -> Result<u64, Error>;
}
