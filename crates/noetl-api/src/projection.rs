//! Events that other parts of a cluster hand in.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::NumericId;
use crate::events::EventRequest;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ProjectRequest {
    #[schema(max_items = 1000)]
    pub events: Vec<Envelope>,
}

/// An event as it lies in a log. Keys that are not named here are kept too.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Envelope {
    /// What the event is known by within its execution.
    pub event_id: NumericId,
    /// 0 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<NumericId>,
    #[serde(default)]
    pub event_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// When it happened, in RFC 3339; UTC without a zone. `timestamp` means the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub context: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub result: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub meta: Value,
    #[serde(flatten)]
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub other: serde_json::Map<String, serde_json::Value>,
}

/// How many of the events were new and how many were known.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct Projected {
    pub projected: usize,
    pub duplicates: usize,
}

/// Events as workers post them, of any executions.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MaterializeRequest(pub Vec<EventRequest>);

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct Materialized {
    pub materialized: usize,
    pub duplicates: usize,
}
