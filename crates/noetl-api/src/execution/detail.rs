//! One execution.

use std::collections::BTreeMap;

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{EventRow, Execution, Pagination};
use crate::Id;

/// What to tell of an execution.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct DetailParameters {
    /// The page of events, from 1. With it, or any of the three below, events come newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Between 10 and 500; 100 without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
    /// Only events after this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_event_id: Option<Id>,
    /// Only events of this type, or of several with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// False leaves the events out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_events: Option<bool>,
    /// Load values that are stored aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve: Option<bool>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct Resolve {
    /// Load values that are stored aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve: Option<bool>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ChildrenParameters {
    /// Only executions older than this one: the last of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Id>,
    /// How many to list: 50 without it, 100 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// An execution with its steps and events.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Detail {
    #[serde(flatten)]
    pub summary: Execution,
    #[schema(value_type = serde_json::Value)]
    pub workload: Value,
    /// Every step that was entered or skipped, in the order in which that happened.
    pub steps: Vec<Step>,
    /// Without a paging parameter the newest 2,000, oldest first. With one a page, newest first.
    pub events: Vec<EventRow>,
    pub events_included: bool,
    pub events_endpoint: String,
    pub pagination: Option<Pagination>,
}

/// What is known of a step by its latest visit.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Step {
    pub name: String,
    /// `running`, `completed`, `failed` or `skipped`.
    pub status: String,
    /// How often it was entered.
    pub runs: u32,
    /// The value that templates see under the step's name. One that is stored aside is reduced to its small fields and
    /// `_ref`.
    #[schema(value_type = serde_json::Value)]
    pub result: Value,
    /// `{kind, message, code, retryable}` and further facts, or null.
    #[schema(value_type = serde_json::Value)]
    pub error: Value,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    /// How far the loop under way has come.
    #[serde(rename = "loop")]
    pub looping: Option<LoopProgress>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LoopProgress {
    /// Unknown for a cursor.
    pub total: Option<u32>,
    pub success: u32,
    pub failed: u32,
    pub in_flight: u32,
}

/// Where an execution stands, in the words of every client that asks.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Status {
    pub execution_id: Id,
    pub path: String,
    pub status: String,
    /// It is over, in whichever way.
    pub completed: bool,
    /// It is over without having completed: it failed, or it was cancelled.
    pub failed: bool,
    pub is_cancelled: bool,
    /// Always false: an execution is over when it says so.
    pub completion_inferred: bool,
    pub current_step: Option<String>,
    pub completed_steps: Vec<String>,
    pub progress: Progress,
    /// What `set` has put under `ctx`.
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    pub variables: BTreeMap<String, Value>,
    pub start_time: String,
    pub end_time: Option<String>,
    pub started_at: String,
    pub completed_at: Option<String>,
    pub duration_seconds: f64,
    pub duration_human: String,
    pub error: Option<String>,
}

/// Steps counted.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    pub total_steps: usize,
    pub completed_steps: usize,
    pub running_steps: usize,
    pub failed_steps: usize,
}

/// Why an execution is where it is.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Explained {
    pub execution_id: Id,
    pub status: String,
    /// A sentence for each step that is under way or waits.
    pub lines: Vec<String>,
}

/// One step of an execution, with each attempt at its latest visit.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RanStep {
    #[serde(flatten)]
    pub step: Step,
    pub execution_id: Id,
    /// The step whose arc led here; nothing at the entry.
    pub from: Option<String>,
    /// What the step's command carries while it is open: the values its templates read. Null once it is over.
    #[schema(value_type = serde_json::Value)]
    pub input: Value,
    /// The newest first, at most 200.
    pub attempts: Vec<Attempt>,
    /// The steps that its arcs led to.
    pub next: Vec<String>,
    /// Whether an arc took care of its error.
    pub error_handled: bool,
    /// Why it was skipped.
    pub skipped_because: Option<String>,
}

/// One try at a command of a step.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// Which share of which visit: `3`, `3.i1` for a loop item.
    pub command: String,
    pub attempt: u16,
    /// The index of the loop item.
    pub item: Option<u32>,
    pub worker: Option<String>,
    /// `completed`, `failed`, `suspended` or `lost`.
    pub status: String,
    pub ended_at: String,
    pub duration_seconds: Option<f64>,
    #[schema(value_type = serde_json::Value)]
    pub result: Value,
    #[schema(value_type = serde_json::Value)]
    pub error: Value,
    /// Which rule decided what, in order.
    pub decisions: Vec<Decision>,
}

/// What a rule made of a task's outcome.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Decision {
    pub task: String,
    pub attempt: u32,
    /// The index of the rule that matched; nothing when none did and the default applied.
    pub rule: Option<u32>,
    /// `continue`, `retry`, `break`, `jump` or `fail`.
    pub action: String,
}

/// At which event to look.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct StateParameters {
    /// The number of an event; the newest without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_seq: Option<u64>,
}

/// An execution as it was right after one of its events.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct State {
    pub execution_id: Id,
    pub seq: u64,
    pub status: String,
    #[schema(value_type = serde_json::Value)]
    pub workload: Value,
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    pub variables: BTreeMap<String, Value>,
    pub steps: Vec<Step>,
    /// Steps that were reached and not yet entered.
    pub waiting: Vec<String>,
    pub error: Option<String>,
    /// Why it is where it is.
    pub lines: Vec<String>,
}
