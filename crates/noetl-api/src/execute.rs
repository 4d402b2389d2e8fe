//! Starting runs.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Id, NumericId};

/// A playbook to run, by path or by catalog id.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ExecuteRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_id: Option<Id>,
    /// A version of the path; the newest without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Values laid over the playbook's own `workload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub payload: Option<Value>,
    /// Another name of `payload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub workload: Option<Value>,
    /// A third name of `payload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub args: Option<Value>,
    /// The run that this one belongs to: it is cancelled with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_execution_id: Option<NumericId>,
    /// The worker pool for all its commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_pool: Option<String>,
    /// W3C trace context: `traceparent`, `tracestate`, `baggage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub trace: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedup: Option<Dedup>,
    /// Begin at this step instead of the playbook's entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// Accepted from older clients; only playbooks run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_kind: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct WaitParameters {
    /// Answer when the execution has ended, or after so many seconds: 60 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
}

/// Starts with the same key within the window come to one run.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Dedup {
    #[schema(min_length = 1, max_length = 1024)]
    pub key: String,
    /// How long the key counts.
    #[serde(default = "five_minutes")]
    #[schema(minimum = 1, maximum = 2_592_000)]
    pub window_secs: u64,
}

fn five_minutes() -> u64 {
    300
}

/// A version number, as number or text; `latest` for the newest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Version {
    Number(i64),
    Text(String),
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Executed {
    pub execution_id: Id,
    /// `started`, or `duplicate` when the dedup key is known: then the id is that of the earlier run.
    pub status: String,
    pub commands_generated: usize,
    pub path: String,
    pub version: i64,
    pub catalog_id: Id,
    /// What it came to, when that was waited for and it ended in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// How an execution ended.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Outcome {
    /// `COMPLETED`, `FAILED` or `CANCELLED`.
    pub status: String,
    /// What it came to, or a short form of it when that is large.
    #[schema(value_type = Option<serde_json::Value>)]
    pub result: Option<Value>,
    pub error: Option<String>,
    pub duration_seconds: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExecuteBatchRequest {
    #[schema(min_items = 1, max_items = 1000)]
    pub executions: Vec<ExecuteRequest>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExecutedBatch {
    pub count: usize,
    pub started: usize,
    pub duplicates: usize,
    pub failed: usize,
    pub results: Vec<ExecutedItem>,
}

/// What came of one start of a batch.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExecutedItem {
    /// Its place in the request.
    pub index: usize,
    /// `started`, `duplicate` or `error`.
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<Id>,
    pub commands_generated: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}
