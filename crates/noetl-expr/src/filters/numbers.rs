//! Filters on numbers, and to numbers.

use minijinja::Error;
use minijinja::filters;
use minijinja::value::{Value as Jinja, ValueKind};

use super::{Call, Filter};
use crate::object::from_jinja;
use crate::operators::{Number, integer};

pub(super) const FILTERS: &[Filter] = &[("bool", 0, bool), ("float", 1, float), ("int", 2, int)];

pub(super) fn of_the_engine() -> [(&'static str, Jinja); 2] {
    [("abs", Jinja::from_function(filters::abs)), ("round", Jinja::from_function(filters::round))]
}

/// Whether a condition takes the value for true.
fn bool(call: &Call) -> Result<Jinja, Error> {
    Ok(Jinja::from(from_jinja(call.input)?.is_truthy()))
}

/// A whole number, or the default (0) when the value is not a number. Fractions are cut off.
fn int(call: &Call) -> Result<Jinja, Error> {
    let default = call.optional(0, "default")?.unwrap_or_else(|| Jinja::from(0));
    let base = call.optional_count(1, "base")?.unwrap_or(10);
    let number = match Number::of(call.input) {
        Some(Number::Int(number)) => Some(number),
        Some(Number::Float(number)) => truncated(number),
        None if call.input.kind() == ValueKind::String => {
            let text = call.input.as_str().unwrap_or_default().trim();
            whole_number(text, base).or_else(|| text.parse().ok().and_then(truncated))
        }
        None => None,
    };
    match number.map(integer) {
        Some(Ok(number)) => Ok(number),
        _ => Ok(default),
    }
}

fn truncated(number: f64) -> Option<i128> {
    number.is_finite().then_some(number as i128)
}

fn whole_number(text: &str, base: usize) -> Option<i128> {
    let base = u32::try_from(base).ok().filter(|base| (2..=36).contains(base))?;
    let prefix = match base {
        2 => "0b",
        8 => "0o",
        16 => "0x",
        _ => "",
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.to_ascii_lowercase().replace('_', "");
    let digits = digits.strip_prefix(prefix).unwrap_or(&digits);
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let number = i128::from_str_radix(digits, base).ok()?;
    Some(if negative { -number } else { number })
}

/// A number with a fraction, or the default (0.0) when the value is not a number.
fn float(call: &Call) -> Result<Jinja, Error> {
    let default = call.optional(0, "default")?.unwrap_or_else(|| Jinja::from(0.0));
    let number = match Number::of(call.input) {
        Some(Number::Int(number)) => Some(number as f64),
        Some(Number::Float(number)) => Some(number),
        None => call.input.as_str().and_then(|text| text.trim().parse().ok()),
    };
    Ok(number.map_or(default, Jinja::from))
}
