//! Events that workers of other makes post, and the commands they claim.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::NumericId;

/// Something that happened at a worker. Posting it again changes nothing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EventRequest {
    pub execution_id: NumericId,
    #[serde(default)]
    pub step: String,
    /// `command.started`, `call.done`, `call.error`, `command.completed`, `command.failed`, or a name that is only
    /// acknowledged.
    #[serde(alias = "name")]
    pub event_type: String,
    /// What the event says, with the `command_id` it is about.
    #[serde(default, alias = "payload")]
    #[schema(value_type = serde_json::Value)]
    pub context: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Made up by the sender, so that a repeated post is known for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<NumericId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub meta: Value,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EventAccepted {
    /// Always `ok`.
    pub status: String,
    /// 0 when the event says what was known before.
    #[schema(value_type = i64)]
    pub event_id: NumericId,
    pub commands_generated: usize,
}

/// Events of one execution.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EventBatchRequest {
    pub execution_id: NumericId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    #[schema(max_items = 1000)]
    pub events: Vec<BatchedEvent>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BatchedEvent {
    #[serde(default)]
    pub step: String,
    #[serde(alias = "name")]
    pub event_type: String,
    #[serde(default, alias = "context")]
    #[schema(value_type = serde_json::Value)]
    pub payload: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EventBatchAccepted {
    /// Always `ok`.
    pub status: String,
    /// In the order of the events.
    #[schema(value_type = Vec<i64>)]
    pub event_ids: Vec<NumericId>,
    pub commands_generated: usize,
}

/// A command with everything in it rendered.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Command {
    #[schema(value_type = i64)]
    pub execution_id: NumericId,
    pub node_id: String,
    /// The step.
    pub node_name: String,
    /// The kind of tool to call.
    pub action: String,
    /// `tool_config`, `args` and `render_context`.
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub context: Value,
    /// `command_id`, `attempt`, `max_attempts` and the place in a loop.
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub meta: Value,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ClaimRequest {
    #[schema(min_length = 1, max_length = 200)]
    pub worker_id: String,
}

/// A command that now is the worker's.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ClaimedCommand {
    /// Always `ok`.
    pub status: String,
    #[schema(value_type = i64)]
    pub event_id: NumericId,
    #[schema(value_type = i64)]
    pub execution_id: NumericId,
    pub node_id: String,
    pub node_name: String,
    pub action: String,
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub context: Value,
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub meta: Value,
}
