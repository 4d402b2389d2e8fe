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

/// Which documents to list. All that are not archived, without it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ListRequest {
    /// The kind; case does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// One path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub include_archived: bool,
    /// With the text of each document.
    pub include_content: bool,
    /// Only the newest version of each path.
    pub latest_only: bool,
    /// Only documents with `metadata.agent: true`.
    pub agent_only: bool,
    /// Only documents whose `metadata.capabilities` has all of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
    /// Only documents registered before this one: the last of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Id>,
    #[schema(minimum = 1, maximum = 10000, default = 1000)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Documents, the newest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Entries {
    pub entries: Vec<Entry>,
}

/// Which agents to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct AgentsRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
}

/// A version of a path, without its content.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct VersionInfo {
    pub version: i64,
    pub catalog_id: Id,
    pub kind: String,
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<String>,
}

/// All versions of a path, the newest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Versions {
    pub path: String,
    pub versions: Vec<VersionInfo>,
}

/// What changed between two versions.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Diff {
    pub path: String,
    pub from: i64,
    pub to: i64,
    /// Lines that only the later one has.
    pub added: usize,
    /// Lines that only the earlier one has.
    pub removed: usize,
    /// Unified diff; empty when nothing changed.
    pub diff: String,
}

/// A path, or one version of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PathRequest {
    #[schema(min_length = 1)]
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangedVersion {
    pub catalog_id: Id,
    pub version: i64,
    /// It is hidden but kept, because executions of it exist.
    pub archived: bool,
}

/// What was deleted.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Deleted {
    /// Always `success`.
    pub status: String,
    pub message: String,
    pub path: String,
    pub deleted: Vec<ChangedVersion>,
    pub count: usize,
}

/// What is visible again.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Restored {
    /// Always `success`.
    pub status: String,
    pub message: String,
    pub path: String,
    pub restored: Vec<ChangedVersion>,
    pub count: usize,
}

/// A document to check.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ValidateRequest {
    /// YAML or JSON text, plain or in base64.
    pub content: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Validated {
    /// It could be registered.
    pub valid: bool,
    /// The errors among the diagnostics, a sentence each.
    pub errors: Vec<String>,
    pub diagnostics: Vec<Diagnostic>,
}

/// The text of a playbook, for editors.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlaybookContent {
    pub playbook_id: Id,
    pub path: String,
    pub version: i64,
    pub content: String,
}

/// The new text of a playbook.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlaybookText {
    /// YAML or JSON text, plain or in base64.
    pub content: String,
}
