//! Reading executions and events in the shapes of `noetl ehdb query`.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Id;

/// What can be asked.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EhdbIndex {
    pub actions: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EhdbExecutions {
    pub action: String,
    /// Where the answer comes from: always `store`.
    pub tier: String,
    pub limit: usize,
    pub offset: usize,
    pub returned: usize,
    pub executions: Vec<EhdbExecution>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EhdbExecution {
    pub execution_id: Id,
    pub catalog_id: Id,
    pub path: String,
    pub status: String,
    pub terminal: bool,
    pub current_node: Option<String>,
    pub parent_execution_id: Option<Id>,
    pub event_count: u64,
    pub started_at: String,
    pub completed_at: Option<String>,
}

/// The state of one execution; an unknown one does not exist.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EhdbState {
    pub action: String,
    pub tier: String,
    pub execution_id: Id,
    pub exists: bool,
    #[schema(value_type = serde_json::Value)]
    pub state: Value,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EhdbEvents {
    pub action: String,
    pub tier: String,
    /// Nothing where those of all executions are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<Id>,
    pub returned: usize,
    /// Ask with it as `after` for those that follow.
    pub next_cursor: Option<String>,
    pub events: Vec<EhdbEvent>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EhdbEvent {
    pub event_id: Id,
    pub execution_id: Id,
    pub event_type: String,
    pub node_name: Option<String>,
    pub status: String,
    pub created_at: String,
}
