//! The audit trail: who did what to what, and what came of it.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Id;

/// Which entries to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    pub actor: Option<String>,
    pub action: Option<String>,
    pub target: Option<String>,
    pub execution_id: Option<Id>,
    /// RFC 3339; this instant is included.
    pub from: Option<String>,
    /// RFC 3339; this instant is not included.
    pub until: Option<String>,
    /// Only older entries: the `next` of the page before.
    pub before: Option<Id>,
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditList {
    /// Newest first.
    pub items: Vec<AuditEntry>,
    /// Where the next page begins, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Id>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    pub id: Id,
    pub at: String,
    /// The name of a token, or `anonymous` where nobody logs in.
    pub actor: String,
    /// The method and the route, or a name such as `credential.read`.
    pub action: String,
    pub target: String,
    /// `success`, `denied` or `error`.
    pub outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<Id>,
    #[schema(value_type = serde_json::Value)]
    pub details: Value,
}
