//! Items, slices, and what loops go through.

use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{Error, ErrorKind, State};
use noetl_types::Value;

use super::{failed, mode, type_name};
use crate::environment::Undefined;
use crate::limits;
use crate::object::{LazyObject, built, forced, from_jinja_nested};
use crate::resolve::position;

/// `container[key]`.
pub(super) fn item(state: &State, container: &Jinja, key: &Jinja) -> Result<Jinja, Error> {
    if container.is_undefined() && mode(state) == Undefined::Strict {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    // A lazy object answers single keys without being fetched as a whole.
    let container = match (container.downcast_object_ref::<LazyObject>(), key.as_str()) {
        (Some(_), None) => &forced(container),
        _ => container,
    };
    let length = match container.kind() {
        ValueKind::String => {
            limits::spend_reading(container.as_str().map_or(0, str::len))?;
            container.len()
        }
        ValueKind::Iterable => {
            limits::spend_work(container.len().unwrap_or(0))?;
            container.len()
        }
        ValueKind::Seq => container.len(),
        ValueKind::Map => {
            let found = container.as_object().and_then(|map| map.get_value(key));
            return Ok(found.unwrap_or(Jinja::UNDEFINED));
        }
        _ => return Ok(Jinja::UNDEFINED),
    };
    if !key.is_integer() {
        let found = container.as_object().and_then(|object| object.get_value(key));
        return Ok(found.unwrap_or(Jinja::UNDEFINED));
    }
    let index = i64::try_from(key.clone()).ok().and_then(|index| position(index, length.unwrap_or(0)));
    match index {
        Some(index) => container.get_item_by_index(index),
        None => Ok(Jinja::UNDEFINED),
    }
}

/// `container[start:stop:step]`, as in Python.
pub(super) fn slice(
    state: &State,
    container: &Jinja,
    start: &Jinja,
    stop: &Jinja,
    step: &Jinja,
) -> Result<Jinja, Error> {
    if container.is_undefined() && mode(state) == Undefined::Strict {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let step = slice_bound(step)?.unwrap_or(1);
    if step == 0 {
        return Err(failed("the step of a slice cannot be 0"));
    }
    let bounds = (slice_bound(start)?, slice_bound(stop)?, step);
    let container = &forced(container);
    if let Some(text) = container.as_str() {
        limits::spend_reading(text.len())?;
        limits::spend_text(text.len())?;
        return Ok(Jinja::from(text_slice(text, bounds)));
    }
    match container.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(Jinja::from(Vec::<Jinja>::new())),
        ValueKind::Seq | ValueKind::Iterable => {
            let (Value::List(items), nesting) = from_jinja_nested(container, 0)? else {
                return Err(failed("only texts and lists can be sliced"));
            };
            let kept = list_slice(&items, bounds);
            limits::spend_work(kept.len())?;
            Ok(built(&Value::from(kept), nesting))
        }
        _ => Err(failed(format!("a slice does not work on {}", type_name(container)))),
    }
}

fn slice_bound(value: &Jinja) -> Result<Option<i64>, Error> {
    if value.is_none() || value.is_undefined() {
        return Ok(None);
    }
    if !value.is_integer() {
        return Err(failed(format!("the bounds of a slice are whole numbers, not {}", type_name(value))));
    }
    Ok(Some(i64::try_from(value.clone()).unwrap_or(i64::MAX)))
}

/// Start, stop and step of a slice as they were given.
type Bounds = (Option<i64>, Option<i64>, i64);

/// The first position of a slice, how many positions it spans, and how far apart those are that it takes. A slice with a
/// negative step goes down from the first position.
fn slice_span(length: usize, (start, stop, step): Bounds) -> (usize, usize, usize) {
    let length = i128::try_from(length).unwrap_or(i128::MAX);
    let (lowest, highest) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let absolute = |bound: i64| {
        let bound = i128::from(bound);
        (if bound < 0 { bound + length } else { bound }).clamp(lowest, highest)
    };
    let (first, end) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
    let (first, end) = (start.map_or(first, absolute), stop.map_or(end, absolute));
    let span = if step > 0 { end - first } else { first - end };
    let unsigned = |number: i128| usize::try_from(number).unwrap_or(0);
    (unsigned(first), unsigned(span), usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX))
}

fn text_slice(text: &str, bounds: Bounds) -> String {
    let length = text.chars().count();
    let (first, span, stride) = slice_span(length, bounds);
    if bounds.2 > 0 {
        text.chars().skip(first).take(span).step_by(stride).collect()
    } else {
        text.chars().rev().skip(length.saturating_sub(first + 1)).take(span).step_by(stride).collect()
    }
}

fn list_slice(items: &[Value], bounds: Bounds) -> Vec<Value> {
    let (first, span, stride) = slice_span(items.len(), bounds);
    if bounds.2 > 0 {
        items.iter().skip(first).take(span).step_by(stride).cloned().collect()
    } else {
        items
            .iter()
            .rev()
            .skip(items.len().saturating_sub(first + 1))
            .take(span)
            .step_by(stride)
            .cloned()
            .collect()
    }
}

/// What `{% for %}` goes through.
pub(super) fn each_of(container: &Jinja) -> Result<Jinja, Error> {
    let container = forced(container);
    match container.kind() {
        ValueKind::Number | ValueKind::Bool | ValueKind::Plain => {
            return Err(failed(format!("a loop cannot go through {}", type_name(&container))));
        }
        ValueKind::String => limits::spend_reading(container.as_str().map_or(0, str::len))?,
        ValueKind::Iterable => limits::spend_work(container.len().unwrap_or(0))?,
        _ => {}
    }
    Ok(container)
}
