//! Expressions made of nothing but paths, literals, operators and choices. They are evaluated directly, which is several times
//! faster than starting the virtual machine; most conditions are of this kind. The operators are the ones that generated code
//! calls, so both ways give the same results.

use minijinja::machinery::ast::{BinOpKind, Expr, UnaryOpKind};
use minijinja::value::Value as Jinja;
use minijinja::{Error, ErrorKind};

use crate::environment::Undefined;
use crate::event_name;
use crate::object::view_to_jinja;
use crate::operators::{self, Binary, Comparison};
use crate::resolve::Path;
use crate::{Scope, program};

#[derive(Debug)]
pub(crate) enum Formula {
    Path(Path),
    Literal(Jinja),
    Not(Box<Formula>),
    And(Box<[Formula; 2]>),
    Or(Box<[Formula; 2]>),
    /// A test, and the values for when it is true and when not.
    Choice(Box<[Formula; 3]>),
    Compare(Comparison, Box<[Formula; 2]>),
    /// The event whose name is compared, and what it is compared with.
    CompareEventName(Comparison, Box<[Formula; 2]>),
    Binary(Binary, Box<[Formula; 2]>),
}

impl Formula {
    /// The formula of an expression; nothing if the expression needs code.
    pub(crate) fn of(expr: &Expr) -> Option<Formula> {
        if let Some(path) = program::plain_path(expr) {
            return Some(Formula::Path(path));
        }
        match expr {
            Expr::Const(literal) => Some(Formula::Literal(literal.value.clone())),
            Expr::UnaryOp(unary) => match unary.op {
                UnaryOpKind::Not => Some(Formula::Not(Box::new(Formula::of(&unary.expr)?))),
                UnaryOpKind::Neg => None,
            },
            Expr::IfExpr(choice) => {
                let otherwise = choice.false_expr.as_ref()?;
                let parts = [
                    Formula::of(&choice.test_expr)?,
                    Formula::of(&choice.true_expr)?,
                    Formula::of(otherwise)?,
                ];
                Some(Formula::Choice(Box::new(parts)))
            }
            Expr::BinOp(binary) => Formula::of_binary(binary.op, &binary.left, &binary.right),
            _ => None,
        }
    }

    fn of_binary(op: BinOpKind, left: &Expr, right: &Expr) -> Option<Formula> {
        let both = || Some(Box::new([Formula::of(left)?, Formula::of(right)?]));
        match op {
            BinOpKind::ScAnd => Some(Formula::And(both()?)),
            BinOpKind::ScOr => Some(Formula::Or(both()?)),
            _ => match operators::operation(op) {
                operators::Operation::Compare(comparison) => {
                    match event_name::operator(comparison, left, right) {
                        Some((_, event, other)) => {
                            let parts = Box::new([Formula::of(event)?, Formula::of(other)?]);
                            Some(Formula::CompareEventName(comparison, parts))
                        }
                        None => Some(Formula::Compare(comparison, both()?)),
                    }
                }
                operators::Operation::Binary(_, binary) => Some(Formula::Binary(binary, both()?)),
                operators::Operation::Logic => None,
            },
        }
    }

    pub(crate) fn value(&self, scope: &Scope, undefined: Undefined) -> Result<Jinja, Error> {
        match self {
            Formula::Path(path) => Ok(path.follow(scope).map_or(Jinja::UNDEFINED, view_to_jinja)),
            Formula::Literal(literal) => Ok(literal.clone()),
            Formula::Not(formula) => Ok(Jinja::from(!formula.truth(scope, undefined)?.1)),
            Formula::And(both) => match both[0].truth(scope, undefined)? {
                (_, true) => both[1].value(scope, undefined),
                (left, false) => Ok(left),
            },
            Formula::Or(both) => match both[0].truth(scope, undefined)? {
                (left, true) => Ok(left),
                (_, false) => both[1].value(scope, undefined),
            },
            Formula::Choice(parts) => {
                let chosen = if parts[0].truth(scope, undefined)?.1 { &parts[1] } else { &parts[2] };
                chosen.value(scope, undefined)
            }
            Formula::Compare(comparison, both) => {
                let [left, right] = &**both;
                let (left, right) = (left.value(scope, undefined)?, right.value(scope, undefined)?);
                operators::compare(undefined, *comparison, &left, &right).map(Jinja::from)
            }
            Formula::CompareEventName(comparison, both) => {
                let [event, other] = &**both;
                let (event, other) = (event.value(scope, undefined)?, other.value(scope, undefined)?);
                event_name::name_holds(*comparison, &event, &other).map(Jinja::from)
            }
            Formula::Binary(binary, both) => {
                let [left, right] = &**both;
                binary(undefined, &left.value(scope, undefined)?, &right.value(scope, undefined)?)
            }
        }
    }

    fn truth(&self, scope: &Scope, undefined: Undefined) -> Result<(Jinja, bool), Error> {
        let value = self.value(scope, undefined)?;
        if value.is_undefined() && undefined == Undefined::Strict {
            return Err(ErrorKind::UndefinedError.into());
        }
        let truth = value.is_true();
        Ok((value, truth))
    }
}
