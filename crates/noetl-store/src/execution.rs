//! Executions: their summary rows, events, snapshots and loop results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{
    Event, EventBody, EventId, ExecutionId, Item, Outcome, RunStatus, Timestamp, Value, VisitId,
};

use crate::Error;

/// The summary of an execution that its writer gives with each commit.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionRow {
    // The first commit decides these; later ones do not change them.
    pub path: Arc<str>,
    pub catalog_id: i64,
    pub version: i64,
    pub parent: Option<ExecutionId>,
    pub labels: BTreeMap<String, String>,
    pub started_at: Timestamp,

    // Every commit sets these anew.
    pub status: RunStatus,
    pub ended_at: Option<Timestamp>,
    /// Why it failed, in a sentence.
    pub error: Option<String>,
    /// What it came to, or a short form of it, for lists.
    pub result: Option<Value>,
    /// Further facts for people and tools: pool, trace, requester.
    pub meta: Value,
}

/// The newest event of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastEvent {
    pub id: EventId,
    pub event_type: Arc<str>,
    /// The step of the newest event that has one.
    pub step: Option<Arc<str>>,
    pub at: Timestamp,
}

impl LastEvent {
    /// The newest of some events in order, with the step known before where none of them has one.
    pub fn after(events: &[Event], known_step: Option<Arc<str>>) -> Option<LastEvent> {
        let last = events.last()?;
        let step = events.iter().rev().find_map(|event| event.body.step().cloned()).or(known_step);
        Some(LastEvent { id: last.id, event_type: last.body.type_name().into(), step, at: last.at })
    }
}

/// An execution as the store knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    pub id: ExecutionId,
    /// The seq of its newest event, which is also their number.
    pub seq: u64,
    pub row: ExecutionRow,
    pub last: LastEvent,
}

/// Which executions to list. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct ExecutionFilter {
    /// Any of these; empty for all.
    pub statuses: Vec<RunStatus>,
    pub path: Option<PathFilter>,
    pub parent: Option<ExecutionId>,
    /// Started then or later.
    pub started_from: Option<Timestamp>,
    /// Started before then.
    pub started_before: Option<Timestamp>,
    /// Labels that must all be there with these values.
    pub labels: BTreeMap<String, String>,
    /// Text found in the path, the id or the error. Case does not matter for ASCII letters.
    pub search: Option<String>,
    /// Only executions older than this one: the last of the page before.
    pub before: Option<ExecutionId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathFilter {
    Is(String),
    StartsWith(String),
}

/// The state of an execution at one of its seqs, opaque to the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The events up to this one are folded in.
    pub seq: u64,
    /// The highest id among those events.
    pub last_event: EventId,
    pub state: Arc<[u8]>,
}

/// How one item of a loop ended.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopResult {
    pub index: u32,
    /// The seq of the event that says so.
    pub seq: u64,
    pub outcome: Outcome,
}

impl LoopResult {
    /// Which visit and item an event gives the outcome of, if it does.
    pub fn place(body: &EventBody) -> Option<(VisitId, u32)> {
        match body {
            EventBody::CallDone { command, .. } | EventBody::CallFailed { command, .. } => match command.item
            {
                Item::At(index) => Some((command.visit, index)),
                Item::Whole | Item::Claim(_) => None,
            },
            _ => None,
        }
    }

    /// The loop result an event holds, if it does.
    pub fn from_event(event: Event) -> Option<LoopResult> {
        let (_, index) = LoopResult::place(&event.body)?;
        match event.body {
            EventBody::CallDone { outcome, .. } | EventBody::CallFailed { outcome, .. } => {
                Some(LoopResult { index, seq: event.seq, outcome })
            }
            _ => None,
        }
    }
}

/// Reading executions. They are written by [`Store::commit`](crate::Store::commit) alone.
#[async_trait]
pub trait Executions {
    async fn find_execution(&self, execution: ExecutionId) -> Result<Option<Execution>, Error>;

    /// Newest first, that is by descending id.
    async fn list_executions(&self, filter: &ExecutionFilter, limit: usize) -> Result<Vec<Execution>, Error>;

    /// How many executions there are in each status that occurs.
    async fn count_executions(&self) -> Result<Vec<(RunStatus, u64)>, Error>;

    /// Events with a higher seq than `after_seq`, oldest first.
    async fn load_events(
        &self,
        execution: ExecutionId,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>, Error>;

    /// Events with a lower seq than `before_seq`, newest first. `u64::MAX` begins at the end.
    async fn load_events_back(
        &self,
        execution: ExecutionId,
        before_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>, Error>;

    async fn find_event(&self, execution: ExecutionId, event: EventId) -> Result<Option<Event>, Error>;

    /// Those of the given ids that are already recorded.
    async fn known_event_ids(
        &self,
        execution: ExecutionId,
        ids: &[EventId],
    ) -> Result<BTreeSet<EventId>, Error>;

    /// The newest snapshot. One that does not match its checksum is an [`Error::Corrupt`]; the events alone still
    /// tell the whole story then.
    async fn load_snapshot(&self, execution: ExecutionId) -> Result<Option<Snapshot>, Error>;

    /// Outcomes of a visit's loop items in index order, those after index `after`. Where an item has several, its last
    /// one counts.
    async fn load_loop_results(
        &self,
        execution: ExecutionId,
        visit: VisitId,
        after: Option<u32>,
        limit: usize,
    ) -> Result<Vec<LoopResult>, Error>;
}
