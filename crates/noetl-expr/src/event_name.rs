//! Comparisons of `event.name` that hold for all its synonyms.
//!
//! An event has one canonical name and others that older playbooks use. The scope's `event` carries the canonical one as
//! `name` and all of them as `_names`. A comparison with `event.name` asks whether any of them fits; everything else that
//! uses `event.name` sees the canonical name.

use minijinja::machinery::ast::Expr;
use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{Environment, Error};

use crate::operators::{Comparison, holds};

const EVENT: &str = "event";

/// The operators that take the event in place of its name.
const OPERATORS: [(&str, Comparison); 3] = [
    ("event-name==", Comparison::Equal),
    ("event-name!=", Comparison::NotEqual),
    ("event-name-in", Comparison::In),
];

pub(crate) fn register(env: &mut Environment<'static>) {
    for (name, comparison) in OPERATORS {
        env.add_filter(name, move |event: &Jinja, other: &Jinja| name_holds(comparison, event, other));
    }
}

/// The event of an expression that is its name: `event.name` or `event['name']`.
pub(crate) fn event_of<'e, 'a>(expr: &'e Expr<'a>) -> Option<&'e Expr<'a>> {
    let event = match expr {
        Expr::GetAttr(attr) if attr.name == "name" => &attr.expr,
        Expr::GetItem(item) => match &item.subscript_expr {
            Expr::Const(key) if key.value.as_str() == Some("name") => &item.expr,
            _ => return None,
        },
        _ => return None,
    };
    matches!(event, Expr::Var(var) if var.id == EVENT).then_some(event)
}

/// The operator that compares an event's name, and the two operands in its order. Nothing if no operand is an event's name.
pub(crate) fn operator<'e, 'a>(
    comparison: Comparison,
    left: &'e Expr<'a>,
    right: &'e Expr<'a>,
) -> Option<(&'static str, &'e Expr<'a>, &'e Expr<'a>)> {
    let (name, _) = OPERATORS.iter().find(|(_, known)| *known == comparison)?;
    if let Some(event) = event_of(left) {
        return Some((name, event, right));
    }
    let event = event_of(right).filter(|_| comparison != Comparison::In)?;
    Some((name, event, left))
}

/// Whether any name of the event compares so. In strict mode too an event may be missing: then it has no name.
pub(crate) fn name_holds(comparison: Comparison, event: &Jinja, other: &Jinja) -> Result<bool, Error> {
    let attribute = |key| event.get_attr(key).unwrap_or_default();
    let synonyms = attribute("_names");
    if synonyms.kind() != ValueKind::Seq {
        return holds(comparison, &attribute("name"), other);
    }
    let positive = if comparison == Comparison::In { Comparison::In } else { Comparison::Equal };
    for name in synonyms.try_iter()? {
        if holds(positive, &name, other)? {
            return Ok(comparison != Comparison::NotEqual);
        }
    }
    Ok(comparison == Comparison::NotEqual)
}
