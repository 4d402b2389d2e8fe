//! A playbook as a graph: its steps, what leads from one to another, and where they stand in the text.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Id;

/// Which playbook: one of the catalog, or a text that need not be registered.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct OutlineRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog_id: Option<Id>,
    /// YAML or JSON text, plain or in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Outline {
    /// The step at which a run begins.
    pub entry: String,
    /// The step that runs when everything else has come to rest.
    pub final_step: Option<String>,
    /// In the order of the text.
    pub steps: Vec<OutlineStep>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OutlineStep {
    pub name: String,
    pub desc: Option<String>,
    /// The line in the text, from 1.
    pub line: u32,
    /// `sequential`, `parallel` or `cursor`, for a step that repeats.
    #[serde(rename = "loop")]
    pub looping: Option<String>,
    /// What it does; one for a single tool.
    pub tasks: Vec<OutlineTask>,
    /// All arcs that match are taken, not only the first.
    pub inclusive: bool,
    pub arcs: Vec<OutlineArc>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OutlineTask {
    pub label: String,
    pub kind: String,
    pub line: u32,
    /// The first line of its code.
    pub code_line: Option<u32>,
    pub rules: Vec<OutlineRule>,
}

/// What decides about an outcome of a task. Decisions name it by its index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OutlineRule {
    pub line: u32,
    /// Nothing for `else`.
    pub when: Option<String>,
    /// `continue`, `retry`, `break`, `jump` or `fail`.
    pub action: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OutlineArc {
    /// The step that it leads to; `end` where the branch is over.
    pub to: String,
    pub line: u32,
    pub when: Option<String>,
}
