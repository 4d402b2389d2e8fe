//! What the older spellings stand for. Both the rewriting and the comparison of meanings read this.

use crate::keys::TASK;
use crate::kinds::KindSpec;
use crate::yaml::{Entry, Node};

pub(super) const OLD_API_VERSION: &str = "noetl.io/v10";
pub(super) const API_VERSION: &str = "noetl.io/v2";

/// Blocks of assignments in the order in which they are made, with the scope of a key that names none.
pub(super) const ASSIGNMENTS: [(&str, &str); 4] =
    [("vars", "ctx"), ("set_ctx", "ctx"), ("set_iter", "iter"), ("set", "ctx")];

/// Settings of a loop that stand in its `spec` today, with their current names.
pub(super) const LOOP_SETTINGS: [(&str, &str); 3] =
    [("mode", "mode"), ("max_in_flight", "max_in_flight"), ("concurrency", "max_in_flight")];

/// What stands before a key of an older block of assignments today: its scope, unless the key names one.
pub(super) fn scope_prefix(entry: &Entry, scope: &str) -> String {
    let first = entry.key.split('.').next().unwrap_or_default();
    let names_scope = match first {
        "ctx" | "iter" | "step" => entry.key.contains('.') || entry.value.as_map().is_some(),
        "workload" => entry.key.contains('.'),
        _ => false,
    };
    if names_scope { String::new() } else { format!("{scope}.") }
}

/// Whether `args` of a tool are its input, and not a setting of its kind.
pub(super) fn args_are_input(kind: Option<&KindSpec>) -> bool {
    kind.is_none_or(|kind| kind.find_field("args").is_none())
}

/// The current name of a tool's setting, if it is written under an older one and that name is free.
pub(super) fn current_field<'k>(tool: &Node, key: &str, kind: Option<&'k KindSpec>) -> Option<&'k str> {
    let field = kind?.find_field(key)?;
    let is_old = field.older.iter().any(|old| old == key);
    let names = || field.aliases.iter().chain(&field.older).chain([&field.name]);
    let is_only = names().filter(|name| tool.entry(name).is_some()).count() == 1;
    (is_old && is_only).then_some(&*field.name)
}

/// `- label: {kind: …}`: a task whose label is its only key.
pub(super) fn labelled_task(item: &Node) -> Option<&Entry> {
    match item.as_map() {
        Some([only]) if only.value.get("kind").is_some() && TASK.find_key(&only.key).is_none() => Some(only),
        _ => None,
    }
}

/// Whether a rule is written `else:` beside `then`.
pub(super) fn has_else_beside_then(rule: &Node) -> bool {
    rule.get("else").is_some_and(Node::is_null) && rule.get("then").is_some() && rule.get("when").is_none()
}

/// Whether an `else` has what belongs under its `then`.
pub(super) fn has_action_under_else(otherwise: &Node) -> bool {
    otherwise.as_map().is_some_and(|entries| !entries.is_empty()) && otherwise.get("then").is_none()
}
