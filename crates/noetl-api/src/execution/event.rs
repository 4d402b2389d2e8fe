//! What happened in an execution.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Id;

/// Which events to read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct EventsParameters {
    /// The page, from 1. Pages count from the newest event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Between 10 and 500; 100 without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
    /// Only events after this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_event_id: Option<Id>,
    /// Only events of this type, or of several with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// Read forward: events with a higher `seq`, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_seq: Option<u64>,
    /// Read backward: events with a lower `seq`, newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_seq: Option<u64>,
    /// How many events, for `after_seq` and `before_seq`: 100 without it, 500 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Load values that are stored aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve: Option<bool>,
}

/// One event, in the columns that the event log of NoETL has.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EventRow {
    pub execution_id: Id,
    pub catalog_id: Id,
    pub parent_execution_id: Option<Id>,
    pub event_id: Id,
    pub parent_event_id: Option<Id>,
    /// Its number within the execution, from 1 without gaps.
    pub seq: u64,
    pub event_type: String,
    /// The step; `playbook` for events of the whole execution.
    pub node_id: Option<String>,
    pub node_name: Option<String>,
    /// The kind of tool, or `execution`.
    pub node_type: Option<String>,
    pub status: String,
    pub created_at: String,
    pub timestamp: String,
    /// In seconds.
    pub duration: Option<f64>,
    #[schema(value_type = serde_json::Value)]
    pub context: Value,
    /// `{status, context}`. A value that is stored aside appears as a reference with its small fields.
    #[schema(value_type = serde_json::Value)]
    pub result: Value,
    pub error: Option<String>,
    #[schema(value_type = serde_json::Value)]
    pub meta: Value,
    pub worker_id: Option<String>,
    /// The index of the loop item.
    pub current_index: Option<u32>,
}

/// Where a page is among the others.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Pagination {
    pub page: u64,
    pub page_size: u64,
    pub total_events: u64,
    pub total_pages: u64,
    pub has_next: bool,
    pub has_prev: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EventPage {
    pub execution_id: Id,
    pub events: Vec<EventRow>,
    /// For pages by number.
    pub pagination: Option<Pagination>,
    /// Whether there are more in the direction of reading.
    pub has_more: bool,
}
