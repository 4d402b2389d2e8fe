//! Comparisons and membership.
//!
//! Containers are compared by the engine, which calls back into `object` for ours; that counts what it goes through.

use std::cmp::Ordering;

use minijinja::value::{Rest, Value as Jinja, ValueKind};
use minijinja::{Error, State};

use super::{Number, failed, is_list, mode, type_name, undefined_operand};
use crate::environment::Undefined;
use crate::limits;
use crate::object::{MapObject, forced};
use crate::print::text_of;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

pub(super) const COMPARISONS: [(&str, Comparison); 8] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
    ("in", Comparison::In),
    ("not-in", Comparison::NotIn),
];

impl Comparison {
    pub(crate) fn name(self) -> &'static str {
        COMPARISONS.iter().find(|(_, comparison)| *comparison == self).map_or("", |(name, _)| name)
    }

    fn of(name: &str) -> Option<Comparison> {
        COMPARISONS.iter().find(|(known, _)| *known == name).map(|(_, comparison)| *comparison)
    }
}

/// Whether a comparison holds, if undefined operands are allowed.
pub(crate) fn compare(
    undefined: Undefined,
    comparison: Comparison,
    a: &Jinja,
    b: &Jinja,
) -> Result<bool, Error> {
    if (a.is_undefined() || b.is_undefined()) && undefined == Undefined::Strict {
        return Err(undefined_operand(comparison.name()));
    }
    holds(comparison, a, b)
}

/// Whether a comparison holds.
pub(crate) fn holds(comparison: Comparison, a: &Jinja, b: &Jinja) -> Result<bool, Error> {
    let (a, b) = (&forced(a), &forced(b));
    Ok(match comparison {
        Comparison::Equal => equal(a, b)?,
        Comparison::NotEqual => !equal(a, b)?,
        Comparison::Less => order(comparison, a, b)?.is_some_and(Ordering::is_lt),
        Comparison::LessOrEqual => order(comparison, a, b)?.is_some_and(Ordering::is_le),
        Comparison::Greater => order(comparison, a, b)?.is_some_and(Ordering::is_gt),
        Comparison::GreaterOrEqual => order(comparison, a, b)?.is_some_and(Ordering::is_ge),
        Comparison::In => contains(b, a)?,
        Comparison::NotIn => !contains(b, a)?,
    })
}

fn equal(a: &Jinja, b: &Jinja) -> Result<bool, Error> {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return Ok(a.len() == b.len() && same_text(a, b)?);
    }
    let equal = a == b;
    limits::check()?;
    Ok(equal)
}

fn same_text(a: &str, b: &str) -> Result<bool, Error> {
    limits::spend_reading(a.len())?;
    Ok(a == b)
}

/// How two values compare; nothing when one of them is undefined or null, or not a number.
fn order(comparison: Comparison, a: &Jinja, b: &Jinja) -> Result<Option<Ordering>, Error> {
    if matches!(a.kind(), ValueKind::Undefined | ValueKind::None)
        || matches!(b.kind(), ValueKind::Undefined | ValueKind::None)
    {
        return Ok(None);
    }
    match (Number::of(a), Number::of(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => return Ok(Some(a.cmp(&b))),
        (Some(Number::Float(a)), Some(Number::Float(b))) => return Ok(a.partial_cmp(&b)),
        (Some(x), Some(y)) if x.as_f64().is_nan() || y.as_f64().is_nan() => return Ok(None),
        (Some(_), Some(_)) => return Ok(Some(numeric(a).cmp(&numeric(b)))),
        _ => {}
    }
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        limits::spend_reading(a.len().min(b.len()))?;
        return Ok(Some(a.cmp(b)));
    }
    if is_list(a) && is_list(b) {
        let order = a.cmp(b);
        limits::check()?;
        return Ok(Some(order));
    }
    Err(failed(format!("`{}` does not work on {} and {}", comparison.name(), type_name(a), type_name(b))))
}

/// A boolean as the number it counts for, so that the engine's exact comparison of integers and floats applies.
fn numeric(value: &Jinja) -> Jinja {
    if value.kind() == ValueKind::Bool { Jinja::from(i64::from(value.is_true())) } else { value.clone() }
}

/// Whether a text has a part, a list an item, a map a key. Nothing is in undefined or null.
fn contains(container: &Jinja, value: &Jinja) -> Result<bool, Error> {
    if let Some(text) = container.as_str() {
        limits::spend_reading(text.len())?;
        return Ok(!value.is_undefined() && text.contains(&*text_of(value)?));
    }
    if let Some(map) = container.downcast_object_ref::<MapObject>() {
        return Ok(value.as_str().is_some_and(|key| map.map.contains_key(key)));
    }
    match container.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(false),
        ValueKind::Map => Ok(container.as_object().is_some_and(|map| map.get_value(value).is_some())),
        ValueKind::Seq | ValueKind::Iterable => {
            limits::spend_work(2 * container.len().unwrap_or(0))?;
            for item in container.try_iter()? {
                if equal(&item, value)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Err(failed(format!("`in` does not work on {}", type_name(container)))),
    }
}

/// `a < b <= c`: the comparisons' names are separated by spaces.
pub(super) fn compare_chain(
    state: &State,
    first: &Jinja,
    names: &str,
    rest: Rest<Jinja>,
) -> Result<bool, Error> {
    let mut left = first;
    for (name, right) in names.split(' ').zip(rest.iter()) {
        let comparison = Comparison::of(name).ok_or_else(|| failed("unknown comparison"))?;
        if !compare(mode(state), comparison, left, right)? {
            return Ok(false);
        }
        left = right;
    }
    Ok(true)
}
