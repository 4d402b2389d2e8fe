//! The operators of expressions. Generated code calls these instead of the engine's own, because they are bounded, know our
//! rules for undefined operands, and say what is wrong in the words of a playbook's author.
//!
//! An undefined operand of arithmetic is an error; a comparison with it is false.

mod access;
mod arithmetic;
mod comparison;
mod storing;

use minijinja::machinery::ast::BinOpKind;
use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};

use crate::environment::Undefined;

pub(crate) use arithmetic::{Binary, Number, add, integer};
pub(crate) use comparison::{Comparison, compare, holds};

// The names under which generated code finds the operators that have no symbol of their own.
pub(crate) const NEGATE: &str = "neg";
pub(crate) const ITEM: &str = "[]";
pub(crate) const SLICE: &str = "[:]";
pub(crate) const COMPARE_CHAIN: &str = "<..<";
pub(crate) const EACH: &str = "each-of";
pub(crate) const KEEP: &str = "keep";
pub(crate) const KEEP_IN_NAMESPACE: &str = "keep-in-namespace";
pub(crate) const KEY: &str = "key";

/// Makes the operators callable from generated code. They share the engine's table of filters; templates cannot name them,
/// because only known filters compile.
pub(crate) fn register(env: &mut Environment<'static>) {
    for (name, binary) in arithmetic::BINARIES {
        env.add_filter(name, move |state: &State, a: &Jinja, b: &Jinja| binary(mode(state), a, b));
    }
    for (name, comparison) in comparison::COMPARISONS {
        env.add_filter(name, move |state: &State, a: &Jinja, b: &Jinja| {
            compare(mode(state), comparison, a, b)
        });
    }
    env.add_filter(NEGATE, arithmetic::negate);
    env.add_filter(COMPARE_CHAIN, comparison::compare_chain);
    env.add_filter(ITEM, access::item);
    env.add_filter(SLICE, access::slice);
    env.add_filter(EACH, access::each_of);
    env.add_filter(KEEP, storing::keep);
    env.add_filter(KEEP_IN_NAMESPACE, storing::keep_in_namespace);
    env.add_filter(KEY, storing::key);
}

/// What an operator of the syntax means.
pub(crate) enum Operation {
    Binary(&'static str, Binary),
    Compare(Comparison),
    /// `and` and `or`, which do not always evaluate both sides.
    Logic,
}

pub(crate) fn operation(op: BinOpKind) -> Operation {
    let symbol = match op {
        BinOpKind::Add => "+",
        BinOpKind::Sub => "-",
        BinOpKind::Mul => "*",
        BinOpKind::Div => "/",
        BinOpKind::FloorDiv => "//",
        BinOpKind::Rem => "%",
        BinOpKind::Pow => "**",
        BinOpKind::Concat => "~",
        BinOpKind::Eq => return Operation::Compare(Comparison::Equal),
        BinOpKind::Ne => return Operation::Compare(Comparison::NotEqual),
        BinOpKind::Lt => return Operation::Compare(Comparison::Less),
        BinOpKind::Lte => return Operation::Compare(Comparison::LessOrEqual),
        BinOpKind::Gt => return Operation::Compare(Comparison::Greater),
        BinOpKind::Gte => return Operation::Compare(Comparison::GreaterOrEqual),
        BinOpKind::In => return Operation::Compare(Comparison::In),
        BinOpKind::ScAnd | BinOpKind::ScOr => return Operation::Logic,
    };
    let (name, binary) =
        arithmetic::BINARIES.iter().find(|(name, _)| *name == symbol).expect("every symbol has an operator");
    Operation::Binary(name, *binary)
}

/// How the evaluation that is running takes undefined names.
pub(crate) fn mode(state: &State) -> Undefined {
    match state.undefined_behavior() {
        UndefinedBehavior::Strict => Undefined::Strict,
        _ => Undefined::Lenient,
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

fn is_list(value: &Jinja) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

fn undefined_operand(operator: &str) -> Error {
    Error::new(ErrorKind::UndefinedError, format!("an operand of `{operator}` is undefined"))
}
