//! What a playbook says, whatever its spelling: equal for a source before and after it is fixed.

use std::sync::Arc;

use noetl_types::{Map, Value};

use super::spelling::{
    API_VERSION, ASSIGNMENTS, LOOP_SETTINGS, OLD_API_VERSION, args_are_input, current_field,
    has_action_under_else, has_else_beside_then, labelled_task, scope_prefix,
};
use super::templates::current_text;
use crate::kinds::KindTable;
use crate::yaml::{Data, Entry, Node};

pub(super) struct Meaning<'k> {
    pub(super) kinds: &'k KindTable,
    /// `outcome` is the older name of `output` here, and not a name of the author's.
    pub(super) renames_outcome: bool,
}

impl Meaning<'_> {
    pub(super) fn playbook(&self, root: &Node) -> Value {
        self.map(root, |entry| match &*entry.key {
            "apiVersion" if entry.value.as_str() == Some(OLD_API_VERSION) => Value::text(API_VERSION),
            "workflow" => self.list(&entry.value, |step| self.step(step)),
            "workbook" => match &entry.value.data {
                Data::Map(_) => self.map(&entry.value, |task| self.workbook_task(&task.value)),
                _ => self.list(&entry.value, |task| self.workbook_task(task)),
            },
            _ => entry.value.to_value(),
        })
    }

    fn workbook_task(&self, node: &Node) -> Value {
        self.map(node, |entry| match &*entry.key {
            "tool" => self.tool(&entry.value),
            _ => self.data(&entry.value),
        })
    }

    fn step(&self, node: &Node) -> Value {
        let has_mode =
            node.get("spec").and_then(|spec| spec.get("next_mode")).is_some_and(|mode| !mode.is_null());
        let step = self.map(node, |entry| match &*entry.key {
            "when" => self.condition(&entry.value),
            "loop" => self.looping(&entry.value),
            "next" => self.router(&entry.value, has_mode),
            "tool" => self.tool(&entry.value),
            _ => self.data(&entry.value),
        });
        self.with_input(self.with_assignments(with_mode(step), node, true), node)
    }

    fn tool(&self, node: &Node) -> Value {
        match &node.data {
            Data::List(_) => self.list(node, |item| self.pipeline_item(item)),
            _ => self.task(node),
        }
    }

    fn pipeline_item(&self, item: &Node) -> Value {
        match labelled_task(item) {
            Some(entry) if entry.value.get("name").is_none() => {
                with(self.task(&entry.value), "name", Value::Text(entry.key.clone()))
            }
            Some(entry) => Value::map([(entry.key.clone(), self.task(&entry.value))]),
            None => self.task(item),
        }
    }

    fn task(&self, node: &Node) -> Value {
        let kind = node.get("kind").and_then(Node::as_str).and_then(|kind| self.kinds.find(kind));
        let mut task = Map::new();
        let Some(entries) = node.as_map() else {
            return self.data(node);
        };
        for entry in entries {
            let field = kind.and_then(|kind| kind.find_field(&entry.key));
            let key = current_field(node, &entry.key, kind).map_or_else(|| entry.key.clone(), Arc::from);
            let value = match &*entry.key {
                "loop" => self.looping(&entry.value),
                "spec" => self.task_spec(&entry.value),
                "tasks" => self.tool(&entry.value),
                _ if field.is_some_and(|field| field.code) => entry.value.to_value(),
                _ => self.data(&entry.value),
            };
            task.insert(key, value);
        }
        let task = self.with_assignments(Value::Map(Arc::new(task)), node, true);
        if args_are_input(kind) { self.with_input(task, node) } else { task }
    }

    fn task_spec(&self, node: &Node) -> Value {
        self.map(node, |entry| match &*entry.key {
            "policy" => self.map(&entry.value, |entry| match &*entry.key {
                "rules" => self.list(&entry.value, |rule| self.rule(rule)),
                _ => self.data(&entry.value),
            }),
            _ => self.data(&entry.value),
        })
    }

    fn rule(&self, node: &Node) -> Value {
        if has_else_beside_then(node) {
            let then = node.get("then").map_or(Value::Null, |then| self.action(then));
            let rule = self.map(node, |entry| self.data(&entry.value));
            return with(without(rule, "then"), "else", Value::map([("then", then)]));
        }
        self.map(node, |entry| match &*entry.key {
            "when" => self.condition(&entry.value),
            "then" => self.action(&entry.value),
            "else" if has_action_under_else(&entry.value) => {
                Value::map([("then", self.action(&entry.value))])
            }
            "else" => self.map(&entry.value, |entry| match &*entry.key {
                "then" => self.action(&entry.value),
                _ => self.data(&entry.value),
            }),
            _ => self.data(&entry.value),
        })
    }

    fn action(&self, node: &Node) -> Value {
        self.with_assignments(self.data(node), node, true)
    }

    fn router(&self, node: &Node, has_mode: bool) -> Value {
        let arcs = |arcs: Value| Value::map([("arcs", arcs)]);
        match &node.data {
            Data::Text(_) => arcs(Value::list([self.arc(node)])),
            Data::List(items) => {
                let router = arcs(self.list(node, |item| self.arc(item)));
                match items.len() > 1 && !has_mode {
                    true => with(router, "spec", Value::map([("mode", Value::text("inclusive"))])),
                    false => router,
                }
            }
            Data::Map(_) if node.get("arcs").is_none() && node.get("step").is_some() => {
                match node.get("spec") {
                    None if node.get("mode").is_none() => arcs(Value::list([self.arc(node)])),
                    _ => self.data(node),
                }
            }
            _ => {
                let router = self.map(node, |entry| match &*entry.key {
                    "arcs" => self.list(&entry.value, |item| self.arc(item)),
                    _ => self.data(&entry.value),
                });
                match (node.get("mode"), node.get("spec")) {
                    (Some(mode), None) => {
                        with(without(router, "mode"), "spec", Value::map([("mode", mode.to_value())]))
                    }
                    _ => router,
                }
            }
        }
    }

    fn arc(&self, node: &Node) -> Value {
        if node.as_text().is_some() {
            return Value::map([("step", node.to_value())]);
        }
        let arc = self.map(node, |entry| match &*entry.key {
            "when" => self.condition(&entry.value),
            _ => self.data(&entry.value),
        });
        self.with_assignments(arc, node, false)
    }

    fn looping(&self, node: &Node) -> Value {
        let mode = |value: Value| match value.as_str() {
            Some("async") => Value::text("parallel"),
            _ => value,
        };
        let looping = self.map(node, |entry| match &*entry.key {
            "mode" => mode(self.data(&entry.value)),
            "spec" => self.map(&entry.value, |entry| match &*entry.key {
                "mode" => mode(self.data(&entry.value)),
                _ => self.data(&entry.value),
            }),
            _ => self.data(&entry.value),
        });
        if node.get("spec").is_some()
            || node.get("max_in_flight").is_some() && node.get("concurrency").is_some()
        {
            return looping;
        }
        let settings: Vec<(&str, Value)> = LOOP_SETTINGS
            .iter()
            .filter_map(|(old, current)| Some((*current, looping.get(old)?.clone())))
            .collect();
        if settings.is_empty() {
            return looping;
        }
        let rest = LOOP_SETTINGS.iter().fold(looping, |looping, (old, _)| without(looping, old));
        with(rest, "spec", Value::map(settings))
    }

    /// All assignments as one list of pairs, in the order in which they are made.
    fn with_assignments(&self, value: Value, node: &Node, has_vars: bool) -> Value {
        let blocks = || ASSIGNMENTS.iter().filter(|(key, _)| has_vars || *key != "vars");
        let is_map =
            |key: &str| node.get(key).is_none_or(|block| block.as_map().is_some() || block.is_null());
        if !blocks().all(|(key, _)| is_map(key)) || !blocks().any(|(key, _)| node.get(key).is_some()) {
            return value;
        }
        let mut pairs = Vec::new();
        let mut rest = value;
        for (key, scope) in blocks() {
            for entry in node.get(key).and_then(Node::as_map).unwrap_or_default() {
                let prefix = if *key == "set" { String::new() } else { scope_prefix(entry, scope) };
                pairs.push(Value::list([
                    Value::text(format!("{prefix}{}", entry.key)),
                    self.data(&entry.value),
                ]));
            }
            rest = without(rest, key);
        }
        with(rest, "set", Value::list(pairs))
    }

    fn with_input(&self, value: Value, node: &Node) -> Value {
        match (node.get("args").filter(|args| args.as_map().is_some()), node.get("input")) {
            (Some(args), None) => with(without(value, "args"), "input", self.data(args)),
            _ => value,
        }
    }

    fn condition(&self, node: &Node) -> Value {
        match node.as_str() {
            Some(text) if self.renames_outcome => Value::text(current_text(text, true)),
            _ => self.data(node),
        }
    }

    /// A value whose texts are templates.
    fn data(&self, node: &Node) -> Value {
        match &node.data {
            Data::Text(text) if self.renames_outcome => Value::text(current_text(text, false)),
            Data::List(_) => self.list(node, |item| self.data(item)),
            Data::Map(_) => self.map(node, |entry| self.data(&entry.value)),
            _ => node.to_value(),
        }
    }

    fn map(&self, node: &Node, mut each: impl FnMut(&Entry) -> Value) -> Value {
        match node.as_map() {
            Some(entries) => Value::map(entries.iter().map(|entry| (entry.key.clone(), each(entry)))),
            None => self.data(node),
        }
    }

    fn list(&self, node: &Node, each: impl FnMut(&Node) -> Value) -> Value {
        match node.as_list() {
            Some(items) => Value::list(items.iter().map(each)),
            None => self.data(node),
        }
    }
}

/// `spec.next_mode` of a step is the mode of its router, if that has none.
fn with_mode(step: Value) -> Value {
    let (Some(spec), Some(next)) = (step.get("spec"), step.get("next")) else {
        return step;
    };
    let takes_mode = next.get("arcs").is_some() && next.get("spec").is_none();
    let Some(mode) = spec.get("next_mode").filter(|mode| takes_mode && mode.as_str().is_some()) else {
        return step;
    };
    let next = with(next.clone(), "spec", Value::map([("mode", mode.clone())]));
    let spec = without(spec.clone(), "next_mode");
    let step = with(step, "next", next);
    match spec.as_map().is_some_and(Map::is_empty) {
        true => without(step, "spec"),
        false => with(step, "spec", spec),
    }
}

fn with(value: Value, key: &str, entry: Value) -> Value {
    let mut map = value.as_map().cloned().unwrap_or_default();
    map.insert(key.into(), entry);
    Value::Map(Arc::new(map))
}

fn without(value: Value, key: &str) -> Value {
    let mut map = value.as_map().cloned().unwrap_or_default();
    map.shift_remove(key);
    Value::Map(Arc::new(map))
}
