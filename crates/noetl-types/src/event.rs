//! What has happened to a run. The fold of its events is the run; nothing else is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Assignment, Await, CommandKey, EventId, ExecutionId, Outcome, Resolution, Slot, StepStatus, Timestamp,
    ToolError, Value, VisitId,
};

/// One recorded event of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub id: EventId,
    /// Gapless within the run, from 1.
    pub seq: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub body: EventBody,
}

/// The facts of an event, tagged with the name people and other tools know it by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum EventBody {
    #[serde(rename = "playbook_started")]
    PlaybookStarted(Started),

    #[serde(rename = "step.enter")]
    StepEntered {
        step: Arc<str>,
        visit: VisitId,
        /// The step whose arc led here; nothing at the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Arc<str>>,
        #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
        looping: Option<LoopEntry>,
        /// It is the playbook's final step, entered because everything else has come to rest.
        #[serde(default, rename = "final", skip_serializing_if = "std::ops::Not::not")]
        is_final: bool,
        /// When the visit must be over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },

    #[serde(rename = "step.skipped")]
    StepSkipped {
        step: Arc<str>,
        reason: SkipReason,
        /// Arcs followed all the same: a step skipped by its own `when` passes on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        taken: Vec<TakenArc>,
    },

    /// The step ended in an earlier run, and what it came to there counts here.
    #[serde(rename = "step.kept")]
    StepKept {
        #[serde(flatten)]
        kept: KeptStep,
        /// The earlier run.
        from: ExecutionId,
    },

    #[serde(rename = "command.issued")]
    CommandIssued { command: CommandKey, step: Arc<str>, attempt: u16, tool: Arc<str> },

    /// A worker has taken the command and begun.
    #[serde(rename = "command.started")]
    CommandStarted { command: CommandKey, step: Arc<str>, attempt: u16, worker: Arc<str> },

    /// The attempt came to an end and the command with it.
    #[serde(rename = "call.done")]
    CallDone { command: CommandKey, step: Arc<str>, attempt: u16, outcome: Outcome },

    /// As `call.done`, with an error.
    #[serde(rename = "call.error")]
    CallFailed { command: CommandKey, step: Arc<str>, attempt: u16, outcome: Outcome },

    #[serde(rename = "call.suspended")]
    CallSuspended {
        command: CommandKey,
        step: Arc<str>,
        attempt: u16,
        pipeline: Value,
        on: Await,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sets: Vec<Assignment>,
    },

    #[serde(rename = "call.resumed")]
    CallResumed { command: CommandKey, step: Arc<str>, with: Resolution },

    /// An outcome came for an attempt that is no longer open. It changes nothing.
    #[serde(rename = "call.ignored")]
    CallIgnored { command: CommandKey, attempt: u16, reason: Arc<str> },

    /// The worker that held the attempt did not renew its lease.
    #[serde(rename = "command.lost")]
    CommandLost { command: CommandKey, step: Arc<str>, attempt: u16 },

    #[serde(rename = "ctx.updated")]
    ContextUpdated { step: Arc<str>, cause: ContextCause, sets: Vec<Assignment> },

    #[serde(rename = "step.timeout")]
    StepTimedOut { step: Arc<str>, visit: VisitId, seconds: f64 },

    #[serde(rename = "step.exit")]
    StepExited {
        step: Arc<str>,
        visit: VisitId,
        status: StepStatus,
        /// The arcs that fired.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        taken: Vec<TakenArc>,
        /// For loops: the value put together from the items.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Slot>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<ToolError>,
        /// Whether an error was taken care of by an arc. An unhandled one fails the run in the end.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        handled: bool,
    },

    #[serde(rename = "child.started")]
    ChildStarted { command: CommandKey, step: Arc<str>, child: ExecutionId },

    #[serde(rename = "signal.received")]
    SignalReceived { name: Arc<str>, payload: Slot },

    #[serde(rename = "playbook.paused")]
    Paused { reason: Arc<str> },

    #[serde(rename = "playbook.resumed")]
    Resumed,

    #[serde(rename = "playbook.completed")]
    PlaybookCompleted {
        /// The step whose data is the result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Arc<str>>,
    },

    #[serde(rename = "playbook.failed")]
    PlaybookFailed { error: ToolError, failed_steps: Vec<Arc<str>> },

    #[serde(rename = "playbook.cancelled")]
    PlaybookCancelled { reason: Arc<str> },
}

impl EventBody {
    /// Whether the run is over with it.
    pub fn is_end(&self) -> bool {
        matches!(
            self,
            EventBody::PlaybookCompleted { .. }
                | EventBody::PlaybookFailed { .. }
                | EventBody::PlaybookCancelled { .. }
        )
    }

    /// The name of the event, as it is stored.
    pub fn type_name(&self) -> &'static str {
        match self {
            EventBody::PlaybookStarted(_) => "playbook_started",
            EventBody::StepEntered { .. } => "step.enter",
            EventBody::StepSkipped { .. } => "step.skipped",
            EventBody::StepKept { .. } => "step.kept",
            EventBody::CommandIssued { .. } => "command.issued",
            EventBody::CommandStarted { .. } => "command.started",
            EventBody::CallDone { .. } => "call.done",
            EventBody::CallFailed { .. } => "call.error",
            EventBody::CallSuspended { .. } => "call.suspended",
            EventBody::CallResumed { .. } => "call.resumed",
            EventBody::CallIgnored { .. } => "call.ignored",
            EventBody::CommandLost { .. } => "command.lost",
            EventBody::ContextUpdated { .. } => "ctx.updated",
            EventBody::StepTimedOut { .. } => "step.timeout",
            EventBody::StepExited { .. } => "step.exit",
            EventBody::ChildStarted { .. } => "child.started",
            EventBody::SignalReceived { .. } => "signal.received",
            EventBody::Paused { .. } => "playbook.paused",
            EventBody::Resumed => "playbook.resumed",
            EventBody::PlaybookCompleted { .. } => "playbook.completed",
            EventBody::PlaybookFailed { .. } => "playbook.failed",
            EventBody::PlaybookCancelled { .. } => "playbook.cancelled",
        }
    }

    /// The step the event is about, if any.
    pub fn step(&self) -> Option<&Arc<str>> {
        match self {
            EventBody::StepKept { kept: KeptStep { step, .. }, .. }
            | EventBody::StepEntered { step, .. }
            | EventBody::StepSkipped { step, .. }
            | EventBody::CommandIssued { step, .. }
            | EventBody::CommandStarted { step, .. }
            | EventBody::CallDone { step, .. }
            | EventBody::CallFailed { step, .. }
            | EventBody::CallSuspended { step, .. }
            | EventBody::CallResumed { step, .. }
            | EventBody::CommandLost { step, .. }
            | EventBody::ContextUpdated { step, .. }
            | EventBody::StepTimedOut { step, .. }
            | EventBody::StepExited { step, .. }
            | EventBody::ChildStarted { step, .. } => Some(step),
            _ => None,
        }
    }

    /// Every value that may be too large to stay in the event, for whoever stores values aside.
    pub fn slots_mut(&mut self) -> Vec<&mut Slot> {
        match self {
            EventBody::StepEntered {
                looping: Some(LoopEntry { items: LoopItems::List(items), .. }), ..
            } => {
                vec![items]
            }
            EventBody::CallDone { outcome, .. } | EventBody::CallFailed { outcome, .. } => match outcome {
                Outcome::Finished { report, sets, .. } => {
                    let mut slots = vec![&mut report.data];
                    slots.extend(sets.iter_mut().map(|set| &mut set.value));
                    slots
                }
                Outcome::Suspended { sets, .. } => sets.iter_mut().map(|set| &mut set.value).collect(),
            },
            EventBody::CallSuspended { sets, .. } | EventBody::ContextUpdated { sets, .. } => {
                sets.iter_mut().map(|set| &mut set.value).collect()
            }
            EventBody::CallResumed { with: Resolution::Signal { payload, .. }, .. } => vec![payload],
            EventBody::CallResumed { with: Resolution::Child { report, .. }, .. } => vec![&mut report.data],
            EventBody::StepExited { result: Some(result), .. } => vec![result],
            EventBody::StepKept { kept: KeptStep { result: Some(result), .. }, .. } => vec![result],
            EventBody::SignalReceived { payload, .. } => vec![payload],
            _ => Vec::new(),
        }
    }
}

/// How a run begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Started {
    pub execution: ExecutionId,
    pub path: Arc<str>,
    #[serde(default)]
    pub version: i64,
    #[serde(default)]
    pub catalog_id: i64,
    /// The playbook's defaults, rendered, with the payload on top.
    pub workload: Value,
    /// What the one who started the run sent along, where the workload has more than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// Where to begin instead of the playbook's entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Arc<str>>,
    /// Further steps to begin at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_at: Vec<Arc<str>>,
    /// The run that this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun_of: Option<ExecutionId>,
    /// What is taken over from that run. It is empty in a recorded event: events of their own follow for it.
    #[serde(default, skip_serializing_if = "Kept::is_empty")]
    pub kept: Kept,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentLink>,
    /// Further facts kept with the run: pool, trace, labels, requester.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub meta: Value,
}

/// What one run takes over from another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub steps: Vec<KeptStep>,
    /// What was under `ctx`.
    pub ctx: Vec<Assignment>,
}

impl Kept {
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.ctx.is_empty()
    }
}

/// What a step came to in an earlier run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptStep {
    pub step: Arc<str>,
    pub status: StepStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Slot>,
    /// An error that an arc took care of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
}

/// The call that a child run answers to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParentLink {
    pub execution: ExecutionId,
    pub command: CommandKey,
    /// The parent goes on without waiting.
    #[serde(default)]
    pub detached: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_step: Option<Arc<str>>,
}

/// The shape of a loop, fixed when its step is entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopEntry {
    pub items: LoopItems,
    /// How many items there are; unknown for a cursor.
    pub total: Option<u32>,
    /// How many items, or frames of a cursor, may be under way at once.
    pub max_in_flight: u32,
    /// No further item is issued once more than this many have failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures_allowed: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<CursorEntry>,
}

/// How the frames of a cursor are worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CursorEntry {
    /// Rows asked for with each claim.
    pub max_rows: u32,
    /// Rows of one frame that may be under way at once.
    pub row_concurrency: u32,
    /// A frame is one item: the list of its rows.
    pub whole_frame: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopItems {
    /// The numbers from 0 up to, but not including, this one.
    Count(u32),
    /// A list, stored aside when it is long.
    List(Slot),
    /// Rows claimed frame by frame until none is left.
    Cursor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Its own `when` is false.
    Guard,
    /// `spec.policy.admit` keeps it out.
    NotAdmitted,
    /// No arc that could still lead here was taken.
    NotReached,
    /// A step before it failed, and no arc took care of that.
    FailureBefore,
}

/// An arc that fired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakenArc {
    /// Its position among the arcs of its step.
    pub arc: u32,
    /// The step it leads to; nothing for an `end` that is not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Arc<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextCause {
    /// The step's own `set`.
    Step,
    /// The `set` of an arc that fired.
    Arc,
    /// It was set in an earlier run, and counts here.
    Kept,
}
