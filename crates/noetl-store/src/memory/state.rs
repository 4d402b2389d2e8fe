//! What the store in memory holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use noetl_types::{CommandKey, Event, EventId, ExecutionId, TimerKey, Timestamp, VisitId};

use crate::{
    ApiToken, AuditRow, Blob, CatalogEntry, CredentialRow, Execution, KeychainRow, LogCursor, LogStream,
    OutboxRow, PluginModule, ProjectedEvent, ResultRow, Snapshot, StoredCommand, StoredLogChunk,
    Subscription, SubscriptionEvent, TestSuite, Variable, WorkerKind, WorkerRow,
};

#[derive(Clone, Default)]
pub struct State {
    pub runs: BTreeMap<ExecutionId, Arc<Run>>,
    /// Every event by execution and seq, in the order in which they were stored.
    pub feed: Vec<(ExecutionId, u64)>,
    /// Open commands in the order they are listed.
    pub open: BTreeSet<(EventId, ExecutionId, CommandKey, u16)>,
    pub timers: BTreeMap<(ExecutionId, TimerKey), Timer>,
    pub messages: BTreeMap<i64, Message>,
    /// Which messages exist, so that a second one for an event is passed over.
    pub message_events: BTreeSet<(ExecutionId, EventId)>,
    pub last_message: i64,
    pub results: BTreeMap<(ExecutionId, i64), Arc<ResultRow>>,
    pub catalog: BTreeMap<i64, Arc<CatalogEntry>>,
    pub credentials: BTreeMap<Arc<str>, Arc<CredentialRow>>,
    pub keychain: BTreeMap<Arc<str>, KeychainRow>,
    pub logs: BTreeMap<(ExecutionId, LogCursor), Arc<StoredLogChunk>>,
    pub log_streams: BTreeMap<(ExecutionId, CommandKey, u16, LogStream), LogState>,
    pub last_log: i64,
    pub audit: BTreeMap<i64, Arc<AuditRow>>,
    pub workers: BTreeMap<(WorkerKind, Arc<str>), WorkerRow>,
    pub variables: BTreeMap<(ExecutionId, Arc<str>), Variable>,
    pub reservations: BTreeMap<(Option<ExecutionId>, Arc<str>), Reserved>,
    pub subscriptions: BTreeMap<ExecutionId, Arc<SubscriptionLog>>,
    pub tokens: BTreeMap<i64, ApiToken>,
    pub test_suites: BTreeMap<Arc<str>, Arc<TestSuite>>,
    pub plugins: BTreeMap<(Arc<str>, i64), Arc<PluginModule>>,
    pub blobs: BTreeMap<Arc<str>, Arc<Blob>>,
    pub projected: BTreeMap<(ExecutionId, EventId), Arc<ProjectedEvent>>,
    /// Whose values are referred to, and by whom.
    pub borrows: BTreeSet<(ExecutionId, ExecutionId)>,
}

/// One execution with what belongs to it alone. Shared between snapshots until it changes.
#[derive(Clone)]
pub struct Run {
    pub execution: Execution,
    /// By seq, from 1.
    pub events: Vec<Arc<Event>>,
    pub event_ids: BTreeMap<EventId, u64>,
    pub commands: BTreeMap<(CommandKey, u16), StoredCommand>,
    pub snapshot: Option<Snapshot>,
    /// The seq of the last outcome of each loop item.
    pub loop_results: BTreeMap<(VisitId, u32), u64>,
}

#[derive(Clone, Copy)]
pub struct Timer {
    pub due: Timestamp,
    pub visible_at: Timestamp,
}

#[derive(Clone)]
pub struct Message {
    pub execution: ExecutionId,
    pub row: OutboxRow,
    pub state: MessageState,
    pub attempts: u32,
    pub error: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MessageState {
    /// Waits, for the first time or after a failure, until this instant.
    Waiting(Timestamp),
    Claimed(Timestamp),
    Published(Timestamp),
}

/// A subscription with its events, by seq from 1.
#[derive(Clone)]
pub struct SubscriptionLog {
    pub row: Subscription,
    pub events: Vec<SubscriptionEvent>,
}

/// A key that is taken for a while.
#[derive(Clone, Copy)]
pub struct Reserved {
    pub execution: ExecutionId,
    pub expires_at: Timestamp,
}

/// How far one attempt's stream has come.
#[derive(Clone, Copy, Default)]
pub struct LogState {
    pub next_chunk: u32,
    pub bytes: u64,
}
