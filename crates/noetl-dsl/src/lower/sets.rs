//! Assignments: `set` and its older spellings.

use std::sync::Arc;

use super::Lowering;
use super::context::Write;
use crate::codes;
use crate::plan::{SetEntry, SetScope};
use crate::yaml::{Entry, Node};

impl Lowering<'_> {
    /// Every assignment of a step, task, rule or arc, in document order within each block.
    pub(super) fn assignments(&mut self, owner: &Node) -> Vec<SetEntry> {
        let mut entries = Vec::new();
        for (key, scope) in [
            ("vars", SetScope::Ctx),
            ("set_ctx", SetScope::Ctx),
            ("set_iter", SetScope::Iter),
            ("set", SetScope::Ctx),
        ] {
            for entry in owner.get(key).and_then(Node::as_map).unwrap_or_default() {
                self.assignment(entry, scope, &mut entries);
            }
        }
        entries
    }

    fn assignment(&mut self, entry: &Entry, default_scope: SetScope, entries: &mut Vec<SetEntry>) {
        let (scope, path) = match entry.key.split_once('.') {
            Some((first, rest)) => match scope_named(first) {
                Some(scope) => (scope, rest),
                None if first == "workload" => {
                    self.report.add_with_help(
                        &codes::WORKLOAD_WRITE,
                        entry.key_span,
                        format!("`{}` is kept as `ctx.{rest}`: the workload itself is read only", entry.key),
                        format!("write `ctx.{rest}`"),
                    );
                    (SetScope::Ctx, rest)
                }
                None => (default_scope, &*entry.key),
            },
            // `ctx: {a: 1}` assigns `ctx.a`.
            None => match (scope_named(&entry.key), entry.value.as_map()) {
                (Some(scope), Some(inside)) => {
                    for inner in inside {
                        self.assign(scope, inner.key.clone(), inner, entries);
                    }
                    return;
                }
                _ => (default_scope, &*entry.key),
            },
        };
        if path.split('.').any(str::is_empty) {
            self.report.add(
                &codes::UNKNOWN_VALUE,
                entry.key_span,
                format!("`{}` is not a place to keep a value: a name is missing", entry.key),
            );
            return;
        }
        let path = Arc::from(path);
        self.assign(scope, path, entry, entries);
    }

    fn assign(&mut self, scope: SetScope, path: Arc<str>, entry: &Entry, entries: &mut Vec<SetEntry>) {
        self.writes.push(Write {
            scope,
            path: path.clone(),
            span: entry.key_span,
            in_parallel: self.in_parallel,
        });
        let value = self.template(&entry.value);
        entries.push(SetEntry { scope, path, value });
    }
}

fn scope_named(word: &str) -> Option<SetScope> {
    match word {
        "ctx" => Some(SetScope::Ctx),
        "iter" => Some(SetScope::Iter),
        "step" => Some(SetScope::Step),
        _ => None,
    }
}
