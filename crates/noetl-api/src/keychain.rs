//! The keychain: secrets and tokens of a playbook, kept for a while.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::credentials::SecretData;
use crate::{Id, NumericId};

/// For whom an entry is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeychainScope {
    /// One execution.
    Local,
    /// One execution and those below it.
    Shared,
    /// Every execution of the playbook.
    #[default]
    Global,
}

/// Which entry of that name is meant.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct KeychainQuery {
    #[param(value_type = Option<Id>)]
    pub execution_id: Option<NumericId>,
    #[param(inline)]
    pub scope_type: KeychainScope,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct KeychainRequest {
    /// The secret fields. They are encrypted before they are stored.
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub data: SecretData,
    #[serde(default)]
    pub scope_type: KeychainScope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Id>)]
    pub execution_id: Option<NumericId>,
    /// RFC 3339. Without it and `expires_in` the entry stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Seconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 3_153_600_000_u64)]
    pub expires_in: Option<u64>,
    #[serde(default)]
    pub auto_renew: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub renew_config: Option<Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct KeychainStored {
    /// Always `success`.
    pub status: String,
    pub cache_key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct KeychainEntry {
    /// `found`, `not_found` or `expired`.
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub data: Option<SecretData>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_renew: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_count: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct KeychainDeleted {
    /// `deleted` or `not_found`.
    pub status: String,
    pub cache_key: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct KeychainList {
    pub catalog_id: Id,
    pub entries: Vec<KeychainSummary>,
}

/// An entry without its data.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct KeychainSummary {
    pub keychain_name: String,
    pub scope_type: KeychainScope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<Id>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    pub expired: bool,
    pub access_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accessed_at: Option<String>,
    pub created_at: String,
}
