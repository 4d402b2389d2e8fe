//! Test suites of playbooks, as the user interface keeps them.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestSuite {
    pub suite_id: String,
    pub file_path: Option<String>,
    pub playbook_path: String,
    #[schema(value_type = Vec<serde_json::Value>)]
    pub tests: Vec<Value>,
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub metadata: Value,
    pub updated_at: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PutTestSuite {
    pub playbook_path: String,
    #[serde(default)]
    #[schema(value_type = Vec<serde_json::Value>)]
    pub tests: Vec<Value>,
    #[serde(default)]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub metadata: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestSuites {
    pub suites: Vec<TestSuite>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TestSuiteDeleted {
    pub suite_id: String,
    /// Always true.
    pub deleted: bool,
}
