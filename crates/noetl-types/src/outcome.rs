//! What came of a command.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Await, Slot, Timestamp, ToolError, Value};

/// A value assigned by `set`: the scope is decided, the path is what follows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// `cfg.limits.max` for `ctx.cfg.limits.max`.
    pub path: Arc<str>,
    pub value: Slot,
}

/// What a tool call, or a pipeline of them, came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The data; an error may have some too (the body of a 503, what a process printed).
    pub data: Slot,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// The native side of the answer by family: `http {status, headers}`, `pg {code, sqlstate}`, `py {exception, traceback}`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub facets: Value,
    #[serde(default)]
    pub duration_ms: f64,
}

impl Report {
    pub fn success(data: impl Into<Slot>) -> Report {
        Report { data: data.into(), ..Report::default() }
    }

    pub fn failure(error: ToolError) -> Report {
        Report { error: Some(error), ..Report::default() }
    }

    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }
}

/// Which rule decided what, for people to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyDecision {
    pub task: Arc<str>,
    pub attempt: u32,
    /// The index of the rule that matched; nothing when none did and the default applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<u32>,
    /// `continue`, `retry`, `break`, `jump` or `fail`.
    pub action: Arc<str>,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// How an attempt at a command ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    Finished {
        report: Report,
        /// Assignments to `ctx`, in order, by tasks and rules on the way.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sets: Vec<Assignment>,
        /// How often the last task was tried.
        #[serde(default = "one")]
        attempts: u32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        decisions: Vec<PolicyDecision>,
    },
    /// The pipeline waits for something outside; it is taken up again with a command of its own.
    Suspended {
        /// The interpreter's state, opaque to everyone else.
        pipeline: Value,
        on: Await,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sets: Vec<Assignment>,
    },
}

fn one() -> u32 {
    1
}

impl Outcome {
    pub fn finished(report: Report) -> Outcome {
        Outcome::Finished { report, sets: Vec::new(), attempts: 1, decisions: Vec::new() }
    }
}
