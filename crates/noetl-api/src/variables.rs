//! Variables of an execution that tools set and read.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Id;

/// `{"variables": [{"var_name": …, "var_value": …}]}`, or simply `{"<name>": value}`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum SetVariables {
    List(VariableList),
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    Map(std::collections::BTreeMap<String, Value>),
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct VariableList {
    #[schema(max_items = 1000)]
    pub variables: Vec<NewVariable>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NewVariable {
    #[schema(min_length = 1, max_length = 1024)]
    pub var_name: String,
    #[serde(default)]
    #[schema(value_type = serde_json::Value)]
    pub var_value: Value,
    #[serde(default)]
    pub var_type: VariableType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_step: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VariableType {
    #[default]
    UserDefined,
    StepResult,
    Computed,
    IteratorState,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct VariablesSet {
    pub execution_id: Id,
    pub variables_set: usize,
    /// Always `ok`.
    pub status: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Variable {
    pub var_name: String,
    pub var_type: VariableType,
    #[schema(value_type = serde_json::Value)]
    pub var_value: Value,
    pub source_step: Option<String>,
    pub created_at: String,
    pub accessed_at: Option<String>,
    /// How often it was read by name.
    pub access_count: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Variables {
    pub execution_id: Id,
    pub variables: Vec<Variable>,
    pub count: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct VariablesDeleted {
    pub execution_id: Id,
    pub deleted: u64,
    /// Always `ok`.
    pub status: String,
}
