//! Credentials: access data by name.

use std::fmt;

use noetl_types::Value;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{Id, NumericId};

/// The fields of a credential. They can be sent, not printed.
#[derive(Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SecretData(pub Value);

impl fmt::Debug for SecretData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// What is no object is refused without saying what it is.
impl<'de> Deserialize<'de> for SecretData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SecretData, D::Error> {
        match Value::deserialize(deserializer) {
            Ok(data @ Value::Map(_)) => Ok(SecretData(data)),
            _ => Err(D::Error::custom("expected an object with the fields of the secret")),
        }
    }
}

/// A credential to keep. One of the same name is replaced.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CredentialRequest {
    #[schema(min_length = 1, max_length = 255, pattern = r"^[^\x00-\x1F\x7F]+$")]
    pub name: String,
    /// `bearer`, `basic`, `api_key`, `postgres`…
    #[serde(rename = "type")]
    #[schema(min_length = 1, max_length = 255, pattern = r"^[^\x00-\x1F\x7F]+$")]
    pub kind: String,
    /// The secret fields. They are encrypted before they are stored.
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub data: SecretData,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub meta: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 100)]
    pub tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 10_000)]
    pub description: Option<String>,
}

/// A credential. Its data is there only where it was asked for, by somebody who may see it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Credential {
    pub id: Id,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub meta: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub data: Option<SecretData>,
}

/// Which credentials to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct CredentialQuery {
    /// Only of this type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Only with this text in the name or the description.
    pub q: Option<String>,
    /// Only with all of these tags, which are separated by commas.
    pub tags: Option<String>,
    /// Only names after this one: the `next` of the page before.
    pub after: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    pub limit: Option<u16>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CredentialList {
    /// By name.
    pub items: Vec<Credential>,
    /// What the list was narrowed to.
    pub filter: CredentialFilter,
    /// Where the next page begins, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct CredentialFilter {
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
}

/// What to say about a credential.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct CredentialDetailQuery {
    /// With its data. Needs the scope `worker` or `admin`.
    pub include_data: bool,
    /// When there is no credential of the name, the entry of that name in the keychain of this execution's playbook counts.
    #[param(value_type = Option<Id>)]
    pub execution_id: Option<NumericId>,
    /// Accepted from workers; the execution says enough.
    #[param(value_type = Option<Id>)]
    pub parent_execution_id: Option<NumericId>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CredentialDeleted {
    pub message: String,
    pub id: Id,
}
