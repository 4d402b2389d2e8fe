//! Order and equality of data inside the engine. Data can share its parts, so comparing it can take far longer than its size
//! suggests; every step is counted, and when the allowance is used up the comparison ends and the evaluation fails.

use std::cmp::Ordering;
use std::sync::Arc;

use noetl_types::{Map, Value};

use crate::limits;

pub(crate) fn of_lists(a: &Arc<Vec<Value>>, b: &Arc<Vec<Value>>) -> Ordering {
    if Arc::ptr_eq(a, b) {
        return Ordering::Equal;
    }
    let differing = a.iter().zip(b.iter()).map(|(a, b)| of_values(a, b)).find(|order| order.is_ne());
    differing.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Maps with the same entries are equal in whatever order these are.
pub(crate) fn of_maps(a: &Arc<Map>, b: &Arc<Map>) -> Ordering {
    if Arc::ptr_eq(a, b) {
        return Ordering::Equal;
    }
    let is_in_b =
        |(key, value): (&Arc<str>, &Value)| b.get(key).is_some_and(|other| of_values(value, other).is_eq());
    if a.len() == b.len() && a.iter().all(is_in_b) {
        return Ordering::Equal;
    }
    let pairs = a.iter().zip(b.iter());
    let differing =
        pairs.map(|(a, b)| a.0.cmp(b.0).then_with(|| of_values(a.1, b.1))).find(|order| order.is_ne());
    differing.unwrap_or_else(|| a.len().cmp(&b.len()))
}

fn of_values(a: &Value, b: &Value) -> Ordering {
    if !limits::try_spend_one() {
        return Ordering::Equal;
    }
    match (a, b) {
        (Value::List(a), Value::List(b)) => of_lists(a, b),
        (Value::Map(a), Value::Map(b)) => of_maps(a, b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        // The engine knows how numbers compare exactly, and how different types are ordered.
        _ => crate::object::to_jinja(a).cmp(&crate::object::to_jinja(b)),
    }
}

/// Counts everything in a value, for work that goes through all of it.
pub(crate) fn spend_on_all(value: &Value) -> Result<(), minijinja::Error> {
    limits::spend_work(1)?;
    match value {
        Value::List(items) => items.iter().try_for_each(spend_on_all),
        Value::Map(map) => map.values().try_for_each(spend_on_all),
        _ => Ok(()),
    }
}
