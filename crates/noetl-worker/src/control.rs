//! All that a worker knows of the control plane: where commands come from and where outcomes go.
//!
//! The embedded control plane implements this over its drive loop, a remote one over HTTP.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use noetl_dsl::Plan;
use noetl_tools::{Credential, Stream};
use noetl_types::{Command, CommandKey, ExecutionId, Outcome, StoredValue, Timestamp, Value};

/// Gives work and takes what came of it. Every call may be repeated after an error without harm.
#[async_trait]
pub trait ControlPlane: Send + Sync {
    /// Announces a worker. Doing it again renews what is known of it.
    async fn register(&self, worker: &WorkerInfo) -> Result<(), ControlError>;

    /// Says goodbye. Attempts that the worker still holds are free for others at once.
    async fn deregister(&self, worker: &str) -> Result<(), ControlError>;

    /// Waits for work of these pools and takes at most `room` commands under a lease. It answers as soon as there is
    /// anything, and with nothing when the control plane shuts down. A call that is dropped while it waits takes nothing.
    async fn take(
        &self,
        worker: &str,
        pools: &[Arc<str>],
        room: usize,
    ) -> Result<Option<Vec<Assigned>>, ControlError>;

    /// Reports on several attempts together and says of each, in order, whether it counted. Returns once the reports
    /// are safe.
    async fn report(&self, reports: Vec<CommandReport>) -> Result<Vec<Accepted>, ControlError>;

    /// Extends the leases of these attempts and names those among them that are to be stopped: cancelled, timed out, or
    /// lost to another worker.
    async fn renew(&self, worker: &str, running: &[AttemptId]) -> Result<Vec<AttemptId>, ControlError>;

    /// Waits until attempts of this worker are to be stopped, for control planes that can say so without being asked.
    /// The others leave it to [`renew`](ControlPlane::renew).
    async fn wait_for_stops(&self, _worker: &str) -> Vec<AttemptId> {
        std::future::pending().await
    }

    /// Gives attempts back before they came to an end, so that they are taken up elsewhere at once.
    async fn release(&self, worker: &str, attempts: &[Released]) -> Result<(), ControlError>;

    /// The content of a value that is stored aside.
    async fn load_value(&self, execution: ExecutionId, stored: &StoredValue) -> Result<Value, ControlError>;

    /// Whether the worker is to store large results itself instead of reporting them whole.
    fn stores_values(&self) -> bool {
        false
    }

    /// Stores a large value aside. `name` is that of the step, or `ctx/<path>` for an assignment.
    async fn store_value(
        &self,
        execution: ExecutionId,
        name: &str,
        value: &Value,
    ) -> Result<StoredValue, ControlError>;

    /// The credential of this name, for a step of this run.
    async fn find_credential(
        &self,
        alias: &str,
        execution: ExecutionId,
    ) -> Result<Option<Credential>, ControlError>;

    /// Keeps what steps printed.
    async fn append_logs(&self, chunks: Vec<LogChunk>) -> Result<(), ControlError>;
}

/// Why the control plane did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// Asking again later may help.
    #[error("the control plane did not answer: {reason}")]
    Unavailable { reason: String },
    /// Asking again will not help.
    #[error("the control plane refused: {reason}")]
    Refused { reason: String },
}

/// Who a worker is and what it can do.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerInfo {
    /// Unique among all workers.
    pub name: Arc<str>,
    pub pools: Vec<Arc<str>>,
    /// The kinds of tools it has.
    pub kinds: Vec<Arc<str>>,
    /// How many commands it works on at once.
    pub capacity: usize,
}

impl WorkerInfo {
    /// How it is labelled where workers are listed: by the pool it names first.
    pub fn labels(&self) -> Value {
        let pool = self.pools.first().cloned().unwrap_or_default();
        Value::map([("pool_name", Value::Text(pool))])
    }

    /// What it can do, and for whom.
    pub fn capabilities(&self) -> Value {
        let texts = |texts: &[Arc<str>]| Value::list(texts.iter().cloned().map(Value::Text));
        Value::map([("tools", texts(&self.kinds)), ("pools", texts(&self.pools))])
    }
}

/// Names one attempt at a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    pub execution: ExecutionId,
    pub key: CommandKey,
    pub attempt: u16,
}

impl AttemptId {
    pub fn of(command: &Command) -> AttemptId {
        AttemptId { execution: command.execution, key: command.key, attempt: command.attempt }
    }
}

/// Prints `<execution>/<command>#<attempt>`.
impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}#{}", self.execution, self.key, self.attempt)
    }
}

/// A command that this worker has the lease of.
#[derive(Clone, Debug)]
pub struct Assigned {
    pub command: Command,
    pub plan: Arc<Plan>,
    pub pool: Arc<str>,
    /// How long the lease lasts from now on, and from each renewal.
    pub lease: Duration,
    /// The W3C trace context of the attempt, when its run is traced.
    pub trace: Option<Value>,
}

/// News of one attempt. A short one begins and ends in one report.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandReport {
    pub attempt: AttemptId,
    pub worker: Arc<str>,
    /// When its first tool was called, if it came to that.
    pub began_at: Option<Timestamp>,
    /// Nothing while it goes on.
    pub outcome: Option<Outcome>,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    Counted,
    /// The attempt is no longer open: its outcome came before, it was cancelled, or it is another worker's.
    Ignored,
}

/// An attempt that is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    pub attempt: AttemptId,
    /// A tool was called already, so the work may be half done.
    pub began: bool,
}

/// Some of what an attempt printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    pub attempt: AttemptId,
    pub step: Arc<str>,
    pub stream: Stream,
    /// Counts the chunks of one attempt's stream from 0.
    pub chunk: u32,
    /// When the first of it was printed.
    pub at: Timestamp,
    pub text: String,
}
