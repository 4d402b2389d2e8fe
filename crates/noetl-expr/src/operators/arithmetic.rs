//! Arithmetic on numbers, and its meaning for texts and lists.

use minijinja::Error;
use minijinja::value::{Value as Jinja, ValueKind};
use noetl_types::Value;

use super::{failed, is_list, type_name, undefined_operand};
use crate::environment::Undefined;
use crate::limits;
use crate::object::{built, forced, from_jinja_nested};
use crate::print::text_of;

/// An operator on two values.
pub(crate) type Binary = fn(Undefined, &Jinja, &Jinja) -> Result<Jinja, Error>;

pub(super) const BINARIES: [(&str, Binary); 8] = [
    ("+", |_, a, b| add(&forced(a), &forced(b))),
    ("-", |_, a, b| arithmetic("-", &forced(a), &forced(b), i128::checked_sub, |a, b| a - b)),
    ("*", |_, a, b| multiply(&forced(a), &forced(b))),
    ("/", |_, a, b| divide(&forced(a), &forced(b))),
    ("//", |_, a, b| floor_divide("//", &forced(a), &forced(b)).map(|(quotient, _)| quotient)),
    ("%", |_, a, b| floor_divide("%", &forced(a), &forced(b)).map(|(_, remainder)| remainder)),
    ("**", |_, a, b| power(&forced(a), &forced(b))),
    ("~", concatenate),
];

/// A number, with integers exact. Booleans count as 0 and 1, as in Python.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    pub(crate) fn of(value: &Jinja) -> Option<Number> {
        match value.kind() {
            ValueKind::Bool => Some(Number::Int(i128::from(value.is_true()))),
            ValueKind::Number if value.is_integer() => i128::try_from(value.clone()).ok().map(Number::Int),
            ValueKind::Number => f64::try_from(value.clone()).ok().map(Number::Float),
            _ => None,
        }
    }

    pub(super) fn as_f64(self) -> f64 {
        match self {
            Number::Int(number) => number as f64,
            Number::Float(number) => number,
        }
    }
}

/// An integer result, if it fits into 64 bits.
pub(crate) fn integer(number: i128) -> Result<Jinja, Error> {
    match (i64::try_from(number), u64::try_from(number)) {
        (Ok(number), _) => Ok(Jinja::from(number)),
        (_, Ok(number)) => Ok(Jinja::from(number)),
        _ => Err(failed("the result does not fit into 64 bits")),
    }
}

fn wrong_types(operator: &str, a: &Jinja, b: &Jinja) -> Error {
    if a.is_undefined() || b.is_undefined() {
        return undefined_operand(operator);
    }
    failed(format!("`{operator}` does not work on {} and {}", type_name(a), type_name(b)))
}

fn arithmetic(
    operator: &str,
    a: &Jinja,
    b: &Jinja,
    integers: fn(i128, i128) -> Option<i128>,
    floats: fn(f64, f64) -> f64,
) -> Result<Jinja, Error> {
    match (Number::of(a), Number::of(b)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => integer(integers(a, b).unwrap_or(i128::MAX)),
        (Some(a), Some(b)) => Ok(Jinja::from(floats(a.as_f64(), b.as_f64()))),
        _ => Err(wrong_types(operator, a, b)),
    }
}

/// Numbers are added; texts and lists are joined.
pub(crate) fn add(a: &Jinja, b: &Jinja) -> Result<Jinja, Error> {
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return joined_text(a, b);
    }
    if is_list(a) && is_list(b) {
        let ((a, a_nesting), (b, b_nesting)) = (from_jinja_nested(a, 0)?, from_jinja_nested(b, 0)?);
        if let (Value::List(a), Value::List(b)) = (a, b) {
            limits::spend_items(a.len() + b.len())?;
            let items = a.iter().chain(b.iter()).cloned().collect::<Vec<_>>();
            return Ok(built(&Value::from(items), a_nesting.max(b_nesting).max(1)));
        }
    }
    arithmetic("+", a, b, i128::checked_add, |a, b| a + b)
}

fn joined_text(a: &str, b: &str) -> Result<Jinja, Error> {
    limits::spend_text(a.len() + b.len())?;
    Ok(Jinja::from([a, b].concat()))
}

/// Numbers are multiplied; a text or a list is repeated.
fn multiply(a: &Jinja, b: &Jinja) -> Result<Jinja, Error> {
    let (repeated, times) = if Number::of(a).is_some() { (b, a) } else { (a, b) };
    if (is_list(repeated) || repeated.as_str().is_some()) && times.is_integer() {
        let times = usize::try_from(i128::try_from(times.clone())?.max(0)).unwrap_or(usize::MAX);
        return repeat(repeated, times);
    }
    arithmetic("*", a, b, i128::checked_mul, |a, b| a * b)
}

fn repeat(value: &Jinja, times: usize) -> Result<Jinja, Error> {
    if let Some(text) = value.as_str() {
        limits::spend_text(text.len().saturating_mul(times))?;
        return Ok(Jinja::from(text.repeat(times)));
    }
    let (Value::List(items), nesting) = from_jinja_nested(value, 0)? else {
        return Err(failed("only texts and lists can be repeated"));
    };
    limits::spend_items(items.len().saturating_mul(times))?;
    let times = if items.is_empty() { 0 } else { times };
    let repeated = std::iter::repeat_n(&*items, times).flatten().cloned().collect::<Vec<_>>();
    Ok(built(&Value::from(repeated), nesting.max(1)))
}

fn divide(a: &Jinja, b: &Jinja) -> Result<Jinja, Error> {
    match (Number::of(a), Number::of(b)) {
        (Some(_), Some(b)) if b.as_f64() == 0.0 => Err(failed("division by zero")),
        (Some(a), Some(b)) => Ok(Jinja::from(a.as_f64() / b.as_f64())),
        _ => Err(wrong_types("/", a, b)),
    }
}

/// Quotient and remainder as Python has them: the quotient is rounded down, the remainder has the sign of the divisor.
fn floor_divide(operator: &str, a: &Jinja, b: &Jinja) -> Result<(Jinja, Jinja), Error> {
    match (Number::of(a), Number::of(b)) {
        (Some(_), Some(b)) if b.as_f64() == 0.0 => Err(failed("division by zero")),
        (Some(Number::Int(a)), Some(Number::Int(b))) => {
            let adjust = a % b != 0 && (a % b < 0) != (b < 0);
            let quotient = a / b - i128::from(adjust);
            Ok((integer(quotient)?, integer(a - quotient * b)?))
        }
        (Some(a), Some(b)) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            let remainder = a % b;
            let remainder =
                if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) { remainder + b } else { remainder };
            Ok((Jinja::from(((a - remainder) / b).round()), Jinja::from(remainder)))
        }
        _ => Err(wrong_types(operator, a, b)),
    }
}

fn power(a: &Jinja, b: &Jinja) -> Result<Jinja, Error> {
    match (Number::of(a), Number::of(b)) {
        (Some(a), Some(b)) if a.as_f64() == 0.0 && b.as_f64() < 0.0 => Err(failed("division by zero")),
        (Some(Number::Int(a)), Some(Number::Int(b))) if b >= 0 => {
            let power = u32::try_from(b).ok().and_then(|b| a.checked_pow(b));
            match (power, a) {
                (Some(power), _) => integer(power),
                (None, 0 | 1) => integer(a),
                (None, -1) => integer(if b % 2 == 0 { 1 } else { -1 }),
                (None, _) => integer(i128::MAX),
            }
        }
        (Some(a), Some(b)) => Ok(Jinja::from(a.as_f64().powf(b.as_f64()))),
        _ => Err(wrong_types("**", a, b)),
    }
}

pub(super) fn negate(value: &Jinja) -> Result<Jinja, Error> {
    match Number::of(value) {
        Some(Number::Int(number)) => integer(-number),
        Some(Number::Float(number)) => Ok(Jinja::from(-number)),
        None if value.is_undefined() => Err(undefined_operand("-")),
        None => Err(failed(format!("`-` does not work on {}", type_name(value)))),
    }
}

/// `~` prints both sides next to each other.
fn concatenate(undefined: Undefined, a: &Jinja, b: &Jinja) -> Result<Jinja, Error> {
    if (a.is_undefined() || b.is_undefined()) && undefined == Undefined::Strict {
        return Err(undefined_operand("~"));
    }
    joined_text(&text_of(a)?, &text_of(b)?)
}
