//! Values that are too large for their events.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Id;

/// A value to store.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PutResultRequest {
    /// What it is called, usually the step. It may contain `/`.
    #[schema(min_length = 1, max_length = 1024)]
    pub name: String,
    #[schema(value_type = serde_json::Value)]
    pub data: Value,
    /// How long it matters: `step`, `execution`, `workflow` or `permanent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_step: Option<String>,
    /// After how long it may be removed. It stays while an execution that can reach it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Ttl>,
}

/// Seconds, or a text such as `90s`, `15m`, `12h`, `7d`. At most ten years.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Ttl {
    Seconds(u64),
    Text(String),
}

/// A value that is stored.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StoredResult {
    /// `noetl://execution/<execution>/result/<name>/<id>`
    #[serde(rename = "ref")]
    pub reference: String,
    /// Where it is kept.
    pub store: String,
    pub scope: String,
    pub bytes: u64,
    /// Of its JSON, in hexadecimal.
    pub sha256: String,
    pub expires_at: Option<String>,
}

/// What is known of a stored value without the value.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultInfo {
    #[serde(rename = "ref")]
    pub reference: String,
    pub result_id: Id,
    pub execution_id: Id,
    pub name: String,
    pub scope: String,
    pub source_step: Option<String>,
    pub bytes: u64,
    pub sha256: String,
    pub media_type: String,
    pub created_at: String,
    pub expires_at: Option<String>,
}

/// The stored values of an execution, by id.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultList {
    pub execution_id: Id,
    pub results: Vec<ResultInfo>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultsDeleted {
    pub execution_id: Id,
    pub deleted: u64,
}
