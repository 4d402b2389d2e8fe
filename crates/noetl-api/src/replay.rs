//! An execution as it was.

use std::collections::BTreeMap;

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Id;

/// Which execution, and up to where. At most one of the three cutoffs.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReplayParameters {
    pub execution_id: Id,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<String>,
    /// Up to this event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_event_id: Option<Id>,
    /// Up to the event of this number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_position: Option<u64>,
    /// Up to this instant (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_time: Option<String>,
    /// `all`, `execution`, `commands`, `loops`, `stages`, `frames` or `business_objects`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<String>,
    /// How many events to fold at most: 10,000 without it, 100,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Accepted and ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolve_payloads: Option<bool>,
}

/// What the events up to the cutoff add up to.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Replayed {
    pub tenant_id: String,
    pub organization_id: String,
    pub execution_id: Id,
    pub projection: String,
    pub event_count: u64,
    pub last_event_id: Option<Id>,
    pub last_event_type: Option<String>,
    pub execution: ReplayedExecution,
    /// Always empty, like `frames` and `business_objects`: this server has no such things.
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    pub stages: BTreeMap<String, Value>,
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    pub frames: BTreeMap<String, Value>,
    /// Open commands: `{step, attempt, state}` by their key.
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    pub commands: BTreeMap<String, Value>,
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    pub business_objects: BTreeMap<String, Value>,
    /// Loops under way: `{total, success, failed, in_flight}` by step.
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    pub loops: BTreeMap<String, Value>,
    pub checksum: Checksum,
    pub projection_checksums: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReplayedExecution {
    pub status: String,
    pub last_node_name: Option<String>,
    /// Where values are that are stored aside.
    pub payload_refs: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Checksum {
    /// Always `sha256`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Over the projections, in hexadecimal.
    pub value: String,
}
