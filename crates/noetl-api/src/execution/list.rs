//! Lists of executions.

use std::collections::BTreeMap;

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Id;

/// Which executions to list. All that is given must hold.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ListParameters {
    /// One status or several with commas between them, such as `RUNNING,PAUSED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// A part of the playbook's path. Case does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_execution_id: Option<Id>,
    /// Text in the path, the error or a label as `name=value`, or the beginning of the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Labels that must be there, as `name=value` with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// The worker pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_pool: Option<String>,
    /// Started at this instant (RFC 3339) or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_from: Option<String>,
    /// Started before this instant (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_before: Option<String>,
    /// How many to list: 50 without it, 100 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// How many to pass over, 100,000 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The page, from 1, for clients that count pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u64>,
    /// Only executions older than this one: the last of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Id>,
    /// Only executions newer than this one: the first of the page behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Id>,
}

/// An execution. Instants come under the names of both generations of clients.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Execution {
    pub execution_id: Id,
    pub catalog_id: Id,
    pub path: String,
    pub version: i64,
    /// `PENDING`, `RUNNING`, `PAUSED`, `COMPLETED`, `FAILED` or `CANCELLED`.
    pub status: String,
    pub parent_execution_id: Option<Id>,
    pub started_at: String,
    pub start_time: String,
    pub completed_at: Option<String>,
    pub end_time: Option<String>,
    /// Until now, for one that is not over.
    pub duration_seconds: f64,
    pub duration_human: String,
    /// In percent. Lists say 0 until an execution is over; the detail counts steps.
    pub progress: f64,
    /// The step of the newest event that has one.
    pub current_step: Option<String>,
    pub event_count: u64,
    /// What it came to. Lists leave large results out.
    #[schema(value_type = serde_json::Value)]
    pub result: Value,
    pub error: Option<String>,
    pub labels: BTreeMap<String, String>,
    /// Further facts: `execution_pool`, `trace`.
    #[schema(value_type = serde_json::Value)]
    pub meta: Value,
}
