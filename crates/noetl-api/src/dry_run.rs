//! What a run of a playbook would do, without doing it.

use noetl_types::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Id;

/// Which playbook, and what it would be sent: one of the catalog, or a text that need not be registered.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DryRunRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_id: Option<Id>,
    /// YAML or JSON text, plain or in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Laid over the playbook's workload.
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub payload: Value,
    /// Begin at this step instead of the playbook's entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DryRun {
    pub path: String,
    /// The playbook's own values with the payload over them.
    #[schema(value_type = serde_json::Value)]
    pub workload: Value,
    /// The step at which it would begin.
    pub entry: String,
    /// Steps that no arc leads to.
    pub unreachable: Vec<String>,
    pub needs: Needs,
    /// What workers would get first; of a loop one item. What follows depends on what comes of it.
    pub first: Vec<FirstStep>,
}

/// What a run may ask for, as far as the playbook names it without a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Needs {
    pub tools: Vec<String>,
    pub credentials: Vec<String>,
    pub playbooks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FirstStep {
    pub step: String,
    pub calls: Vec<FirstCall>,
    /// Why nothing would be called.
    pub error: Option<String>,
}

/// What the newest command of a step called first, rendered again from what was known then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StepCalls {
    /// The item of the step's loop.
    pub item: Option<u32>,
    pub attempt: Option<u16>,
    pub calls: Vec<FirstCall>,
    /// Why nothing was called.
    pub error: Option<String>,
    /// Why it can't be said.
    pub untold: Option<String>,
}

/// A call of a tool with its templates rendered. Credentials are named in it and not looked up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FirstCall {
    pub label: String,
    pub kind: String,
    /// The line of the task in the text.
    pub line: u32,
    #[schema(value_type = serde_json::Value)]
    pub settings: Value,
    #[schema(value_type = serde_json::Value)]
    pub input: Value,
    /// Its source code.
    pub code: Option<String>,
}
