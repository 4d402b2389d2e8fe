//! Work for a worker.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{CommandKey, ExecutionId, Report, RunStatus, Slot, Timestamp, ToolError, Value};

/// One attempt at one share of a step, with the data its templates may read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    pub execution: ExecutionId,
    pub key: CommandKey,
    pub attempt: u16,
    pub step: Arc<str>,
    /// The position of the step in its plan.
    pub step_index: u32,
    pub context: Arc<CommandContext>,
    /// The loop item with its place, or nothing outside loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<LoopItem>,
    /// For the claim of a cursor: how many rows to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rows: Option<u32>,
    /// State and news for a pipeline that was suspended before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// The step's own deadline: the worker stops the tool then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

/// What the templates of a command can see. Nothing in it is rendered, and secrets are never in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandContext {
    /// The run's workload.
    pub workload: Value,
    /// Top-level keys set under `ctx` so far.
    #[serde(default)]
    pub ctx: Arc<BTreeMap<Arc<str>, Slot>>,
    /// Results of finished steps that this step's templates name.
    #[serde(default)]
    pub steps: BTreeMap<Arc<str>, Slot>,
    /// The result that led here, for the older names `result` and `response`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Slot>,
    /// Identity: `execution_id`, `catalog_id`, `path`, `version`, `job` and what else the run was started with.
    #[serde(default)]
    pub identity: Value,
}

/// One item of a step's loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopItem {
    pub value: Slot,
    pub index: u32,
    /// Unknown for cursor loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u32>,
}

/// What a suspended pipeline waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "await")]
pub enum Await {
    /// An amount of time: the delay before a retry, or a plain wait.
    Sleep { seconds: f64 },
    /// A signal by name, or until the time is over.
    Signal {
        name: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
        /// What people are asked, shown while the step waits.
        #[serde(default)]
        prompt: Value,
    },
    /// Another playbook, by path or catalog id.
    Child {
        path: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        catalog_id: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<i64>,
        payload: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        return_step: Option<Arc<str>>,
        /// Start it and go on.
        #[serde(default)]
        detached: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
    },
}

/// The end of waiting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "resolution")]
pub enum Resolution {
    /// The time is over.
    Elapsed,
    Signal {
        name: Arc<str>,
        payload: Slot,
    },
    /// The child has started and is not waited for.
    Started {
        execution: ExecutionId,
    },
    Child {
        execution: ExecutionId,
        status: RunStatus,
        report: Report,
    },
    /// What was waited for can't be had: an unknown playbook, say.
    Refused {
        error: ToolError,
    },
}

/// How a suspended pipeline goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resume {
    pub pipeline: Value,
    pub with: Resolution,
}
