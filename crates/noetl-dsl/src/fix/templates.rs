//! `outcome` in templates and conditions, which is `output` today, and `outcome.result`, which is `output.data`.

use super::finder::Finder;
use super::rewrite::{Edit, Rewrite};
use crate::scan::{UseKind, uses_in_condition, uses_in_template};
use crate::yaml::{Data, Node, Span};

const OLD: &str = "outcome";
const CURRENT: &str = "output";
const OLD_DATA: &str = "result";
const CURRENT_DATA: &str = "data";

/// A word of a template and the one to put in its place.
#[derive(Debug, PartialEq, Eq)]
struct Word {
    span: Span,
    current: &'static str,
}

impl Finder<'_> {
    /// Every text in a value.
    pub(super) fn templates(&mut self, node: &Node) {
        if node.is_aliased() || !self.renames_outcome {
            return;
        }
        match &node.data {
            Data::Text(text) => self.words(node, old_words(text, false)),
            Data::List(items) => items.iter().for_each(|item| self.templates(item)),
            Data::Map(entries) => entries.iter().for_each(|entry| self.templates(&entry.value)),
            _ => {}
        }
    }

    /// A template, or a bare expression.
    pub(super) fn condition(&mut self, node: &Node) {
        match node.as_str() {
            Some(text) if self.renames_outcome && !node.is_aliased() => {
                self.words(node, old_words(text, true))
            }
            _ => {}
        }
    }

    fn words(&mut self, node: &Node, words: Vec<Vec<Word>>) {
        let text = node.as_str().unwrap_or_default();
        let places: Vec<usize> = words.iter().flatten().map(|word| word.span.start).collect();
        let mut starts = node.source_offsets(self.layout.source, &places).into_iter();
        for use_of_it in words {
            let mut edits = Vec::new();
            for (word, start) in use_of_it.iter().zip(starts.by_ref()) {
                let span = Span::new(start, start + (word.span.end - word.span.start));
                // A word that is written with escapes is left to its author.
                if self.layout.source.get(span.start..span.end) == Some(&text[word.span.start..word.span.end])
                {
                    edits.push(Edit::replace(span, word.current));
                }
            }
            if edits.len() != use_of_it.len() {
                continue;
            }
            let (from, to) = match edits.len() {
                1 => (OLD.to_owned(), CURRENT.to_owned()),
                _ => (format!("{OLD}.{OLD_DATA}"), format!("{CURRENT}.{CURRENT_DATA}")),
            };
            self.found.push(Rewrite { at: edits[0].span.start, from, to, edits });
        }
    }
}

/// A text with current names.
pub(super) fn current_text(text: &str, is_condition: bool) -> String {
    let mut current = String::with_capacity(text.len());
    let mut at = 0;
    for word in old_words(text, is_condition).into_iter().flatten() {
        current.push_str(&text[at..word.span.start]);
        current.push_str(word.current);
        at = word.span.end;
    }
    current.push_str(&text[at..]);
    current
}

/// The words to change, together for each use of the old name.
fn old_words(text: &str, is_condition: bool) -> Vec<Vec<Word>> {
    let mut uses = if is_condition { uses_in_condition(text) } else { uses_in_template(text) };
    uses.retain(|found| found.name == OLD && matches!(found.kind, UseKind::Name | UseKind::GuardedName));
    uses.sort_by_key(|found| found.offset);
    let words = |at: usize| {
        let name = Span::new(at, at + OLD.len());
        let mut words = vec![Word { span: name, current: CURRENT }];
        words.extend(old_attribute(text, name.end).map(|span| Word { span, current: CURRENT_DATA }));
        words
    };
    uses.into_iter().map(|found| words(found.offset)).collect()
}

/// `.result` or `['result']` behind the old name: where the word stands.
fn old_attribute(text: &str, from: usize) -> Option<Span> {
    let rest = text[from..].trim_start();
    let mark = rest.chars().next().filter(|mark| matches!(mark, '.' | '['))?;
    let mut inside = rest[mark.len_utf8()..].trim_start();
    if mark == '[' {
        inside = inside.strip_prefix(['\'', '"'])?;
    }
    let behind = inside.strip_prefix(OLD_DATA)?;
    let ends = match mark {
        '.' => !behind.starts_with(|next: char| next.is_alphanumeric() || next == '_'),
        _ => behind.starts_with(['\'', '"']),
    };
    let start = text.len() - inside.len();
    ends.then(|| Span::new(start, start + OLD_DATA.len()))
}

/// Whether the author has something of that name, so that templates may mean it.
pub(super) fn is_authors_name(root: &Node) -> bool {
    let is_old = |node: Option<&Node>| node.and_then(Node::as_str) == Some(OLD);
    let has_key = |node: &Node| node.entry(OLD).is_some();
    let assigns = |node: &Node| {
        node.as_map().unwrap_or_default().iter().any(|entry| entry.key.split('.').any(|part| part == OLD))
    };
    root.get("workload").is_some_and(has_key)
        || any_map(root, &|map| {
            let names = ["step", "name", "iterator"].iter().any(|key| is_old(map.get(key)));
            let labels = has_key(map) && map.get(OLD).is_some_and(|value| value.get("kind").is_some());
            let sets = ["set", "set_ctx", "set_iter", "vars", "input", "args"]
                .iter()
                .any(|key| map.get(key).is_some_and(assigns));
            names || labels || sets
        })
}

fn any_map(node: &Node, is_wanted: &dyn Fn(&Node) -> bool) -> bool {
    match &node.data {
        Data::Map(entries) => is_wanted(node) || entries.iter().any(|entry| any_map(&entry.value, is_wanted)),
        Data::List(items) => items.iter().any(|item| any_map(item, is_wanted)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_are_words_of_expressions_only() {
        for (text, current) in [
            ("{{ outcome.status }}", "{{ output.status }}"),
            ("{{ outcome.result.id }} outcome", "{{ output.data.id }} outcome"),
            ("{{ outcome['result'][0] }}", "{{ output['data'][0] }}"),
            ("{{ outcome . result }}", "{{ output . data }}"),
            ("{{ outcome.results }}", "{{ output.results }}"),
            ("{{ x.outcome.result }}", "{{ x.outcome.result }}"),
            ("{{ 'outcome.result' }}", "{{ 'outcome.result' }}"),
            ("{{ outcomes }} {{ my_outcome }}", "{{ outcomes }} {{ my_outcome }}"),
            ("{{ f(outcome=1) }}", "{{ f(outcome=1) }}"),
            (
                "{% if outcome.error %}é{{ outcome.result }}{% endif %}",
                "{% if output.error %}é{{ output.data }}{% endif %}",
            ),
            ("{% set outcome = 1 %}{{ outcome }}", "{% set outcome = 1 %}{{ outcome }}"),
            ("outcome.status", "outcome.status"),
        ] {
            assert_eq!(current_text(text, false), current);
        }
        assert_eq!(current_text("outcome.status == 'outcome'", true), "output.status == 'outcome'");
    }
}
