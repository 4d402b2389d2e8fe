//! From a place in the source to the keys that lead there.

use std::fmt::Write;
use std::sync::Arc;

use crate::yaml::{Data, Node, Span};

/// Where something is, in the document's own terms.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub path: String,
    pub step: Option<Arc<str>>,
}

/// The innermost entry that holds the start of the span. Entries mostly stand in the order of their places, so the likely one is
/// looked at first; aliases and merge keys are why all are looked at then.
pub(crate) fn place_of(root: &Node, span: Span) -> Place {
    let mut place = Place::default();
    let mut node = root;
    let mut depth = 0;
    'down: loop {
        match &node.data {
            Data::Map(entries) => {
                let near =
                    entries.partition_point(|entry| entry.key_span.start <= span.start).saturating_sub(1);
                for entry in entries[near..].iter().take(1).chain(entries) {
                    let in_key = holds(entry.key_span, span);
                    if in_key || holds(entry.value.span, span) {
                        push_key(&mut place.path, &entry.key);
                        if in_key {
                            return place;
                        }
                        node = &entry.value;
                        depth += 1;
                        continue 'down;
                    }
                }
            }
            Data::List(items) => {
                let near = items.partition_point(|item| item.span.start <= span.start).saturating_sub(1);
                for index in std::iter::once(near).chain(0..items.len()).filter(|index| *index < items.len())
                {
                    let item = &items[index];
                    if holds(item.span, span) {
                        let in_workflow = depth == 1 && place.path == "workflow";
                        let _ = write!(place.path, "[{index}]");
                        if in_workflow {
                            place.step = item.get("step").and_then(Node::as_str).map(Arc::from);
                        }
                        node = item;
                        depth += 1;
                        continue 'down;
                    }
                }
            }
            _ => {}
        }
        return place;
    }
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && (inner.start < outer.end || outer.start == inner.start)
}

fn push_key(path: &mut String, key: &str) {
    let plain = !key.is_empty()
        && key.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-');
    let _ = match (path.is_empty(), plain) {
        (true, true) => write!(path, "{key}"),
        (false, true) => write!(path, ".{key}"),
        (_, false) => write!(path, "[{key:?}]"),
    };
}
