//! The state of a run: what decisions need and no more.
//!
//! Its size depends on the number of steps and on the work in flight, never on the length of the history.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use noetl_types::{
    Await, CommandKey, ExecutionId, Item, LoopEntry, Report, Resume, RunStatus, Slot, Started, StepStatus,
    Timestamp, ToolError, Value, VisitId,
};
use serde::{Deserialize, Serialize};

/// A run of a playbook. Serialised as its snapshot; `format` tells older snapshots apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub format: u16,
    pub status: RunStatus,
    /// The last event folded in.
    pub seq: u64,
    pub started: Arc<Started>,
    /// `execution_id`, `job` and the like, as templates see them.
    pub identity: Value,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// What `set` has put under `ctx`, by top-level key.
    pub ctx: Arc<BTreeMap<Arc<str>, Slot>>,
    pub steps: BTreeMap<Arc<str>, StepRecord>,
    /// Steps that an arc led to and that wait to be entered.
    pub pending: BTreeMap<Arc<str>, Pending>,
    /// Visits that have not ended, in the order they began.
    pub visits: BTreeMap<VisitId, Visit>,
    /// Work given out or waiting.
    #[serde(with = "crate::pairs")]
    pub commands: BTreeMap<(VisitId, Item), OpenCommand>,
    pub next_visit: u32,
    /// Failures that no arc took care of, in order.
    pub failures: Vec<Failure>,
    /// The step whose data is the result so far: `end`, or the one that last ended a branch.
    pub last_leaf: Option<Arc<str>>,
    pub final_step_entered: bool,
    /// Signals that came before anyone waited for them.
    pub signals: VecDeque<(Arc<str>, Slot)>,
    pub error: Option<ToolError>,
    pub agenda: Agenda,
}

/// What the next decisions are about. It is part of the state so that deciding never searches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agenda {
    /// Visits whose work is done and whose arcs are to be judged.
    pub settle: BTreeSet<VisitId>,
    /// Loops that may issue further items.
    pub fill: BTreeSet<VisitId>,
    /// Commands to be issued, again or for the next part.
    pub issue: BTreeSet<(VisitId, Item)>,
    /// Something changed about who may be entered.
    pub enter: bool,
}

/// What is known of a step by its latest visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    pub status: StepStatus,
    /// How often it was entered.
    pub runs: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Slot>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The visit under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<VisitId>,
}

/// A step that was reached and not yet entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// The step whose arc led here first; nothing at the entry.
    pub from: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub step: Arc<str>,
    pub error: ToolError,
}

/// One entry into a step, until it exits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    pub step: Arc<str>,
    pub from: Option<Arc<str>>,
    pub entered_at: Timestamp,
    /// When it must be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// What the work came to, once it is done.
    pub report: Option<Report>,
    /// How often the last task was tried.
    pub attempts: u32,
    /// The step's own `set` has been applied.
    pub set_applied: bool,
    pub looping: Option<Box<LoopState>>,
}

/// The progress of a loop. Items below `next` that have no open command are done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopState {
    pub entry: LoopEntry,
    /// The index the next item gets.
    pub next: u32,
    pub in_flight: u32,
    pub success: u32,
    pub failed: u32,
    /// No further item is issued.
    pub stopped: bool,
    pub first_error: Option<ToolError>,
    /// Results by index while they are small together; dropped when they grow, since the log has them.
    pub results: Option<Vec<Value>>,
    pub result_bytes: usize,
    pub cursor: Option<CursorState>,
}

/// Frames of rows claimed and not yet done with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CursorState {
    /// Claims issued so far.
    pub frames: u32,
    /// A claim came back empty: no more are issued.
    pub drained: bool,
    pub claims_in_flight: u32,
    pub open: BTreeMap<u32, Frame>,
    /// Which frame the items in flight belong to.
    pub item_frames: BTreeMap<u32, u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    pub rows: Slot,
    pub row_count: u32,
    /// Rows, or the frame as a whole, given out so far.
    pub next_row: u32,
    pub in_flight: u32,
    /// The index of the row each item in flight works on, by item.
    pub item_rows: BTreeMap<u32, u32>,
}

/// A command that has not come to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenCommand {
    pub part: u16,
    pub attempt: u16,
    pub state: OpenState,
    /// State and news of a suspended pipeline, for the command that takes it up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// The run this one waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<ExecutionId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenState {
    /// To be issued.
    Ready,
    /// Given out; no worker has begun.
    Issued,
    Started {
        worker: Arc<str>,
    },
    /// Suspended until something happens.
    Waiting {
        on: Await,
        pipeline: Value,
    },
}

impl Run {
    /// The layout of the serialised state. Raised when older snapshots can't be read any more.
    pub const FORMAT: u16 = 1;

    /// A run to which nothing has happened.
    pub fn new() -> Run {
        Run {
            format: Run::FORMAT,
            status: RunStatus::Pending,
            seq: 0,
            started: Arc::default(),
            identity: Value::Null,
            started_at: Timestamp::default(),
            ended_at: None,
            ctx: Arc::default(),
            steps: BTreeMap::new(),
            pending: BTreeMap::new(),
            visits: BTreeMap::new(),
            commands: BTreeMap::new(),
            next_visit: 1,
            failures: Vec::new(),
            last_leaf: None,
            final_step_entered: false,
            signals: VecDeque::new(),
            error: None,
            agenda: Agenda::default(),
        }
    }

    pub fn execution(&self) -> ExecutionId {
        self.started.execution
    }

    /// The data of a completed run.
    pub fn result(&self) -> Option<&Slot> {
        match self.status {
            RunStatus::Completed => self.last_leaf.as_ref().and_then(|step| self.result_of(step)),
            _ => None,
        }
    }

    /// The latest result of a step.
    pub fn result_of(&self, step: &str) -> Option<&Slot> {
        self.steps.get(step).and_then(|record| record.result.as_ref())
    }

    pub fn find_command(&self, key: CommandKey) -> Option<&OpenCommand> {
        self.commands.get(&(key.visit, key.item)).filter(|open| open.part == key.part)
    }

    /// The attempt that may report an outcome for this command now.
    pub fn is_open(&self, key: CommandKey, attempt: u16) -> bool {
        self.find_command(key).is_some_and(|open| {
            open.attempt == attempt && matches!(open.state, OpenState::Issued | OpenState::Started { .. })
        })
    }

    /// Commands of a visit.
    pub fn commands_of(&self, visit: VisitId) -> impl Iterator<Item = (CommandKey, &OpenCommand)> {
        let last = (visit, Item::Claim(u32::MAX));
        self.commands
            .range((visit, Item::Whole)..=last)
            .map(|(&(visit, item), open)| (CommandKey { visit, item, part: open.part }, open))
    }
}

impl Default for Run {
    fn default() -> Run {
        Run::new()
    }
}

impl CursorState {
    /// The frame the next row is taken from: the first that has rows left and room for one more under way.
    pub fn next_frame(&self, row_concurrency: u32) -> Option<u32> {
        let has_next = |frame: &Frame| frame.next_row < frame.row_count && frame.in_flight < row_concurrency;
        self.open.iter().find(|(_, frame)| has_next(frame)).map(|(&number, _)| number)
    }
}

impl LoopState {
    pub fn new(entry: LoopEntry) -> LoopState {
        let cursor = entry.total.is_none().then(CursorState::default);
        LoopState {
            entry,
            next: 0,
            in_flight: 0,
            success: 0,
            failed: 0,
            stopped: false,
            first_error: None,
            results: Some(Vec::new()),
            result_bytes: 0,
            cursor,
        }
    }

    /// Rows of a frame that may be under way at once.
    pub fn row_concurrency(&self) -> u32 {
        self.entry.cursor.map_or(1, |entry| entry.row_concurrency)
    }

    /// Items issued so far.
    pub fn issued(&self) -> u32 {
        self.next
    }

    /// What may be issued now, in order. Work of a cursor comes one at a time, since each depends on the one before.
    pub fn next_items(&self) -> Vec<Item> {
        if self.stopped {
            return Vec::new();
        }
        match &self.cursor {
            None => {
                let room = self.entry.max_in_flight.saturating_sub(self.in_flight);
                let total = self.entry.total.unwrap_or(0);
                (self.next..total).take(room as usize).map(Item::At).collect()
            }
            Some(cursor) => self.next_of_cursor(cursor).into_iter().collect(),
        }
    }

    fn next_of_cursor(&self, cursor: &CursorState) -> Option<Item> {
        if cursor.next_frame(self.row_concurrency()).is_some() {
            return Some(Item::At(self.next));
        }
        let frames = cursor.open.len() as u32 + cursor.claims_in_flight;
        (!cursor.drained && frames < self.entry.max_in_flight).then_some(Item::Claim(cursor.frames))
    }

    pub fn has_next(&self) -> bool {
        match &self.cursor {
            _ if self.stopped => false,
            None => self.in_flight < self.entry.max_in_flight && self.next < self.entry.total.unwrap_or(0),
            Some(cursor) => self.next_of_cursor(cursor).is_some(),
        }
    }

    pub fn is_done(&self) -> bool {
        if self.in_flight > 0 {
            return false;
        }
        match &self.cursor {
            None => self.stopped || self.entry.total.is_none_or(|total| self.next >= total),
            Some(cursor) => {
                cursor.claims_in_flight == 0 && (self.stopped || (cursor.drained && cursor.open.is_empty()))
            }
        }
    }
}
