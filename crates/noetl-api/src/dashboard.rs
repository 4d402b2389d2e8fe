//! Numbers for an overview.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::execution::Execution;

/// Counts, flat and nested: each generation of clients reads one of the two.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Stats {
    /// Always `success`.
    pub status: String,
    pub total_playbooks: u64,
    pub total_executions: u64,
    /// Those that are not over.
    pub active_executions: u64,
    /// In percent of those that completed or failed; 0 before the first of them.
    pub success_rate: f64,
    pub recent_executions: Vec<Execution>,
    pub stats: Counts,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    pub total_executions: u64,
    pub successful_executions: u64,
    pub failed_executions: u64,
    pub cancelled_executions: u64,
    pub running_executions: u64,
    pub paused_executions: u64,
    pub total_playbooks: u64,
    pub total_workers: u64,
}

/// One box of the overview.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Widget {
    pub id: String,
    /// `metric`, `chart` or `list`.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    #[schema(value_type = serde_json::Value)]
    pub data: Value,
    #[schema(value_type = serde_json::Value)]
    pub config: Value,
}
