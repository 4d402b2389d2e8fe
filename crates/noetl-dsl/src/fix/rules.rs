//! Rules of a task's policy: `else` and what stands in it.

use super::finder::{Finder, own_entries, own_entry};
use super::rewrite::Edit;
use super::spelling::{has_action_under_else, has_else_beside_then};
use crate::yaml::{Entry, Node, Span, Style};

impl Finder<'_> {
    pub(super) fn rule(&mut self, rule: &Node) {
        if has_else_beside_then(rule)
            && let (Some(otherwise), Some(then)) = (own_entry(rule, "else"), own_entry(rule, "then"))
        {
            self.else_beside_then(rule, otherwise, then);
        }
        for entry in own_entries(rule) {
            match &*entry.key {
                "when" => self.condition(&entry.value),
                "then" => self.action(&entry.value),
                "else" if has_action_under_else(&entry.value) => {
                    self.action_under_else(entry);
                    self.action(&entry.value);
                }
                "else" => own_entries(&entry.value).for_each(|entry| match &*entry.key {
                    "then" => self.action(&entry.value),
                    _ => self.templates(&entry.value),
                }),
                _ => self.templates(&entry.value),
            }
        }
    }

    fn action(&mut self, action: &Node) {
        self.assignments(action, true);
        self.templates(action);
    }

    /// `else: {do: fail}` becomes `else: {then: {do: fail}}`.
    fn action_under_else(&mut self, entry: &Entry) {
        let action = &entry.value;
        if action.has_properties() {
            return;
        }
        if let Some(edits) = self.nested(entry, "then") {
            self.propose(entry.key_span.start, "else: {do: …}", "else: {then: {do: …}}", edits);
        }
    }

    /// Puts the map of an entry under a key of its own.
    pub(super) fn nested(&self, entry: &Entry, key: &str) -> Option<Vec<Edit>> {
        let span = entry.value.span;
        if entry.value.style() == Style::Flow {
            return Some(vec![Edit::insert(span.start, format!("{{{key}: ")), Edit::insert(span.end, "}")]);
        }
        if !self.layout.starts_line(span.start) {
            return None;
        }
        let column = self.layout.column(span.start);
        let step = column.checked_sub(self.layout.column(entry.key_span.start)).filter(|step| *step > 0)?;
        let line = format!("{}{key}:{}", " ".repeat(column), self.layout.line_break());
        let mut edits = vec![Edit::insert(self.layout.line_start(span.start), line)];
        edits.extend(self.layout.shift(span, isize::try_from(step).ok()?)?);
        Some(edits)
    }

    /// `else:` followed by `then:` in the same column gets it as its own.
    fn else_beside_then(&mut self, rule: &Node, otherwise: &Entry, then: &Entry) {
        let follows = rule
            .as_map()
            .unwrap_or_default()
            .windows(2)
            .any(|pair| pair[0].key_span == otherwise.key_span && pair[1].key_span == then.key_span);
        let Some(behind_else) = self.layout.behind_colon(otherwise.key_span).filter(|_| follows) else {
            return;
        };
        let whole = self.layout.entry_span(then);
        let between = Span::new(behind_else, whole.start);
        let edits = match rule.style() {
            Style::Flow if self.layout.is_one_line(between) => {
                Some(vec![Edit::replace(between, " {"), Edit::insert(whole.end, "}")])
            }
            Style::Block if self.layout.starts_line(whole.start) => {
                self.layout.shift(whole, 2).map(|mut edits| {
                    // `else: null` is as good as nothing.
                    edits.push(Edit::delete(Span::new(
                        behind_else,
                        otherwise.value.span.end.max(behind_else),
                    )));
                    edits
                })
            }
            _ => None,
        };
        if let Some(edits) = edits {
            self.propose(otherwise.key_span.start, "else: beside then: …", "else: {then: …}", edits);
        }
    }
}
