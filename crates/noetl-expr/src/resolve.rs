//! Plain paths such as `start.rows[0].id`, followed through a scope without running any code. Most templates are just that.

use std::sync::Arc;

use noetl_types::Value;

use crate::{Scope, View};

/// Keys under which a step's result answers with itself.
const SELF_ALIASES: [&str; 3] = ["data", "result", "context"];

pub(crate) fn is_self_alias(key: &str) -> bool {
    SELF_ALIASES.contains(&key)
}

/// A name and what is asked of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    pub(crate) root: Arc<str>,
    pub(crate) steps: Box<[Step]>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Key(Arc<str>),
    Index(i64),
}

impl Path {
    /// What the path leads to; nothing when some part of it does not exist.
    pub(crate) fn follow(&self, scope: &Scope) -> Option<View> {
        let mut view = scope.names.get(&self.root)?;
        let mut steps = &*self.steps;
        while let Some((step, rest)) = steps.split_first() {
            view = match (view, step) {
                // Inside plain data nothing is cloned until the end.
                (View::Value(value), _) => return follow_data(&value, steps).map(View::Value),
                (View::Aliased(value), Step::Key(key)) if value.get(key).is_none() => {
                    entry(View::Aliased(value), key)?
                }
                (View::Aliased(value), _) => return follow_data(&value, steps).map(View::Value),
                (View::Lazy(lookup), Step::Key(key)) => lookup.get(key)?,
                (View::Lazy(lookup), Step::Index(_)) => {
                    return follow_data(&lookup.whole()?, steps).map(View::Value);
                }
            };
            steps = rest;
        }
        Some(view)
    }
}

fn follow_data(value: &Value, steps: &[Step]) -> Option<Value> {
    let mut at = value;
    for (done, step) in steps.iter().enumerate() {
        at = match (step, at) {
            (Step::Key(key), at) => at.get(key)?,
            (Step::Index(index), Value::List(items)) => items.get(position(*index, items.len())?)?,
            (Step::Index(index), Value::Text(text)) => {
                return follow_data(&character(text, *index)?, &steps[done + 1..]);
            }
            _ => return None,
        };
    }
    Some(at.clone())
}

/// The character of a text. Negative indexes count from the end.
fn character(text: &str, index: i64) -> Option<Value> {
    let length = if index < 0 { text.chars().count() } else { usize::MAX };
    let character = text.chars().nth(position(index, length)?)?;
    Some(Value::text(character.encode_utf8(&mut [0; 4]) as &str))
}

/// Follows a path that is written with dots only.
pub(crate) fn follow_dotted(dotted: &str, scope: &Scope) -> Option<View> {
    let mut keys = dotted.split('.');
    let mut view = scope.names.get(keys.next()?)?;
    for key in keys {
        view = entry(view, key)?;
    }
    Some(view)
}

/// The entry of something map-like.
pub(crate) fn entry(view: View, key: &str) -> Option<View> {
    match view {
        View::Value(value) => value.get(key).cloned().map(View::Value),
        View::Aliased(value) => match value.get(key) {
            Some(entry) => Some(View::Value(entry.clone())),
            None => is_self_alias(key).then_some(View::Aliased(value)),
        },
        View::Lazy(lookup) => lookup.get(key),
    }
}

/// Where an index that may count from the end points to. It may still be behind the end.
pub(crate) fn position(index: i64, length: usize) -> Option<usize> {
    if index < 0 {
        length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
    } else {
        usize::try_from(index).ok()
    }
}

/// The data of a view. A lazy one without a whole has none and is null.
pub(crate) fn whole(view: View) -> Value {
    match view {
        View::Value(value) | View::Aliased(value) => value,
        View::Lazy(lookup) => lookup.whole().unwrap_or_default(),
    }
}
