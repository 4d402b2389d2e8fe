//! The catalog: playbooks and other documents by path and version.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::execute::Version;
use crate::{Diagnostic, Id};

/// A document to register.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RegisterRequest {
    /// YAML or JSON text, plain or in base64.
    pub content: String,
    /// The kind, where the document does not say it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Registered {
    /// Always `success`.
    pub status: String,
    pub message: String,
    pub path: String,
    pub version: i64,
    pub catalog_id: Id,
    pub kind: String,
    /// What the checker would like to be known; no errors among it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RegisterBatchRequest {
    #[schema(max_items = 1000)]
    pub items: Vec<RegisterRequest>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RegisteredBatch {
    pub registered: usize,
    pub failed: usize,
    pub results: Vec<RegisteredItem>,
}

/// What came of one document of a batch.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RegisteredItem {
    /// Its place in the request.
    pub index: usize,
    /// `registered` or `failed`.
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog_id: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// A version of a document.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Entry {
    pub catalog_id: Id,
    pub path: String,
    /// Lower case: `playbook`, `subscription`…
    pub kind: String,
    pub version: i64,
    /// The text as it was registered. Lists leave it out unless they are asked for it.
    pub content: Option<String>,
    #[schema(value_type = serde_json::Value)]
    pub layout: Value,
    /// The whole document, as data.
    #[schema(value_type = serde_json::Value)]
    pub payload: Value,
    /// Its labels.
    #[schema(value_type = serde_json::Value)]
    pub meta: Value,
    pub created_at: String,
    /// Since when it is hidden from lookup by path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<String>,
}

/// Which document is meant: an id, or a path with a version.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ResourceRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The newest without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
}
