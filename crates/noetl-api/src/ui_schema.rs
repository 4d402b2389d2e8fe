//! The inputs of a playbook, described for forms.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct UiSchema {
    pub path: String,
    pub version: i64,
    pub kind: String,
    pub title: String,
    pub description_markdown: String,
    /// False when the playbook says `metadata.exposed_in_ui: false`.
    pub exposed_in_ui: bool,
    /// In the order of the document.
    pub fields: Vec<Field>,
    pub generated_at: String,
}

/// One input.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Field {
    pub name: String,
    /// `string`, `integer`, `number`, `boolean`, `array`, `object` or `null`: the type of the default.
    pub kind: String,
    /// Null for a secret.
    #[schema(value_type = serde_json::Value)]
    pub default: Value,
    pub description: Option<String>,
    /// Its value is not to be shown.
    pub secret: bool,
    /// It names a credential; those that fit match this pattern.
    pub credential_glob: Option<String>,
    /// The values to choose from.
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    pub options: Option<Vec<Value>>,
    /// The inputs inside an object.
    #[schema(no_recursion)]
    pub children: Vec<Field>,
}
