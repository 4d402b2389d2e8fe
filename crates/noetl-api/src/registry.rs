//! The registry of running parts: worker pools, servers, brokers.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Id, NumericId};

/// What a running part says of itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct RegisterRequest {
    /// Unique among its kind.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// `worker_pool`, `server_api` or `broker`.
    #[serde(default, alias = "component_type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub labels: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub capabilities: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub capacity: Option<i64>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub runtime: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
}

/// A part that is registered.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Part {
    /// As text.
    pub runtime_id: Id,
    pub name: String,
    pub kind: String,
    pub uri: Option<String>,
    pub status: String,
    #[schema(value_type = serde_json::Value)]
    pub labels: Value,
    #[schema(value_type = serde_json::Value)]
    pub capabilities: Value,
    pub capacity: Option<i64>,
    #[schema(value_type = serde_json::Value)]
    pub runtime: Value,
    /// When it was last heard of.
    pub heartbeat: String,
    pub created_at: String,
    pub updated_at: String,
}

/// Which part is meant.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct PartName {
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    #[serde(default, alias = "component_type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Acknowledged {
    /// Always `ok`.
    pub status: String,
    pub message: String,
}

/// Which parts to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct PartQuery {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Parts {
    pub items: Vec<Part>,
    pub count: usize,
}

/// An execution and a number of shards.
#[derive(Clone, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ShardQuery {
    #[param(value_type = String, pattern = "^[0-9]{1,18}$")]
    pub execution_id: NumericId,
    #[serde(default = "one")]
    #[param(minimum = 1, maximum = 1024)]
    pub shard_count: u64,
}

fn one() -> u64 {
    1
}

/// The shard that an execution belongs to.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ShardInfo {
    pub execution_id: NumericId,
    pub shard_count: u64,
    pub shard_index: u64,
    pub source: String,
    pub hash_function: String,
    pub seed: u64,
    pub server_config: ShardConfig,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ShardConfig {
    pub shard_index: u64,
    pub shard_count: u64,
}
