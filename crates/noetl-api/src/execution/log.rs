//! What the steps of an execution printed.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Id;

/// Which part of the log to read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct LogParameters {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u16>,
    /// `stdout` or `stderr`; both without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Only what was stored after this place: `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Id>,
    /// How many chunks: 200 without it, 1,000 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LogPage {
    pub execution_id: Id,
    pub logs: Vec<LogLine>,
    /// Where to read on.
    pub next: Id,
    pub has_more: bool,
}

/// Something that an attempt printed, in the pieces in which it came.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LogLine {
    pub cursor: Id,
    pub step: String,
    pub command: String,
    pub attempt: u16,
    /// `stdout` or `stderr`.
    pub stream: String,
    pub at: String,
    pub text: String,
    /// Bytes over the limit that were not kept.
    pub dropped_bytes: u64,
}
