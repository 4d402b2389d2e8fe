//! The language: the filters, tests and functions that templates can use, and how the engine runs them.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest, Value as Jinja, ValueOrKwargs};
use minijinja::{Environment, Error, State, UndefinedBehavior, functions};
use noetl_types::Value;

use crate::limits;
use crate::object::{built, forced};
use crate::operators::{Number, failed, type_name};
use crate::print::text_of;
use crate::{event_name, filters, methods, operators, predicates};

/// What an undefined name does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undefined {
    /// It is empty, and so is everything asked of it.
    #[default]
    Lenient,
    /// It is an error.
    Strict,
}

/// The filters by name, sorted.
pub fn known_filters() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(filters::names);
    &NAMES
}

/// The tests by name, sorted.
pub fn known_tests() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(predicates::names);
    &NAMES
}

/// The functions by name, sorted.
pub fn known_functions() -> &'static [&'static str] {
    &["dict", "namespace", "now", "range"]
}

/// The methods that data has, by name, sorted.
pub fn known_methods() -> &'static [&'static str] {
    &methods::NAMES
}

/// The syntax of templates: Jinja's, except that the newline at the end of a text is kept.
pub(crate) fn syntax() -> SyntaxConfig {
    static SYNTAX: LazyLock<SyntaxConfig> = LazyLock::new(|| {
        SyntaxConfig::builder().keep_trailing_newline(true).build().expect("the default delimiters are valid")
    });
    SYNTAX.clone()
}

/// The environment in which compiled code runs.
pub(crate) fn environment(undefined: Undefined) -> &'static Environment<'static> {
    static LENIENT: LazyLock<Environment<'static>> = LazyLock::new(|| build(UndefinedBehavior::Chainable));
    static STRICT: LazyLock<Environment<'static>> = LazyLock::new(|| build(UndefinedBehavior::Strict));
    match undefined {
        Undefined::Lenient => &LENIENT,
        Undefined::Strict => &STRICT,
    }
}

fn build(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut env = Environment::empty();
    env.set_undefined_behavior(undefined);
    env.set_fuel(Some(limits::FUEL));
    env.set_recursion_limit(100);
    env.set_debug(false);
    env.set_formatter(|out, _, value| {
        let text = text_of(value)?;
        limits::spend_text(text.len())?;
        out.write_str(&text).map_err(Error::from)
    });
    env.set_unknown_method_callback(methods::call);
    operators::register(&mut env);
    event_name::register(&mut env);
    filters::register(&mut env);
    predicates::register(&mut env);
    env.add_function("range", range);
    env.add_function("dict", |base: Option<Jinja>, entries: Kwargs| {
        let base = base.map(|base| forced(&base));
        limits::spend_work(base.as_ref().and_then(Jinja::len).unwrap_or(0))?;
        functions::dict(base, entries)
    });
    env.add_function("namespace", functions::namespace);
    env
}

/// Whole numbers from the first (0 if only one bound is given) up to, but without, the last.
fn range(_: &mut State<'_, '_>, args: Rest<ValueOrKwargs>) -> Result<Jinja, Error> {
    let mut bounds = Vec::new();
    for arg in args.into_values() {
        match Number::of(&arg) {
            Some(Number::Int(bound)) => bounds.push(bound),
            _ => return Err(failed(format!("`range` takes whole numbers, not {}", type_name(&arg)))),
        }
    }
    let (first, last, step) = match *bounds {
        [last] => (0, last, 1),
        [first, last] => (first, last, 1),
        [first, last, step] => (first, last, step),
        _ => return Err(failed("`range` takes one to three whole numbers")),
    };
    let distance = if step > 0 { last.saturating_sub(first) } else { first.saturating_sub(last) };
    let stride = i128::try_from(step.unsigned_abs()).unwrap_or(i128::MAX);
    if stride == 0 {
        return Err(failed("the step of `range` cannot be 0"));
    }
    let length = (distance.max(0) / stride).saturating_add(i128::from(distance.max(0) % stride != 0));
    limits::spend_items(usize::try_from(length).unwrap_or(usize::MAX))?;
    let numbers = (0..length).map(|at| i64::try_from(first + at * step).map(Value::Int));
    match numbers.collect::<Result<Vec<_>, _>>() {
        Ok(numbers) => Ok(built(&Value::from(numbers), 1)),
        Err(_) => Err(failed("the numbers of `range` do not fit into 64 bits")),
    }
}
