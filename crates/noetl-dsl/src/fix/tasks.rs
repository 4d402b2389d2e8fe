//! Tools: their labels, their `args` and the older names of their settings.

use super::finder::{Finder, own_entries, own_items};
use super::rewrite::Edit;
use super::spelling::{args_are_input, current_field, labelled_task};
use crate::yaml::{Entry, Node, Span, Style, is_plain_text, quoted};

impl Finder<'_> {
    /// A tool, or a list of them.
    pub(super) fn tool(&mut self, node: &Node) {
        if node.as_list().is_none() {
            return self.task(node);
        }
        for item in own_items(node) {
            match labelled_task(item) {
                Some(entry) if !entry.value.is_aliased() => {
                    self.label(item, entry);
                    self.task(&entry.value);
                }
                Some(_) => {}
                None => self.task(item),
            }
        }
    }

    fn task(&mut self, task: &Node) {
        let kind = task.get("kind").and_then(Node::as_str).and_then(|kind| self.kinds.find(kind));
        if args_are_input(kind) {
            self.args(task);
        }
        self.assignments(task, true);
        for entry in own_entries(task) {
            if let Some(current) = current_field(task, &entry.key, kind) {
                self.rename_key(entry, current);
            }
            let is_code = kind.and_then(|kind| kind.find_field(&entry.key)).is_some_and(|field| field.code);
            match &*entry.key {
                "loop" => self.looping(&entry.value),
                "spec" => self.task_spec(&entry.value),
                "tasks" => self.tool(&entry.value),
                _ if is_code => {}
                _ => self.templates(&entry.value),
            }
        }
    }

    fn task_spec(&mut self, spec: &Node) {
        for entry in own_entries(spec) {
            let is_policy = &*entry.key == "policy";
            match own_entries(&entry.value).find(|entry| is_policy && &*entry.key == "rules") {
                Some(rules) => own_items(&rules.value).for_each(|rule| self.rule(rule)),
                None => self.templates(&entry.value),
            }
        }
    }

    /// `- fetch: {kind: http}` becomes `- {name: fetch, kind: http}`.
    fn label(&mut self, item: &Node, entry: &Entry) {
        let tool = &entry.value;
        if tool.get("name").is_some() || tool.has_properties() || item.has_properties() {
            return;
        }
        let label = match is_plain_text(&entry.key) {
            true => self.layout.text(entry.key_span).to_owned(),
            false => quoted(&entry.key),
        };
        let edits = match (item.style(), tool.style()) {
            (Style::Flow, Style::Flow) => self.label_in_two_brackets(item, entry, &label),
            (Style::Block, Style::Flow) => {
                let before = Span::new(entry.key_span.start, tool.span.start + 1);
                self.layout
                    .is_one_line(before)
                    .then(|| vec![Edit::replace(before, format!("{{name: {label}, "))])
            }
            (Style::Block, Style::Block) => self.label_over_lines(entry, &label),
            _ => None,
        };
        if let Some(edits) = edits {
            self.propose(
                entry.key_span.start,
                format!("{}: {{…}}", entry.key),
                format!("name: {}", entry.key),
                edits,
            );
        }
    }

    fn label_in_two_brackets(&self, item: &Node, entry: &Entry, label: &str) -> Option<Vec<Edit>> {
        let opening = Span::new(item.span.start, entry.value.span.start + 1);
        let closing = Span::new(entry.value.span.end, item.span.end);
        let is_plain = self.layout.is_one_line(opening) && self.layout.is_one_line(closing);
        is_plain
            .then(|| vec![Edit::replace(opening, format!("{{name: {label}, ")), Edit::replace(closing, "")])
    }

    fn label_over_lines(&self, entry: &Entry, label: &str) -> Option<Vec<Edit>> {
        let behind_key = self.layout.behind_colon(entry.key_span)?;
        let inside = entry.value.span;
        if !self.layout.starts_line(inside.start) {
            return None;
        }
        let left = self.layout.column(inside.start).checked_sub(self.layout.column(entry.key_span.start))?;
        let mut edits = self.layout.shift(inside, -isize::try_from(left).ok()?)?;
        edits.push(Edit::replace(Span::new(entry.key_span.start, behind_key), format!("name: {label}")));
        Some(edits)
    }
}
