//! What a pipeline remembers, also over a suspension.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use indexmap::IndexMap;
use noetl_types::{Assignment, Await, PolicyDecision, Report, Value};
use serde::{Deserialize, Serialize};

/// Decisions of rules that an outcome carries at most.
pub const DECISIONS_KEPT: usize = 200;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PipelineState {
    /// The task at the cursor.
    pub at: usize,
    /// The attempt at that task, from 1. A task that is left and reached again starts anew.
    pub attempt: u32,
    /// How often the last task that was left was tried.
    pub attempts: u32,
    pub calls: u64,
    /// What each task came to, by label, in the order they last ended.
    pub results: IndexMap<Arc<str>, Value>,
    /// The native side of the last task's answer.
    pub facets: Value,
    pub duration_ms: f64,
    /// Assigned under `iter` outside of nested loops.
    pub iter: BTreeMap<Arc<str>, Value>,
    /// Assigned under `step`.
    pub step: BTreeMap<Arc<str>, Value>,
    /// Assigned under `ctx`, by top-level key, as seen from here on.
    pub ctx: BTreeMap<Arc<str>, Value>,
    /// Assignments to `ctx` that have not been reported yet.
    pub sets: Vec<Assignment>,
    pub decisions: Vec<PolicyDecision>,
    /// What the task at the cursor waits for.
    pub waiting: Option<Await>,
    /// The loop of the task at the cursor.
    pub nested: Option<Nested>,
}

impl Default for PipelineState {
    fn default() -> PipelineState {
        PipelineState {
            at: 0,
            attempt: 1,
            attempts: 0,
            calls: 0,
            results: IndexMap::new(),
            facets: Value::Null,
            duration_ms: 0.0,
            iter: BTreeMap::new(),
            step: BTreeMap::new(),
            ctx: BTreeMap::new(),
            sets: Vec::new(),
            decisions: Vec::new(),
            waiting: None,
            nested: None,
        }
    }
}

impl PipelineState {
    /// Goes through text, which keeps the order of keys: the last result is the one that came last.
    pub fn to_value(&self) -> Value {
        let text = serde_json::to_string(self)
            .expect("the state of a pipeline consists of JSON types with text keys");
        serde_json::from_str(&text).expect("what was just written is JSON")
    }

    pub fn from_value(value: &Value) -> Result<PipelineState, String> {
        serde_json::from_str(&value.to_string())
            .map_err(|error| format!("the state of the suspended pipeline can't be read: {error}"))
    }
}

/// The loop of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nested {
    /// The list, or nothing for a count.
    pub items: Option<Value>,
    pub total: u32,
    pub max_in_flight: u32,
    pub failures_allowed: Option<u32>,
    pub next: u32,
    /// Items under way: the attempt each is at, and what it has assigned under `iter`.
    pub open: BTreeMap<u32, OpenItem>,
    pub results: Vec<Value>,
    pub success: u32,
    pub failed: u32,
    pub stopped: bool,
    pub first_error: Option<noetl_types::ToolError>,
    /// Calls that have ended and are to be judged.
    #[serde(default)]
    pub ended: VecDeque<(u32, u32, Report)>,
    /// Items to be called again, with their delays.
    #[serde(default)]
    pub again: Vec<(u32, f64)>,
    /// The item whose wait is outside.
    #[serde(default)]
    pub waiting_item: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenItem {
    pub attempt: u32,
    pub assigned: BTreeMap<Arc<str>, Value>,
}

impl Nested {
    pub fn ended(&mut self, item: u32, attempt: u32, report: Report) {
        self.ended.push_back((item, attempt, report));
    }

    pub fn assigned_of(&mut self, item: u32) -> &mut BTreeMap<Arc<str>, Value> {
        &mut self.open.entry(item).or_default().assigned
    }

    pub fn item(&self, at: u32) -> Value {
        match &self.items {
            Some(items) => {
                items.as_list().and_then(|items| items.get(at as usize)).cloned().unwrap_or_default()
            }
            None => at.into(),
        }
    }
}

/// A call of a tool with everything evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskCall {
    /// The position of the task in its pipeline.
    pub task: usize,
    pub label: Arc<str>,
    pub kind: Arc<str>,
    /// The item of the task's own loop.
    pub item: u32,
    /// From 1.
    pub attempt: u32,
    /// To be waited before the call.
    pub delay_seconds: f64,
    pub config: Value,
    pub input: Value,
    /// Source code and the line of the playbook it begins at.
    pub code: Option<(Arc<str>, u32)>,
    pub timeout: Option<f64>,
    /// The line of the task in the playbook.
    pub line: u32,
}
