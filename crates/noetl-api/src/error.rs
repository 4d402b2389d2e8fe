//! How a request is refused.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Every answer that is no success has this body.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// What is wrong, in a sentence.
    pub error: String,
    /// The HTTP status.
    pub status: u16,
    /// A stable name for programs; each has a page under `docs/errors/`.
    pub code: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The same sentence again, for clients that look here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What the checker found, for documents that are refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
}

/// One finding of the checker, with its place.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Diagnostic {
    /// `error`, `warning` or `note`.
    pub severity: String,
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// From 1, like the column.
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The keys that lead there, such as `workflow[2].next.arcs[0].when`.
    pub path: String,
}
