//! Turns the syntax tree of a template into the one that code is generated from: operators become calls of our own (see
//! `operators`), dotted names become one lookup, comparisons of `event.name` learn its synonyms.

use std::collections::HashSet;

use minijinja::machinery::Span;
use minijinja::machinery::ast::{
    BinOp, Call, CallArg, CompareOpKind, Const, Do, EmitExpr, EmitRaw, Expr, Filter, FilterBlock, ForLoop,
    GetAttr, GetItem, IfCond, IfExpr, List, Map, Set, SetBlock, Slice, Spanned, Stmt, Template, Test, Tuple,
    UnaryOp, UnaryOpKind, Var, WithBlock,
};
use minijinja::value::Value as Jinja;

use crate::event_name;
use crate::object::NOW;
use crate::operators::{
    COMPARE_CHAIN, Comparison, EACH, ITEM, KEEP, KEEP_IN_NAMESPACE, KEY, NEGATE, Operation, SLICE, operation,
};

/// What rewriting needs to know about the template.
pub(crate) struct Rewriter<'b, 'a> {
    pub(crate) source: &'a str,
    /// Names that the template itself binds; they are not looked up in the scope.
    pub(crate) bound: &'b HashSet<&'a str>,
}

impl<'a> Rewriter<'_, 'a> {
    pub(crate) fn stmt(&self, stmt: &Stmt<'a>) -> Stmt<'a> {
        match stmt {
            Stmt::Template(node) => {
                Stmt::Template(Spanned::new(Template { children: self.stmts(&node.children) }, node.span()))
            }
            Stmt::EmitExpr(node) => {
                Stmt::EmitExpr(Spanned::new(EmitExpr { expr: self.expr(&node.expr) }, node.span()))
            }
            // Text is printed like a value, so that a loop around it counts it.
            Stmt::EmitRaw(node) => {
                let EmitRaw { raw } = **node;
                Stmt::EmitExpr(Spanned::new(
                    EmitExpr { expr: constant(Jinja::from(raw), node.span()) },
                    node.span(),
                ))
            }
            Stmt::ForLoop(node) => Stmt::ForLoop(Spanned::new(
                ForLoop {
                    target: target(&node.target),
                    iter: operator(EACH, self.expr(&node.iter), [], node.iter.span()),
                    filter_expr: self.optional(&node.filter_expr),
                    recursive: node.recursive,
                    body: self.stmts(&node.body),
                    else_body: self.stmts(&node.else_body),
                },
                node.span(),
            )),
            Stmt::IfCond(node) => Stmt::IfCond(Spanned::new(
                IfCond {
                    expr: self.expr(&node.expr),
                    true_body: self.stmts(&node.true_body),
                    false_body: self.stmts(&node.false_body),
                },
                node.span(),
            )),
            Stmt::WithBlock(node) => {
                let assignments = node
                    .assignments
                    .iter()
                    .map(|(name, value)| (target(name), self.kept(name, value)))
                    .collect();
                Stmt::WithBlock(Spanned::new(
                    WithBlock { assignments, body: self.stmts(&node.body) },
                    node.span(),
                ))
            }
            Stmt::Set(node) => Stmt::Set(Spanned::new(
                Set { target: target(&node.target), expr: self.kept(&node.target, &node.expr) },
                node.span(),
            )),
            Stmt::SetBlock(node) => Stmt::SetBlock(Spanned::new(
                SetBlock {
                    target: target(&node.target),
                    filter: self.optional(&node.filter),
                    body: self.stmts(&node.body),
                },
                node.span(),
            )),
            Stmt::FilterBlock(node) => Stmt::FilterBlock(Spanned::new(
                FilterBlock { filter: self.expr(&node.filter), body: self.stmts(&node.body) },
                node.span(),
            )),
            // Refused when the template was inspected.
            Stmt::AutoEscape(node) => {
                Stmt::Template(Spanned::new(Template { children: self.stmts(&node.body) }, node.span()))
            }
            Stmt::Continue(node) => {
                Stmt::Continue(Spanned::new(minijinja::machinery::ast::Continue, node.span()))
            }
            Stmt::Break(node) => Stmt::Break(Spanned::new(minijinja::machinery::ast::Break, node.span())),
            Stmt::Do(node) => {
                let call = Spanned::new(self.call(&node.call), node.call.span());
                Stmt::Do(Spanned::new(Do { call }, node.span()))
            }
        }
    }

    fn stmts(&self, stmts: &[Stmt<'a>]) -> Vec<Stmt<'a>> {
        stmts.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn optional(&self, expr: &Option<Expr<'a>>) -> Option<Expr<'a>> {
        expr.as_ref().map(|expr| self.expr(expr))
    }

    fn exprs(&self, exprs: &[Expr<'a>]) -> Vec<Expr<'a>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// A value on its way into a variable. What goes into a namespace must be data.
    fn kept(&self, target: &Expr<'a>, value: &Expr<'a>) -> Expr<'a> {
        let keep = if matches!(target, Expr::GetAttr(_)) { KEEP_IN_NAMESPACE } else { KEEP };
        operator(keep, self.expr(value), [], value.span())
    }

    pub(crate) fn expr(&self, expr: &Expr<'a>) -> Expr<'a> {
        if let Some(dotted) = self.dotted(expr) {
            return Expr::Var(Spanned::new(Var { id: dotted }, expr.span()));
        }
        let span = expr.span();
        match expr {
            Expr::Var(node) => Expr::Var(Spanned::new(Var { id: node.id }, span)),
            Expr::Const(node) => constant(node.value.clone(), span),
            Expr::Slice(node) => self.slice(node, span),
            Expr::UnaryOp(node) => self.unary(node, span),
            Expr::BinOp(node) => self.binary(node, span),
            Expr::Compare(node) => {
                let names: Vec<_> = node.ops.iter().map(|op| comparison(op.op).name()).collect();
                let operands = node.ops.iter().map(|op| self.expr(&op.expr));
                let names = constant(Jinja::from(names.join(" ")), span);
                operator(COMPARE_CHAIN, self.expr(&node.expr), std::iter::once(names).chain(operands), span)
            }
            Expr::IfExpr(node) => Expr::IfExpr(Spanned::new(
                IfExpr {
                    test_expr: self.expr(&node.test_expr),
                    true_expr: self.expr(&node.true_expr),
                    false_expr: self.optional(&node.false_expr),
                },
                span,
            )),
            Expr::Filter(node) => Expr::Filter(Spanned::new(
                Filter { name: node.name, expr: self.optional(&node.expr), args: self.args(&node.args) },
                span,
            )),
            Expr::Test(node) => self.test(node, span),
            Expr::GetAttr(node) => {
                Expr::GetAttr(Spanned::new(GetAttr { expr: self.expr(&node.expr), name: node.name }, span))
            }
            Expr::GetItem(node) => self.item(node, span),
            Expr::Call(node) if is_now(node) => Expr::Var(Spanned::new(Var { id: NOW }, span)),
            Expr::Call(node) => Expr::Call(Spanned::new(self.call(node), span)),
            Expr::List(node) => Expr::List(Spanned::new(List { items: self.exprs(&node.items) }, span)),
            Expr::Tuple(node) => Expr::Tuple(Spanned::new(Tuple { items: self.exprs(&node.items) }, span)),
            Expr::Map(node) => {
                let keys = node.keys.iter().map(|key| match key {
                    Expr::Const(literal) => constant(literal.value.clone(), literal.span()),
                    key => operator(KEY, self.expr(key), [], key.span()),
                });
                Expr::Map(Spanned::new(Map { keys: keys.collect(), values: self.exprs(&node.values) }, span))
            }
        }
    }

    fn slice(&self, node: &Slice<'a>, span: Span) -> Expr<'a> {
        let bounds = [&node.start, &node.stop, &node.step]
            .map(|bound| self.optional(bound).unwrap_or_else(|| constant(Jinja::from(()), span)));
        operator(SLICE, self.expr(&node.expr), bounds, span)
    }

    fn item(&self, node: &GetItem<'a>, span: Span) -> Expr<'a> {
        let (container, key) = (self.expr(&node.expr), self.expr(&node.subscript_expr));
        if matches!(&key, Expr::Const(key) if key.value.as_str().is_some()) {
            return Expr::GetItem(Spanned::new(GetItem { expr: container, subscript_expr: key }, span));
        }
        operator(ITEM, container, [key], span)
    }

    fn unary(&self, node: &UnaryOp<'a>, span: Span) -> Expr<'a> {
        match node.op {
            UnaryOpKind::Not => {
                let expr = self.expr(&node.expr);
                Expr::UnaryOp(Spanned::new(UnaryOp { op: UnaryOpKind::Not, expr }, span))
            }
            UnaryOpKind::Neg => match &node.expr {
                Expr::Const(number)
                    if i64::try_from(number.value.clone()).is_ok_and(|number| number >= 0) =>
                {
                    let number = i64::try_from(number.value.clone()).map_or(0, |number| -number);
                    constant(Jinja::from(number), span)
                }
                expr => operator(NEGATE, self.expr(expr), [], span),
            },
        }
    }

    fn binary(&self, node: &BinOp<'a>, span: Span) -> Expr<'a> {
        let name = match operation(node.op) {
            Operation::Binary(name, _) => name,
            Operation::Compare(comparison) => {
                return self.compared(comparison, &node.left, &node.right, span);
            }
            Operation::Logic => {
                let (left, right) = (self.expr(&node.left), self.expr(&node.right));
                return Expr::BinOp(Spanned::new(BinOp { op: node.op, left, right }, span));
            }
        };
        operator(name, self.expr(&node.left), [self.expr(&node.right)], span)
    }

    fn compared(&self, comparison: Comparison, left: &Expr<'a>, right: &Expr<'a>, span: Span) -> Expr<'a> {
        match event_name::operator(comparison, left, right) {
            Some((name, event, other)) => operator(name, self.expr(event), [self.expr(other)], span),
            None => operator(comparison.name(), self.expr(left), [self.expr(right)], span),
        }
    }

    /// `event.name is eq(…)` is a comparison in other words.
    fn test(&self, node: &Test<'a>, span: Span) -> Expr<'a> {
        let comparison = match node.name {
            "eq" | "equalto" => Some(Comparison::Equal),
            "ne" => Some(Comparison::NotEqual),
            "in" => Some(Comparison::In),
            _ => None,
        };
        if let (Some(comparison), [CallArg::Pos(other)], Some(_)) =
            (comparison, &*node.args, event_name::event_of(&node.expr))
        {
            return self.compared(comparison, &node.expr, other, span);
        }
        Expr::Test(Spanned::new(
            Test { name: node.name, expr: self.expr(&node.expr), args: self.args(&node.args) },
            span,
        ))
    }

    fn call(&self, node: &Call<'a>) -> Call<'a> {
        match &node.expr {
            // The callee's name must stay visible to the code generator.
            Expr::Var(var) => {
                let args = self.args(&node.args);
                let args =
                    if var.id == "namespace" { args.into_iter().map(kept_arg).collect() } else { args };
                Call { expr: Expr::Var(Spanned::new(Var { id: var.id }, var.span())), args }
            }
            Expr::GetAttr(method) => Call {
                expr: Expr::GetAttr(Spanned::new(
                    GetAttr { expr: self.expr(&method.expr), name: method.name },
                    method.span(),
                )),
                args: self.args(&node.args),
            },
            callee => Call { expr: self.expr(callee), args: self.args(&node.args) },
        }
    }

    fn args(&self, args: &[CallArg<'a>]) -> Vec<CallArg<'a>> {
        args.iter()
            .map(|arg| match arg {
                CallArg::Pos(expr) => CallArg::Pos(self.expr(expr)),
                CallArg::Kwarg(name, expr) => CallArg::Kwarg(name, self.expr(expr)),
                CallArg::PosSplat(expr) => CallArg::PosSplat(self.expr(expr)),
                CallArg::KwargSplat(expr) => CallArg::KwargSplat(self.expr(expr)),
            })
            .collect()
    }

    /// A name from the scope with keys behind dots, as it stands in the source.
    fn dotted(&self, expr: &Expr<'a>) -> Option<&'a str> {
        let Expr::GetAttr(_) = expr else {
            return None;
        };
        let mut keys = Vec::new();
        let mut inner = expr;
        let root = loop {
            match inner {
                Expr::GetAttr(attr) => {
                    keys.push(attr.name);
                    inner = &attr.expr;
                }
                Expr::Var(root) if root.id != "loop" && !self.bound.contains(root.id) => break root,
                _ => return None,
            }
        };
        let written = self.source.get(root.span().start_offset as usize..expr.span().end_offset as usize)?;
        let parts = std::iter::once(root.id).chain(keys.into_iter().rev());
        written.split('.').eq(parts).then_some(written)
    }
}

fn is_now(call: &Call) -> bool {
    matches!(&call.expr, Expr::Var(var) if var.id == "now") && call.args.is_empty()
}

/// Only data goes into a namespace.
fn kept_arg<'a>(arg: CallArg<'a>) -> CallArg<'a> {
    let keep = |expr: Expr<'a>| {
        let span = expr.span();
        operator(KEEP_IN_NAMESPACE, expr, [], span)
    };
    match arg {
        CallArg::Pos(expr) => CallArg::Pos(keep(expr)),
        CallArg::Kwarg(name, expr) => CallArg::Kwarg(name, keep(expr)),
        splat => splat,
    }
}

fn comparison(op: CompareOpKind) -> Comparison {
    match op {
        CompareOpKind::Eq => Comparison::Equal,
        CompareOpKind::Ne => Comparison::NotEqual,
        CompareOpKind::Lt => Comparison::Less,
        CompareOpKind::Lte => Comparison::LessOrEqual,
        CompareOpKind::Gt => Comparison::Greater,
        CompareOpKind::Gte => Comparison::GreaterOrEqual,
        CompareOpKind::In => Comparison::In,
        CompareOpKind::NotIn => Comparison::NotIn,
    }
}

/// The target of an assignment, which is not an expression to be evaluated.
fn target<'a>(expr: &Expr<'a>) -> Expr<'a> {
    match expr {
        Expr::Var(node) => Expr::Var(Spanned::new(Var { id: node.id }, node.span())),
        Expr::GetAttr(node) => {
            Expr::GetAttr(Spanned::new(GetAttr { expr: target(&node.expr), name: node.name }, node.span()))
        }
        Expr::List(node) => {
            Expr::List(Spanned::new(List { items: node.items.iter().map(target).collect() }, node.span()))
        }
        Expr::Tuple(node) => {
            Expr::Tuple(Spanned::new(Tuple { items: node.items.iter().map(target).collect() }, node.span()))
        }
        other => constant(Jinja::UNDEFINED, other.span()),
    }
}

fn constant<'a>(value: Jinja, span: Span) -> Expr<'a> {
    Expr::Const(Spanned::new(Const { value }, span))
}

/// A call of one of our operators.
fn operator<'a>(
    name: &'static str,
    operand: Expr<'a>,
    others: impl IntoIterator<Item = Expr<'a>>,
    span: Span,
) -> Expr<'a> {
    let args = others.into_iter().map(CallArg::Pos).collect();
    Expr::Filter(Spanned::new(Filter { name, expr: Some(operand), args }, span))
}
