//! The configuration that a server runs with.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConfigInEffect {
    /// The configuration file that was read.
    pub file: Option<String>,
    /// In the order of the default file.
    pub settings: Vec<SettingInEffect>,
}

/// A setting with the value that counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SettingInEffect {
    pub key: String,
    /// Null when there is none. Of a secret only that it is set is told.
    #[schema(value_type = serde_json::Value)]
    pub value: Value,
    pub origin: SettingOrigin,
    /// The environment variable that sets it.
    pub variable: String,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "source")]
pub enum SettingOrigin {
    Default,
    File { file: String, line: usize },
    Environment { variable: String },
    Flag { flag: String },
}
