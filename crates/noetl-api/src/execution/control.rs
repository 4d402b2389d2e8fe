//! Steering executions.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::execute::Version;
use crate::{ErrorBody, Id, NumericId};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CancelRequest {
    /// Kept with the execution.
    pub reason: Option<String>,
    /// Cancel everything that it started too.
    pub cascade: bool,
}

impl Default for CancelRequest {
    fn default() -> CancelRequest {
        CancelRequest { reason: None, cascade: true }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Cancelled {
    /// Always `cancelled`.
    pub status: String,
    pub execution_id: Id,
    /// All that are cancelled by this, the execution itself first.
    pub cancelled_executions: Vec<Id>,
    pub message: String,
}

/// Why nothing was cancelled.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum CancelRefused {
    /// The execution is over.
    AlreadyCompleted {
        /// Always `already_completed`.
        status: String,
        execution_id: Id,
        /// Always empty.
        cancelled_executions: Vec<Id>,
        message: String,
        error: String,
        code: String,
    },
    Other(ErrorBody),
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CancellationCheck {
    pub execution_id: Id,
    pub is_cancelled: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct PauseRequest {
    pub reason: Option<String>,
}

/// What came of a request that changes an execution.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Steered {
    pub execution_id: Id,
    /// The status of the execution now.
    pub status: String,
    /// False when it was so before.
    pub changed: bool,
    pub message: String,
}

/// News for a step that waits for it. An approval is a signal.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SignalRequest {
    #[schema(min_length = 1, max_length = 256)]
    pub name: String,
    #[serde(default)]
    #[schema(value_type = serde_json::Value)]
    pub payload: Value,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct FinalizeRequest {
    /// `COMPLETED` or `FAILED`; `FAILED` without it.
    pub status: Option<String>,
    pub error: Option<String>,
    /// The older name of `error`.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Finalized {
    pub execution_id: Id,
    /// `finalized`, or `already_completed`.
    pub status: String,
    /// The status of the execution now.
    pub execution_status: String,
    pub message: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct CleanupRequest {
    /// Cancel what has not moved for so long.
    #[schema(minimum = 0)]
    pub older_than_minutes: u64,
    /// Only say what would be cancelled.
    pub dry_run: bool,
}

impl Default for CleanupRequest {
    fn default() -> CleanupRequest {
        CleanupRequest { older_than_minutes: 5, dry_run: false }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CleanedUp {
    pub cancelled_count: usize,
    pub execution_ids: Vec<NumericId>,
    pub message: String,
}

/// Run an execution's playbook again.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct RerunRequest {
    /// Laid over the workload of the execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub workload: Option<Value>,
    /// Another name of `workload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub payload: Option<Value>,
    /// Begin at this step and keep the results of the steps before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Begin at the step that failed, keeping the results of the others.
    pub from_failed: bool,
    /// Another version of the playbook: a number, or `latest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Another playbook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Accepted from older clients; only playbooks run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_kind: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Rerun {
    pub execution_id: Id,
    /// Always `started`.
    pub status: String,
    pub rerun_of: Id,
    pub path: String,
    pub version: i64,
    pub catalog_id: Id,
    pub commands_generated: usize,
    /// Steps whose results were kept.
    pub kept_steps: Vec<String>,
}
