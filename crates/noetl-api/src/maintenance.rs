//! Housekeeping: what is kept for how long, snapshots, cells.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::NumericId;

/// How long things are kept.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct PurgeRequest {
    /// Commands that ended longer ago go.
    #[schema(minimum = 0, maximum = 36500)]
    pub command_retention_days: u32,
    /// Workers that were silent for longer go.
    #[schema(minimum = 0, maximum = 52560000)]
    pub runtime_stale_minutes: u32,
    /// Executions that ended longer ago go with their events; 0 keeps them all.
    #[schema(minimum = 0, maximum = 36500)]
    pub event_retention_days: u32,
}

impl Default for PurgeRequest {
    fn default() -> PurgeRequest {
        PurgeRequest { command_retention_days: 7, runtime_stale_minutes: 60, event_retention_days: 0 }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Purged {
    pub commands_purged: u64,
    pub runtime_purged: u64,
    pub events_purged: u64,
    pub executions_purged: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AdvanceRequest {
    #[schema(max_items = 1000)]
    pub execution_ids: Vec<NumericId>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Advanced {
    pub advanced: Vec<AdvancedExecution>,
    pub failed: Vec<NotAdvanced>,
}

/// An execution whose state is now stored as of its newest event.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AdvancedExecution {
    pub execution_id: NumericId,
    /// The id of its newest event.
    pub version: NumericId,
    /// How many events it has.
    pub events: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NotAdvanced {
    pub execution_id: NumericId,
    pub error: String,
}

/// Where stored values live.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Cells {
    pub shard_count: u32,
    pub default_cell: String,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Cell {
    pub cell: String,
    pub env: String,
    pub region: String,
    pub provider: String,
    pub bucket: Option<String>,
    pub endpoint: Option<String>,
}
