//! The tests: `x is defined`, `x is not none`, and the names that `select` and `selectattr` take.

use minijinja::tests;
use minijinja::value::{Rest, Value as Jinja, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State};

use crate::filters::counted;
use crate::operators::{Comparison, Number, failed, holds};

/// Comparisons under the names that tests have.
const COMPARISONS: [(&str, Comparison); 17] = [
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    ("==", Comparison::Equal),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
    ("eq", Comparison::Equal),
    ("equalto", Comparison::Equal),
    ("ge", Comparison::GreaterOrEqual),
    ("greaterthan", Comparison::Greater),
    ("gt", Comparison::Greater),
    ("in", Comparison::In),
    ("le", Comparison::LessOrEqual),
    ("lessthan", Comparison::Less),
    ("lt", Comparison::Less),
    ("ne", Comparison::NotEqual),
    ("notin", Comparison::NotIn),
];

type Test = (&'static str, fn(&[Jinja]) -> Result<bool, Error>);

const OWN: [Test; 16] = [
    ("boolean", |args| Ok(args[0].kind() == ValueKind::Bool)),
    ("divisibleby", divisible_by),
    ("even", |args| remainder(&args[0], &Jinja::from(2)).map(|rest| rest == Some(0))),
    ("false", |args| Ok(args[0].kind() == ValueKind::Bool && !args[0].is_true())),
    ("float", |args| Ok(args[0].kind() == ValueKind::Number && !args[0].is_integer())),
    ("int", |args| Ok(args[0].is_integer())),
    ("integer", |args| Ok(args[0].is_integer())),
    ("iterable", |args| Ok(!args[0].is_undefined() && !args[0].is_none() && args[0].try_iter().is_ok())),
    ("mapping", |args| Ok(args[0].kind() == ValueKind::Map)),
    ("none", |args| Ok(args[0].is_none())),
    ("null", |args| Ok(args[0].is_none())),
    ("number", |args| Ok(args[0].kind() == ValueKind::Number)),
    ("odd", |args| remainder(&args[0], &Jinja::from(2)).map(|rest| rest.is_some_and(|rest| rest != 0))),
    ("sequence", |args| Ok(matches!(args[0].kind(), ValueKind::Seq | ValueKind::Iterable))),
    ("string", |args| Ok(args[0].kind() == ValueKind::String)),
    ("true", |args| Ok(args[0].kind() == ValueKind::Bool && args[0].is_true())),
];

fn of_the_engine() -> [(&'static str, Jinja); 5] {
    [
        ("endingwith", Jinja::from_function(tests::is_endingwith)),
        ("lower", Jinja::from_function(tests::is_lower)),
        ("sameas", Jinja::from_function(tests::is_sameas)),
        ("startingwith", Jinja::from_function(tests::is_startingwith)),
        ("upper", Jinja::from_function(tests::is_upper)),
    ]
}

pub(crate) fn register(env: &mut Environment<'static>) {
    env.add_test("defined", |value: &Jinja| !value.is_undefined());
    env.add_test("undefined", |value: &Jinja| value.is_undefined());
    for (name, comparison) in COMPARISONS {
        env.add_test(name, move |a: &Jinja, b: &Jinja| holds(comparison, a, b));
    }
    for (name, test) in OWN {
        env.add_test(name, move |state: &State, args: Rest<ValueOrKwargs>| {
            let args = counted(state, args, 0, false)?;
            if args.len() != if name == "divisibleby" { 2 } else { 1 } {
                return Err(failed(format!("the arguments of the test `{name}` do not fit")));
            }
            test(&args)
        });
    }
    for (name, test) in of_the_engine() {
        env.add_test(name, move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
            let args = counted(state, args, 0, false)?;
            test.call(state, &args).map(|result| result.is_true())
        });
    }
}

/// All tests by name, sorted.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = COMPARISONS.iter().map(|(name, _)| *name).collect();
    names.retain(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    names.extend(["defined", "undefined"]);
    names.extend(OWN.iter().map(|(name, _)| *name));
    names.extend(of_the_engine().iter().map(|(name, _)| *name));
    names.sort_unstable();
    names
}

/// Whether `select` and its like know a test by this name. They also know operators.
pub(crate) fn is_known(name: &str) -> bool {
    COMPARISONS.iter().any(|(known, _)| *known == name) || crate::known_tests().contains(&name)
}

fn divisible_by(args: &[Jinja]) -> Result<bool, Error> {
    remainder(&args[0], &args[1]).map(|rest| rest == Some(0))
}

/// The rest of dividing whole numbers; nothing for other values.
fn remainder(value: &Jinja, divisor: &Jinja) -> Result<Option<i128>, Error> {
    match (Number::of(value), Number::of(divisor)) {
        (Some(Number::Int(_)), Some(Number::Int(0))) => Err(failed("division by zero")),
        (Some(Number::Int(value)), Some(Number::Int(divisor))) => Ok(Some(value % divisor)),
        _ => Ok(None),
    }
}
