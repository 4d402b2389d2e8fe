//! Commands: attempts that workers take under a lease.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{CommandKey, EventId, ExecutionId, Timestamp};

use crate::Error;

/// One attempt, as it is issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRow {
    pub key: CommandKey,
    pub attempt: u16,
    /// The `command.issued` event; workers of other makes know the command by it.
    pub event: EventId,
    pub step: Arc<str>,
    pub tool: Arc<str>,
    pub pool: Arc<str>,
    /// Higher goes first.
    pub priority: i16,
    pub issued_at: Timestamp,
    /// Given when the command goes straight to a worker of the same process.
    pub lease: Option<Lease>,
    /// What the worker needs, opaque to the store and dropped when the attempt closes.
    pub body: Arc<[u8]>,
}

/// A worker's right to an attempt, until it runs out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub worker: Arc<str>,
    pub until: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandStatus {
    Pending,
    Claimed,
    Completed,
    Failed,
    /// The pipeline waits for something outside and goes on with a command of its own.
    Suspended,
    /// The worker did not renew its lease.
    Lost,
    Cancelled,
}

impl CommandStatus {
    pub fn is_open(self) -> bool {
        matches!(self, CommandStatus::Pending | CommandStatus::Claimed)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            CommandStatus::Pending => "PENDING",
            CommandStatus::Claimed => "CLAIMED",
            CommandStatus::Completed => "COMPLETED",
            CommandStatus::Failed => "FAILED",
            CommandStatus::Suspended => "SUSPENDED",
            CommandStatus::Lost => "LOST",
            CommandStatus::Cancelled => "CANCELLED",
        }
    }
}

impl fmt::Display for CommandStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandClose {
    pub key: CommandKey,
    pub attempt: u16,
    /// One of the statuses that are not open.
    pub status: CommandStatus,
    pub at: Timestamp,
}

/// One attempt, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCommand {
    pub execution: ExecutionId,
    /// `lease` says who has it now. Of a closed one it says who had it, until it closed.
    pub row: CommandRow,
    pub status: CommandStatus,
    pub claimed_at: Option<Timestamp>,
    pub closed_at: Option<Timestamp>,
}

/// What came of asking for an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is yours until the lease runs out. Asking again while holding it gives this again and extends the lease.
    Taken(Box<StoredCommand>),
    /// Another worker has a lease that has not run out.
    Held {
        holder: Arc<str>,
        until: Timestamp,
    },
    /// The attempt has come to an end.
    Closed(CommandStatus),
    NotFound,
}

/// Which open commands to list. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct CommandFilter {
    pub execution: Option<ExecutionId>,
    pub pool: Option<String>,
    /// Only those that this worker has a lease of, be it run out or not.
    pub held_by: Option<String>,
    /// Only those without a lease that goes beyond this instant.
    pub free_at: Option<Timestamp>,
    /// Only those after this one, by issuing event and execution: the last of the page before.
    pub after: Option<(EventId, ExecutionId)>,
}

/// Reading and claiming commands. They are issued and closed by [`Store::commit`](crate::Store::commit) alone.
#[async_trait]
pub trait Commands {
    /// In the order of their issuing events' ids.
    async fn list_open_commands(
        &self,
        filter: &CommandFilter,
        limit: usize,
    ) -> Result<Vec<StoredCommand>, Error>;

    async fn find_command(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
    ) -> Result<Option<StoredCommand>, Error>;

    /// The command issued by this event, in whichever execution.
    async fn find_command_by_event(&self, event: EventId) -> Result<Option<StoredCommand>, Error>;

    /// Takes an attempt for a worker. A lease that has run out at `now` can be taken over.
    async fn claim_command(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
        lease: Lease,
        now: Timestamp,
    ) -> Result<Claim, Error>;

    /// Gives a claimed attempt back, so that another worker may take it at once. False when this worker has no claim.
    async fn release_command(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
        worker: &str,
    ) -> Result<bool, Error>;

    /// Extends every claim of a worker and says how many there are. A lease never gets shorter.
    async fn renew_leases(&self, worker: &str, until: Timestamp) -> Result<u64, Error>;

    /// Claimed attempts whose lease ran out at `now` or before, the longest overdue first.
    async fn list_expired_leases(&self, now: Timestamp, limit: usize) -> Result<Vec<StoredCommand>, Error>;
}
