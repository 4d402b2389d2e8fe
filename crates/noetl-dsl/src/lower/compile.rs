//! Templates and conditions, compiled; their errors point into the YAML text.

use std::sync::Arc;

use noetl_expr::{CompileError, Condition, Template};
use noetl_types::{Map, Value};

use super::Lowering;
use super::context::TemplateUse;
use crate::checks::templates;
use crate::codes;
use crate::scan::{Use, UseKind, uses_in_condition, uses_in_template};
use crate::yaml::{Data, Entry, Node, Span};

impl Lowering<'_> {
    /// Compiles every string in a value.
    pub fn template(&mut self, node: &Node) -> Template {
        let noted = self.uses.len();
        self.note_uses(node);
        let value = node.to_value();
        Template::compile(&value).unwrap_or_else(|errors| {
            for error in errors {
                let (at, offset) = find_error(node, &error);
                self.template_error(at, offset, &error.message, noted);
            }
            Template::literal(value)
        })
    }

    /// As [`Lowering::template`], for a map that is put together from entries of several places.
    pub fn template_of(&mut self, entries: &[Entry]) -> Template {
        let noted = self.uses.len();
        let mut map = Map::new();
        for entry in entries {
            self.note_key_uses(entry);
            self.note_uses(&entry.value);
            map.insert(entry.key.clone(), entry.value.to_value());
        }
        let value = Value::Map(Arc::new(map));
        Template::compile(&value).unwrap_or_else(|errors| {
            for error in errors {
                let entry = error.at.first().and_then(|key| entries.iter().find(|entry| *entry.key == **key));
                match entry {
                    Some(entry) => {
                        let inner = CompileError { at: error.at[1..].to_vec(), ..error };
                        let (at, offset) = find_error(&entry.value, &inner);
                        self.template_error(at, offset, &inner.message, noted);
                    }
                    None => {
                        let span = entries.first().map(|entry| entry.key_span).unwrap_or_default();
                        self.report.add(&codes::TEMPLATE_SYNTAX, span, sentence(&error.message));
                    }
                }
            }
            Template::literal(value)
        })
    }

    pub fn condition(&mut self, node: &Node) -> Condition {
        let noted = self.uses.len();
        if let Some(text) = node.as_str() {
            self.note(node, uses_in_condition(text));
        }
        Condition::compile(&node.to_value()).unwrap_or_else(|error| {
            self.template_error(node, error.offset, &error.message, noted);
            Condition::compile(&Value::Bool(true)).expect("a boolean is a condition")
        })
    }

    /// Code of another language: a template only when it reads like one.
    pub fn code(&mut self, text: &str) -> Template {
        let known = &self.known;
        Template::text_if_known(text, &|name: &str| known.defines(name))
    }

    /// `noted` is how many uses were known before this template: filters and the like that do not exist are reported with
    /// a suggestion when all uses are judged, so they are not reported here.
    fn template_error(&mut self, node: &Node, offset: usize, message: &str, noted: usize) {
        let start = node.source_offset(self.source, offset);
        if self.uses[noted..]
            .iter()
            .any(|found| found.span.start == start && templates::is_unknown_word(found))
        {
            return;
        }
        // What looks like a name in a template that breaks may be something else.
        let uses = self.uses.split_off(noted);
        let is_name = |found: &TemplateUse| matches!(found.kind, UseKind::Name | UseKind::GuardedName);
        self.uses.extend(
            uses.into_iter().filter(|found| !(is_name(found) && node.span.contains(found.span.start))),
        );
        let end = node.source_offset(self.source, offset + 1).max(start);
        self.report.add(&codes::TEMPLATE_SYNTAX, Span::new(start, end), sentence(message));
    }

    fn note_uses(&mut self, node: &Node) {
        match &node.data {
            Data::Text(text) => self.note(node, uses_in_template(text)),
            Data::List(items) => items.iter().for_each(|item| self.note_uses(item)),
            Data::Map(entries) => {
                for entry in entries {
                    self.note_key_uses(entry);
                    self.note_uses(&entry.value);
                }
            }
            _ => {}
        }
    }

    fn note_key_uses(&mut self, entry: &Entry) {
        for found in uses_in_template(&entry.key) {
            self.uses.push(TemplateUse {
                kind: found.kind,
                name: found.name,
                attribute: found.attribute,
                span: entry.key_span,
                is_open: self.names_are_open,
            });
        }
    }

    fn note(&mut self, node: &Node, uses: Vec<Use>) {
        let ends: Vec<usize> =
            uses.iter().flat_map(|found| [found.offset, found.offset + found.name.len()]).collect();
        let places = node.source_offsets(self.source, &ends);
        for (found, place) in uses.into_iter().zip(places.chunks_exact(2)) {
            let (start, end) = (place[0], place[1].max(place[0]));
            self.uses.push(TemplateUse {
                kind: found.kind,
                name: found.name,
                attribute: found.attribute,
                span: Span::new(start, end),
                is_open: self.names_are_open,
            });
        }
    }
}

/// The node an error is about, and the offset in its text.
fn find_error<'n>(mut node: &'n Node, error: &CompileError) -> (&'n Node, usize) {
    for part in &error.at {
        let below = match &node.data {
            Data::Map(_) => node.get(part),
            Data::List(items) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ => None,
        };
        match below {
            Some(below) => node = below,
            // The error is in the key itself.
            None => return (node, 0),
        }
    }
    (node, error.offset)
}

fn sentence(message: &str) -> String {
    format!("the template cannot be compiled: {}", message.trim_end_matches('.'))
}
