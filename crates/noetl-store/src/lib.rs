//! Where runs live: the [`Store`] trait, its rows and errors, and an in-memory store.
//!
//! The store is the truth. One call, [`Store::commit`], takes everything a drive task decided for many executions and
//! makes it durable at once: events, execution rows, commands, timers, outbox rows, snapshots and values stored aside.
//! Optimistic concurrency by the last `seq` of each execution replaces locks and leaders.
//!
//! Each noun has its own module with its rows and a trait of its own; [`Store`] is all of them together. SQL lives in the
//! adapters only.

mod audit;
mod batch;
mod blob;
mod catalog;
mod command;
mod credential;
mod digest;
mod error;
mod execution;
mod feed;
mod keychain;
mod keys;
mod log;
mod memory;
mod objects;
mod outbox;
mod plugin;
mod projection;
mod query;
mod reservation;
mod result;
mod retention;
mod subscription;
mod test_suite;
mod timer;
mod token;
mod variable;
mod worker;

use async_trait::async_trait;

pub use audit::{Audit, AuditFilter, AuditRow};
pub use batch::{Batch, Committed, ExecutionWrite};
pub use blob::{Blob, Blobs};
pub use catalog::{Catalog, CatalogEntry, CatalogFilter, Deletion, NewCatalogEntry};
pub use command::{
    Claim, CommandClose, CommandFilter, CommandRow, CommandStatus, Commands, Lease, StoredCommand,
};
pub use credential::{CredentialFilter, CredentialRow, Credentials};
pub use digest::sha256_hex;
pub use error::Error;
pub use execution::{
    EventFilter, Execution, ExecutionFilter, ExecutionRow, Executions, LastEvent, LoopResult, MatchCount,
    PathFilter, ROUNDED_ID, SHORT_SEARCH_REACH, Snapshot, searched_part,
};
pub use feed::{FedEvent, Feed, FeedPosition};
pub use keychain::{Keychain, KeychainRow, KeychainScope};
pub use keys::{parse_command_key, parse_timer_key};
pub use log::{LogChunk, LogCursor, LogFilter, LogLimit, LogStream, StepLogs, StoredLogChunk};
pub use memory::{CommitFault, MemoryStore};
pub use objects::{MemoryObjects, Objects, Shelf, described, object_of, owner_of, resolve};
pub use outbox::{
    ClaimedMessage, MAX_CLAIMED, MAX_ERROR_CHARS, Outbox, OutboxRow, back_off_seconds, cut_error,
};
pub use plugin::{PluginInfo, PluginModule, Plugins};
pub use projection::{ProjectedEvent, Projections};
pub use query::{Queries, Query, QueryAnswer};
pub use reservation::{Duplicate, Reservation, Reservations};
pub use result::{ResultInfo, ResultRef, ResultRefError, ResultRow, Results, ResultsDeletion};
pub use retention::{ExecutionDeletion, Purged, Retention};
pub use subscription::{
    Registration, Subscription, SubscriptionEvent, SubscriptionState, Subscriptions, Transition,
};
pub use test_suite::{TestSuite, TestSuites};
pub use timer::{DueTimer, TimerRow, Timers};
pub use token::{ApiToken, ApiTokens};
pub use variable::{NewVariable, Variable, VariableType, Variables};
pub use worker::{NewWorker, OFFLINE, WorkerFilter, WorkerKind, WorkerRow, Workers};

/// The whole store, as the server holds it: `Arc<dyn Store>`.
///
/// A call whose future is dropped before it is ready may still take effect.
#[async_trait]
pub trait Store:
    Executions
    + Feed
    + Commands
    + Timers
    + Outbox
    + Results
    + Catalog
    + Credentials
    + Keychain
    + StepLogs
    + Audit
    + Workers
    + Variables
    + Plugins
    + Blobs
    + Projections
    + Reservations
    + Subscriptions
    + ApiTokens
    + TestSuites
    + Retention
    + Queries
    + std::fmt::Debug
    + Send
    + Sync
{
    /// Makes a batch durable in one transaction.
    ///
    /// An execution that does not fit what is stored (its `expected_seq` is not its last seq, or one of its event ids is
    /// already recorded) is left out whole and named in [`Committed::lost`]; the others commit.
    ///
    /// An execution whose key is taken (see [`ExecutionWrite::reserve`]) does not begin and is named in
    /// [`Committed::duplicates`] with the one that has the key.
    ///
    /// After an error the batch is normally not stored, but it may be: the connection can break after the commit and
    /// before the answer. Load the executions again before trying once more.
    async fn commit(&self, batch: &Batch) -> Result<Committed, Error>;

    /// Whether the store answers. For health checks.
    async fn check(&self) -> Result<(), Error>;
}
