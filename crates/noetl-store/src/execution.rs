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
    /// Where its commands go.
    pub pool: Arc<str>,
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
    /// Started from this catalog entry.
    pub catalog_id: Option<i64>,
    pub pool: Option<String>,
    pub parent: Option<ExecutionId>,
    /// Started then or later.
    pub started_from: Option<Timestamp>,
    /// Started before then.
    pub started_before: Option<Timestamp>,
    /// Labels that must all be there with these values.
    pub labels: BTreeMap<String, String>,
    /// Text found in the path, the error or a label as `key=value`, or at the beginning of the id. Case does not matter
    /// for ASCII letters. See [`SHORT_SEARCH_REACH`] and [`searched_part`] for its limits.
    pub search: Option<String>,
    /// Only executions older than this one: the last of the page before.
    pub before: Option<ExecutionId>,
    /// Only executions newer than this one, and of those the oldest, unless `before` is given too: the page that comes
    /// before the one that this execution is first in.
    pub after: Option<ExecutionId>,
    /// Leaves out this many at the beginning of the page. Takes the longer the more it is; the two above do not.
    pub offset: usize,
}

/// A text of one or two characters, to search for or for a path to contain, is looked for among this many executions only:
/// the newest, or those next to where the page begins.
pub const SHORT_SEARCH_REACH: usize = 5000;

/// Labels and errors are searched up to this many characters.
const SEARCHED_CHARS: usize = 1000;

/// The part of a label or an error that is searched.
pub fn searched_part(text: &str) -> &str {
    text.char_indices().nth(SEARCHED_CHARS).map_or(text, |(end, _)| &text[..end])
}

impl ExecutionFilter {
    /// Whether a text is too short to be found everywhere.
    pub fn has_short_text(&self) -> bool {
        let contained = match &self.path {
            Some(PathFilter::Contains(text)) => Some(text),
            _ => None,
        };
        let is_short = |text: &String| text.chars().nth(2).is_none();
        self.search.as_ref().is_some_and(is_short) || contained.is_some_and(is_short)
    }

    /// Whether the page is found from its end.
    pub fn is_oldest_first(&self) -> bool {
        self.after.is_some() && self.before.is_none()
    }

    /// Whether every execution matches, apart from where the page begins.
    pub fn is_unconditional(&self) -> bool {
        self.statuses.is_empty() && self.asks_for_statuses_only()
    }

    /// Whether the status alone decides which executions match, apart from where the page begins.
    pub fn asks_for_statuses_only(&self) -> bool {
        self.path.is_none()
            && self.catalog_id.is_none()
            && self.pool.is_none()
            && self.parent.is_none()
            && self.started_from.is_none()
            && self.started_before.is_none()
            && self.labels.is_empty()
            && self.search.is_none()
    }
}

/// How many executions match a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchCount {
    pub count: u64,
    /// If not, there are more.
    pub is_exact: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathFilter {
    Is(String),
    StartsWith(String),
    /// Case does not matter for ASCII letters.
    Contains(String),
}

/// Which events of an execution to list. The default lists all, oldest first.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// Any of these; empty for all.
    pub event_types: Vec<String>,
    /// Only the event of this id and those after it. An id may be off by up to [`ROUNDED_ID`], as it is when it went
    /// through a program that takes numbers for floating-point ones; then a few more may come, but none is missing. An id
    /// that no event is near to leaves out events of lower ids.
    pub since: Option<EventId>,
    /// Only events with a higher seq.
    pub after_seq: Option<u64>,
    /// Only events with a lower seq.
    pub before_seq: Option<u64>,
    pub newest_first: bool,
}

/// How far an id may be from the one that was meant.
pub const ROUNDED_ID: i64 = 256;

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

    /// How many executions match, wherever the page begins. Counted up to `at_most` where counting takes time.
    async fn count_matching(&self, filter: &ExecutionFilter, at_most: u64) -> Result<MatchCount, Error>;

    /// The executions below this one: its children, theirs, and so on. By id, at most `limit`.
    async fn list_descendants(&self, execution: ExecutionId, limit: usize)
    -> Result<Vec<ExecutionId>, Error>;

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

    /// Events of an execution that match, by seq.
    async fn list_events(
        &self,
        execution: ExecutionId,
        filter: &EventFilter,
        limit: usize,
    ) -> Result<Vec<Event>, Error>;

    /// How many events of an execution match, wherever the page begins.
    async fn count_events(&self, execution: ExecutionId, filter: &EventFilter) -> Result<u64, Error>;

    /// The execution or subscription that an event belongs to. Should several have an event of this id, the one with the
    /// lowest id.
    async fn find_execution_of_event(&self, event: EventId) -> Result<Option<ExecutionId>, Error>;

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
