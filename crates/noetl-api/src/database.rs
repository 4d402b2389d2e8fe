//! The server's own database, for people who know SQL.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One statement over the server's database.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct SqlRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The same in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_base64: Option<String>,
    /// Values for `?1`, `?2` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    pub parameters: Option<Vec<Value>>,
    /// The statement may change something. Only for callers with the admin scope.
    pub write: bool,
    /// No more rows than these are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000, default = 1000)]
    pub limit: Option<u32>,
    /// Other databases are reached by steps, not here: refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_string: Option<String>,
    /// As `connection_string`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SqlAnswer {
    /// Always `ok`.
    pub status: String,
    pub columns: Vec<String>,
    /// The rows, with their values in the order of the columns.
    #[schema(value_type = Vec<Vec<serde_json::Value>>)]
    pub result: Vec<Vec<Value>>,
    /// There would have been more rows.
    pub truncated: bool,
    /// How many rows the statement has changed.
    pub changed: u64,
}

/// Whether the database is as it should be.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DatabaseState {
    /// `ok` or `error`.
    pub status: String,
    pub message: String,
    pub valid: bool,
    /// The tables and views that are there.
    pub tables: Vec<String>,
    /// Those that should be there too.
    pub missing: Vec<String>,
}
