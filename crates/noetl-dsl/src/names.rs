//! The names that templates of a playbook may use: those of the language, and those the playbook brings.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::shape::keyed_task;
use crate::yaml::{Data, Node};

/// Names that every template can ask for, wherever it stands. Some have a value only in some places.
pub const LANGUAGE_NAMES: &[&str] = &[
    "workload",
    "ctx",
    "iter",
    "step",
    "steps",
    "input",
    "args",
    "output",
    "outcome",
    "error",
    "event",
    "result",
    "results",
    "response",
    "payload",
    "keychain",
    "execution_id",
    "parent_execution_id",
    "catalog_id",
    "path",
    "version",
    "job",
    "env",
    "server_url",
    "worker_id",
    "command_id",
    "action",
    "node_name",
    "loop_index",
    "loop_event_id",
    "loop",
    "_index",
    "_total",
    "_first",
    "_last",
    "_prev",
    "_task",
    "_attempt",
    "__frame_max_rows",
    // What a subscription puts into the payload of the playbook it starts.
    "message",
    "subscription",
    "source",
    "body",
    "idempotency_key",
    "content_type",
];

/// Names that would be hidden, with everything below them, by a step, task or iterator of that name.
pub(crate) const PROTECTED_NAMES: &[&str] =
    &["workload", "ctx", "iter", "steps", "output", "event", "error", "keychain", "execution_id", "job"];

/// What the playbook itself defines: workload keys, steps, task labels, iterators, inputs, and everything set.
#[derive(Debug, Default)]
pub(crate) struct KnownNames {
    names: BTreeSet<Arc<str>>,
}

impl KnownNames {
    pub fn of(root: &Node) -> KnownNames {
        let mut known = KnownNames::default();
        for entry in root.get("workload").and_then(Node::as_map).unwrap_or_default() {
            known.names.insert(entry.key.clone());
        }
        for key in ["workflow", "workbook"] {
            if let Some(node) = root.get(key) {
                known.collect(node);
            }
        }
        known
    }

    /// Whether something defines this name.
    pub fn defines(&self, name: &str) -> bool {
        LANGUAGE_NAMES.contains(&name) || self.names.contains(name) || is_task_label(name)
    }

    /// Names of the playbook, for suggestions.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Takes every name that is given anywhere below. Data that looks like a definition only makes the set larger.
    fn collect(&mut self, node: &Node) {
        match &node.data {
            Data::List(items) => {
                for item in items {
                    if let Some(entry) = keyed_task(item) {
                        self.names.insert(entry.key.clone());
                    }
                    self.collect(item);
                }
            }
            Data::Map(entries) => {
                for entry in entries {
                    match &*entry.key {
                        "step" | "name" | "iterator" => {
                            self.names.extend(entry.value.as_str().map(Arc::from))
                        }
                        "set" | "set_ctx" | "set_iter" | "vars" => self.assigned(&entry.value),
                        "input" | "args" => {
                            let inputs = entry.value.as_map().unwrap_or_default();
                            self.names.extend(inputs.iter().map(|entry| entry.key.clone()));
                        }
                        _ => {}
                    }
                    self.collect(&entry.value);
                }
            }
            _ => {}
        }
    }

    fn assigned(&mut self, set: &Node) {
        for entry in set.as_map().unwrap_or_default() {
            let mut parts = entry.key.split('.');
            let first = parts.next().unwrap_or_default();
            let name = if matches!(first, "ctx" | "iter" | "step" | "workload") {
                parts.next()
            } else {
                Some(first)
            };
            match name {
                Some(name) => {
                    self.names.insert(Arc::from(name));
                }
                // `set: {ctx: {a: 1}}` assigns the names inside.
                None => {
                    let inside = entry.value.as_map().unwrap_or_default();
                    self.names.extend(inside.iter().map(|entry| entry.key.clone()));
                }
            }
        }
    }
}

/// `task_3`, the label of a task without a name.
fn is_task_label(name: &str) -> bool {
    name.strip_prefix("task_")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}
