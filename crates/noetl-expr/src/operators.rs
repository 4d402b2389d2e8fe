//! The operators of expressions. The code that is generated for an expression calls these instead of the engine's own, because
//! they are bounded, know our rules for undefined operands, and say what is wrong in the words of a playbook's author.
//!
//! An undefined operand of arithmetic is an error; a comparison with it is false.

use std::cmp::Ordering;

use minijinja::machinery::ast::BinOpKind;
use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};
use noetl_types::Value;

use crate::environment::Undefined;
use crate::limits;
use crate::object::{LazyObject, ListObject, MapObject, built, forced, from_jinja_nested, is_namespace};
use crate::print::text_of;
use crate::resolve::position;

pub(crate) const NEGATE: &str = "neg";
pub(crate) const ITEM: &str = "[]";
pub(crate) const SLICE: &str = "[:]";
pub(crate) const COMPARE_CHAIN: &str = "<..<";
pub(crate) const EACH: &str = "each-of";
pub(crate) const KEEP: &str = "keep-as-data";
pub(crate) const KEEP_NAMED: &str = "keep";

/// Makes the operators callable from generated code. They share the table of filters, where no name in a template can reach
/// or hide them.
pub(crate) fn register(env: &mut Environment<'static>) {
    for (name, binary) in BINARIES {
        env.add_filter(name, move |state: &State, a: &Jinja, b: &Jinja| binary(mode(state), a, b));
    }
    env.add_filter(NEGATE, negate);
    for (name, comparison) in COMPARISONS {
        env.add_filter(name, move |state: &State, a: &Jinja, b: &Jinja| {
            compare(mode(state), comparison, a, b)
        });
    }
    env.add_filter(COMPARE_CHAIN, compare_chain);
    env.add_filter(ITEM, item);
    env.add_filter(SLICE, slice);
    env.add_filter(EACH, each_of);
    env.add_filter(KEEP, keep_as_data);
    env.add_filter(KEEP_NAMED, keep);
}

/// An operator on two values.
pub(crate) type Binary = fn(Undefined, &Jinja, &Jinja) -> Result<Jinja, Error>;

const BINARIES: [(&str, Binary); 8] = [
    ("+", |_, a, b| add(&forced(a), &forced(b))),
    ("-", |_, a, b| arithmetic("-", &forced(a), &forced(b), i128::checked_sub, |a, b| a - b)),
    ("*", |_, a, b| multiply(&forced(a), &forced(b))),
    ("/", |_, a, b| divide(&forced(a), &forced(b))),
    ("//", |_, a, b| floor_divide("//", &forced(a), &forced(b)).map(|(quotient, _)| quotient)),
    ("%", |_, a, b| floor_divide("%", &forced(a), &forced(b)).map(|(_, remainder)| remainder)),
    ("**", |_, a, b| power(&forced(a), &forced(b))),
    ("~", concatenate),
];

/// What an operator of the syntax means.
pub(crate) enum Operation {
    Binary(&'static str, Binary),
    Compare(Comparison),
    /// `and` and `or`, which do not evaluate both sides.
    Logic,
}

pub(crate) fn operation(op: BinOpKind) -> Operation {
    let at = match op {
        BinOpKind::Add => 0,
        BinOpKind::Sub => 1,
        BinOpKind::Mul => 2,
        BinOpKind::Div => 3,
        BinOpKind::FloorDiv => 4,
        BinOpKind::Rem => 5,
        BinOpKind::Pow => 6,
        BinOpKind::Concat => 7,
        BinOpKind::Eq => return Operation::Compare(Comparison::Equal),
        BinOpKind::Ne => return Operation::Compare(Comparison::NotEqual),
        BinOpKind::Lt => return Operation::Compare(Comparison::Less),
        BinOpKind::Lte => return Operation::Compare(Comparison::LessOrEqual),
        BinOpKind::Gt => return Operation::Compare(Comparison::Greater),
        BinOpKind::Gte => return Operation::Compare(Comparison::GreaterOrEqual),
        BinOpKind::In => return Operation::Compare(Comparison::In),
        BinOpKind::ScAnd | BinOpKind::ScOr => return Operation::Logic,
    };
    let (name, binary) = BINARIES[at];
    Operation::Binary(name, binary)
}

/// How the evaluation that is running takes undefined names.
pub(crate) fn mode(state: &State) -> Undefined {
    match state.undefined_behavior() {
        UndefinedBehavior::Strict => Undefined::Strict,
        _ => Undefined::Lenient,
    }
}

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

const COMPARISONS: [(&str, Comparison); 8] = [
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

/// What a playbook's author calls a value's type.
pub(crate) fn type_name(value: &Jinja) -> &'static str {
    match value.kind() {
        ValueKind::Undefined => "undefined",
        ValueKind::None => "null",
        ValueKind::Bool => "boolean",
        ValueKind::Number => "number",
        ValueKind::String => "text",
        ValueKind::Seq | ValueKind::Iterable => "list",
        ValueKind::Map => "map",
        _ => "function",
    }
}

pub(crate) fn failed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

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

    fn as_f64(self) -> f64 {
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

fn undefined_operand(operator: &str) -> Error {
    Error::new(ErrorKind::UndefinedError, format!("an operand of `{operator}` is undefined"))
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

fn is_list(value: &Jinja) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
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
            let quotient = (a / b).floor();
            Ok((Jinja::from(quotient), Jinja::from(a - quotient * b)))
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

fn negate(value: &Jinja) -> Result<Jinja, Error> {
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
    if a.as_object().is_some() && b.as_object().is_some() {
        if same_container(a, b) {
            return Ok(true);
        }
        limits::spend_work(2 * a.len().unwrap_or(0).min(b.len().unwrap_or(0)))?;
    }
    Ok(a == b)
}

fn same_container(a: &Jinja, b: &Jinja) -> bool {
    if let (Some(a), Some(b)) = (a.downcast_object_ref::<ListObject>(), b.downcast_object_ref::<ListObject>())
    {
        return std::sync::Arc::ptr_eq(&a.items, &b.items);
    }
    if let (Some(a), Some(b)) = (a.downcast_object_ref::<MapObject>(), b.downcast_object_ref::<MapObject>()) {
        return std::sync::Arc::ptr_eq(&a.map, &b.map);
    }
    false
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
        return Ok(Some(a.cmp(b)));
    }
    if is_list(a) && is_list(b) {
        limits::spend_work(a.len().unwrap_or(0).min(b.len().unwrap_or(0)))?;
        return Ok(Some(a.cmp(b)));
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
fn compare_chain(
    state: &State,
    first: &Jinja,
    names: &str,
    rest: minijinja::value::Rest<Jinja>,
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

/// `container[key]`.
fn item(state: &State, container: &Jinja, key: &Jinja) -> Result<Jinja, Error> {
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
fn slice(
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
        let characters: Vec<char> = text.chars().collect();
        return Ok(Jinja::from(
            slice_positions(characters.len(), bounds).map(|at| characters[at]).collect::<String>(),
        ));
    }
    match container.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(Jinja::from(Vec::<Jinja>::new())),
        ValueKind::Seq | ValueKind::Iterable => {
            let (Value::List(items), nesting) = from_jinja_nested(container, 0)? else {
                return Err(failed("only texts and lists can be sliced"));
            };
            let kept = slice_positions(items.len(), bounds).map(|at| items[at].clone()).collect::<Vec<_>>();
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

/// The positions a slice takes from something of this length.
fn slice_positions(
    length: usize,
    (start, stop, step): (Option<i64>, Option<i64>, i64),
) -> impl Iterator<Item = usize> {
    let length = i128::try_from(length).unwrap_or(i128::MAX);
    let step = i128::from(step);
    let (lowest, highest) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let absolute = |bound: i64| {
        let bound = i128::from(bound);
        (if bound < 0 { bound + length } else { bound }).clamp(lowest, highest)
    };
    let (first, end) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
    let mut at = start.map_or(first, absolute);
    let stop = stop.map_or(end, absolute);
    std::iter::from_fn(move || {
        let inside = if step > 0 { at < stop } else { at > stop };
        let position = usize::try_from(at).ok().filter(|_| inside)?;
        at += step;
        Some(position)
    })
}

/// What `{% for %}` goes through.
fn each_of(container: &Jinja) -> Result<Jinja, Error> {
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

/// What is stored in a namespace: plain data, so that namespaces cannot contain each other and nesting stays bounded.
fn keep_as_data(value: &Jinja) -> Result<Jinja, Error> {
    if value.as_object().is_none() {
        return Ok(value.clone());
    }
    if value.downcast_object_ref::<LazyObject>().is_some() {
        return Ok(value.clone());
    }
    let (value, nesting) = from_jinja_nested(value, 0)?;
    Ok(built(&value, nesting))
}

/// What `{% set %}` stores: data or a namespace.
fn keep(value: &Jinja) -> Result<Jinja, Error> {
    match value.as_object() {
        Some(object) if is_namespace(object) => Ok(value.clone()),
        _ => keep_as_data(value),
    }
}
