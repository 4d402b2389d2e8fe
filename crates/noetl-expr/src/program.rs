//! One string of a playbook, compiled: a lone expression, text with expressions in it, or a template with blocks.
//!
//! Code refers to names inside the source it was made from, so a program keeps both together.

use std::fmt;
use std::sync::Arc;

use minijinja::machinery::ast::{Expr, Stmt};
use minijinja::machinery::{CodeGenerator, Instructions, eval, make_string_output, parse, parse_expr};
use minijinja::value::Value as Jinja;
use minijinja::{AutoEscape, Error, ErrorKind};
use noetl_types::Value;
use self_cell::self_cell;

use crate::compile::{Problem, TOO_DEEP};
use crate::environment::{Undefined, environment, syntax};
use crate::formula::Formula;
use crate::inspect::{self, Inspection};
use crate::limits::{self, Evaluation};
use crate::object::{from_jinja_nested, root, view_to_jinja};
use crate::print::{text_of, text_of_value};
use crate::resolve::{Path, Step, whole};
use crate::rewrite::Rewriter;
use crate::template::EvalError;
use crate::{Scope, nesting};

/// A compiled string and the names it reads.
#[derive(Debug)]
pub(crate) struct Program {
    code: Code,
    pub(crate) paths: Vec<String>,
}

self_cell!(
    struct Code {
        owner: Arc<str>,
        #[covariant]
        dependent: Body,
    }
);

enum Body<'a> {
    /// One expression, whose value keeps its type.
    Lone(Expression<'a>),
    /// Text and expressions, printed one after the other.
    Pieces(Vec<Piece<'a>>),
    /// Statements, run as a whole.
    Blocks(Instructions<'a>),
}

enum Piece<'a> {
    Text(&'a str),
    Expression(Expression<'a>),
}

struct Expression<'a> {
    /// As it was written.
    text: &'a str,
    run: Run<'a>,
}

enum Run<'a> {
    /// A plain path, whose value is never touched by the engine.
    Path(Path),
    Formula(Formula),
    Code(Instructions<'a>),
}

/// Whether a string has template syntax in it; without, it is plain text.
pub fn template_syntax(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.windows(2).any(|pair| pair[0] == b'{' && matches!(pair[1], b'{' | b'%' | b'#'))
}

impl Program {
    /// Compiles text with template syntax in it.
    pub(crate) fn template(source: Arc<str>) -> Result<Program, Vec<Problem>> {
        check_nesting(&source, false)?;
        let mut paths = Vec::new();
        let code = Code::try_new(source, |source| {
            let stmt =
                parse(source, "", syntax()).map_err(|error| vec![Problem::of_syntax(&error, source)])?;
            let found = accepted(inspect::template(&stmt))?;
            paths.extend(found.paths.iter().cloned());
            Ok::<_, Vec<Problem>>(Body::of_template(&stmt, &Rewriter { source, bound: &found.bound }))
        })?;
        Ok(Program { code, paths })
    }

    /// Compiles a bare expression.
    pub(crate) fn expression(source: Arc<str>) -> Result<Program, Vec<Problem>> {
        check_nesting(&source, true)?;
        let mut paths = Vec::new();
        let code = Code::try_new(source, |source| {
            let expr = parse_expr(source).map_err(|error| vec![Problem::of_syntax(&error, source)])?;
            let found = accepted(inspect::expression(&expr))?;
            paths.extend(found.paths.iter().cloned());
            let rewriter = Rewriter { source, bound: &found.bound };
            Ok::<_, Vec<Problem>>(Body::Lone(Expression::compile(source.trim(), &expr, &rewriter)))
        })?;
        Ok(Program { code, paths })
    }

    /// The text, when there is nothing to evaluate in it.
    pub(crate) fn constant_text(&self) -> Option<String> {
        let Body::Pieces(pieces) = self.code.borrow_dependent() else {
            return None;
        };
        pieces.iter().map(|piece| if let Piece::Text(text) = piece { Some(*text) } else { None }).collect()
    }

    /// As it was written.
    pub(crate) fn source(&self) -> &str {
        self.code.borrow_owner()
    }

    /// Evaluates once.
    pub(crate) fn run(&self, scope: &Scope, undefined: Undefined) -> Result<Value, EvalError> {
        self.evaluate(scope, undefined).map_err(|fault| self.explain(fault, scope))
    }

    /// Evaluates once; where an undefined name makes it impossible, there is no value.
    pub(crate) fn run_unless_undefined(
        &self,
        scope: &Scope,
        undefined: Undefined,
    ) -> Result<Option<Value>, EvalError> {
        match self.evaluate(scope, undefined) {
            Ok(value) => Ok(Some(value)),
            Err(fault)
                if fault.error.kind() == ErrorKind::UndefinedError && undefined == Undefined::Lenient =>
            {
                Ok(None)
            }
            Err(fault) => Err(self.explain(fault, scope)),
        }
    }

    fn evaluate(&self, scope: &Scope, undefined: Undefined) -> Result<Value, Fault<'_>> {
        let _evaluation = Evaluation::begin();
        let value = match self.code.borrow_dependent() {
            Body::Lone(expression) => expression.value(scope, undefined)?,
            Body::Pieces(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(piece) => text.push_str(piece),
                        Piece::Expression(expression) => expression.print(scope, undefined, &mut text)?,
                    }
                }
                limits::check_text(text.len()).map_err(Fault::somewhere)?;
                Value::text(text)
            }
            Body::Blocks(code) => {
                let mut text = String::new();
                executed(code, scope, undefined, &mut text)
                    .and_then(|_| limits::check_text(text.len()))
                    .map_err(Fault::somewhere)?;
                Value::text(text)
            }
        };
        limits::check().map_err(Fault::somewhere)?;
        Ok(value)
    }

    /// The sentence that a playbook's author reads.
    fn explain(&self, fault: Fault<'_>, scope: &Scope) -> EvalError {
        let Fault { error, text } = fault;
        let within = error.range().and_then(|range| self.source().get(range));
        let text = text.or(within).unwrap_or(self.source()).trim();
        let mut cause = match error.kind() {
            ErrorKind::OutOfFuel => format!("it needs more than {} instructions", limits::FUEL),
            ErrorKind::UndefinedError if error.detail().is_none() => "its value is undefined".to_owned(),
            kind => error.detail().map_or_else(|| kind.to_string(), str::to_owned),
        };
        if error.kind() == ErrorKind::UndefinedError
            && let Some(name) = self.undefined_name(scope, text)
        {
            cause = format!("`{name}` is undefined");
        }
        EvalError { message: format!("cannot evaluate `{}`: {cause}", shortened(text)) }
    }

    /// The first undefined name that an expression reads.
    fn undefined_name(&self, scope: &Scope, text: &str) -> Option<&str> {
        let is_undefined = |path: &&String| crate::resolve::follow_dotted(path, scope).is_none();
        let mentioned = self.paths.iter().filter(|path| text.contains(path.as_str())).find(is_undefined);
        mentioned.or_else(|| self.paths.iter().find(is_undefined)).map(String::as_str)
    }
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Body::Lone(_) => "Lone",
            Body::Pieces(_) => "Pieces",
            Body::Blocks(_) => "Blocks",
        })
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({:?})", self.borrow_dependent(), self.borrow_owner())
    }
}

/// Why an evaluation failed, and the text of the expression where that is known.
struct Fault<'a> {
    error: Error,
    text: Option<&'a str>,
}

impl Fault<'_> {
    fn somewhere(error: Error) -> Self {
        Fault { error, text: None }
    }
}

fn check_nesting(source: &str, is_expression: bool) -> Result<(), Vec<Problem>> {
    if source.len() > limits::SOURCE {
        let message = format!("the template is longer than {} MiB", limits::SOURCE >> 20);
        return Err(vec![Problem { offset: 0, message }]);
    }
    nesting::check(source, is_expression)
        .map_err(|too_deep| vec![Problem { offset: too_deep.offset, message: TOO_DEEP.into() }])
}

fn accepted(found: Inspection<'_>) -> Result<Inspection<'_>, Vec<Problem>> {
    if found.problems.is_empty() { Ok(found) } else { Err(found.problems) }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl<'a> Body<'a> {
    fn of_template(stmt: &Stmt<'a>, rewriter: &Rewriter<'_, 'a>) -> Body<'a> {
        let children = match stmt {
            Stmt::Template(template) => &*template.children,
            other => std::slice::from_ref(other),
        };
        if let Some(lone) = lone_expression(children) {
            return Body::Lone(Expression::of_emit(lone, rewriter));
        }
        let pieces = children.iter().map(|child| match child {
            Stmt::EmitRaw(raw) => Some(Piece::Text(raw.raw)),
            Stmt::EmitExpr(_) => Some(Piece::Expression(Expression::of_emit(child, rewriter))),
            _ => None,
        });
        match pieces.collect() {
            Some(pieces) => Body::Pieces(pieces),
            None => {
                let mut generator = CodeGenerator::new("", rewriter.source);
                generator.compile_stmt(&rewriter.stmt(stmt));
                Body::Blocks(generator.finish().0)
            }
        }
    }
}

/// The only expression of a text that has nothing else in it, but for the newlines that end a block of YAML.
fn lone_expression<'s, 'a>(children: &'s [Stmt<'a>]) -> Option<&'s Stmt<'a>> {
    match children {
        [lone @ Stmt::EmitExpr(_)] => Some(lone),
        [lone @ Stmt::EmitExpr(_), Stmt::EmitRaw(rest)]
            if rest.raw.trim_end_matches(['\r', '\n']).is_empty() =>
        {
            Some(lone)
        }
        _ => None,
    }
}

impl<'a> Expression<'a> {
    fn of_emit(stmt: &Stmt<'a>, rewriter: &Rewriter<'_, 'a>) -> Expression<'a> {
        let Stmt::EmitExpr(emit) = stmt else {
            unreachable!("only expressions are emitted");
        };
        let span = emit.span();
        let written =
            rewriter.source.get(span.start_offset as usize..span.end_offset as usize).unwrap_or_default();
        let text = written.trim_start_matches("{{").trim_start_matches(['-', '+']).trim();
        Expression::compile(text, &emit.expr, rewriter)
    }

    fn compile(text: &'a str, expr: &Expr<'a>, rewriter: &Rewriter<'_, 'a>) -> Expression<'a> {
        let run = match Formula::of(expr) {
            Some(Formula::Path(path)) => Run::Path(path),
            Some(formula) => Run::Formula(formula),
            None => Run::Code(generated(expr, rewriter)),
        };
        Expression { text, run }
    }

    fn value(&self, scope: &Scope, undefined: Undefined) -> Result<Value, Fault<'a>> {
        self.try_value(scope, undefined).map_err(|error| Fault { error, text: Some(self.text) })
    }

    fn try_value(&self, scope: &Scope, undefined: Undefined) -> Result<Value, Error> {
        if let Run::Path(path) = &self.run {
            return match path.follow(scope) {
                Some(view) => Ok(whole(view)),
                None if undefined == Undefined::Strict => Err(ErrorKind::UndefinedError.into()),
                None => Ok(Value::Null),
            };
        }
        let (value, built) = from_jinja_nested(&self.execute(scope, undefined)?, 0)?;
        if built > 0 && value.json_size_up_to(limits::RESULT) > limits::RESULT {
            return Err(limits::exceeded(format!("its result is larger than {} MiB", limits::RESULT >> 20)));
        }
        Ok(value)
    }

    fn print(&self, scope: &Scope, undefined: Undefined, out: &mut String) -> Result<(), Fault<'a>> {
        self.try_print(scope, undefined, out).map_err(|error| Fault { error, text: Some(self.text) })
    }

    fn try_print(&self, scope: &Scope, undefined: Undefined, out: &mut String) -> Result<(), Error> {
        let mut append = |text: &str| {
            limits::spend_text(text.len())?;
            out.push_str(text);
            Ok(())
        };
        match &self.run {
            Run::Path(_) => append(&text_of_value(&self.try_value(scope, undefined)?)?),
            _ => append(&text_of(&self.execute(scope, undefined)?)?),
        }
    }

    /// The engine's value of the expression.
    fn execute(&self, scope: &Scope, undefined: Undefined) -> Result<Jinja, Error> {
        let value = match &self.run {
            Run::Path(path) => path.follow(scope).map_or(Jinja::UNDEFINED, view_to_jinja),
            Run::Formula(formula) => formula.value(scope, undefined)?,
            Run::Code(code) => executed(code, scope, undefined, &mut String::new())?,
        };
        if value.is_undefined() && undefined == Undefined::Strict {
            return Err(ErrorKind::UndefinedError.into());
        }
        Ok(value)
    }
}

fn generated<'a>(expr: &Expr<'a>, rewriter: &Rewriter<'_, 'a>) -> Instructions<'a> {
    let mut generator = CodeGenerator::new("", rewriter.source);
    generator.compile_expr(&rewriter.expr(expr));
    generator.finish().0
}

/// Runs code. Statements print into `text`; an expression leaves a value.
fn executed(
    code: &Instructions<'_>,
    scope: &Scope,
    undefined: Undefined,
    text: &mut String,
) -> Result<Jinja, Error> {
    let mut out = make_string_output(text);
    let env = environment(undefined);
    let (value, _) = eval(env, code, root(scope), &Default::default(), &mut out, AutoEscape::None)?;
    Ok(value.unwrap_or_default())
}

/// The path of an expression that is nothing more than one.
pub(crate) fn plain_path(expr: &Expr) -> Option<Path> {
    let mut steps = Vec::new();
    let mut inner = expr;
    let root = loop {
        match inner {
            Expr::Var(root) => break root.id,
            Expr::GetAttr(attr) => {
                steps.push(Step::Key(attr.name.into()));
                inner = &attr.expr;
            }
            Expr::GetItem(item) => {
                steps.push(literal_step(&item.subscript_expr)?);
                inner = &item.expr;
            }
            _ => return None,
        }
    };
    steps.reverse();
    Some(Path { root: root.into(), steps: steps.into() })
}

fn literal_step(subscript: &Expr) -> Option<Step> {
    let value = match subscript {
        Expr::Const(literal) => literal.value.clone(),
        negated @ Expr::UnaryOp(_) => negated.as_const()?,
        _ => return None,
    };
    match value.as_str() {
        Some(key) => Some(Step::Key(key.into())),
        None if value.is_integer() => i64::try_from(value).ok().map(Step::Index),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formulas and generated code are two ways to the same value.
    #[test]
    fn formulas_and_code_agree() {
        let names =
            r#"{"a": 1, "b": 2.5, "s": "x", "t": "", "l": [1, 2], "m": {"k": null}, "yes": true, "z": null}"#;
        let scope = Scope::of(serde_json::from_str(names).expect("JSON"));
        let operands = [
            "a",
            "b",
            "s",
            "t",
            "l",
            "m",
            "m.k",
            "l[1]",
            "yes",
            "z",
            "nope",
            "nope.deep",
            "3",
            "'x'",
            "none",
            "true",
        ];
        let operators = [
            "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in",
            "and", "or",
        ];
        for left in operands {
            for right in operands {
                for operator in operators {
                    agree(&format!("{left} {operator} {right}"), &scope);
                }
                agree(&format!("{left} if {right} else 'other'"), &scope);
                agree(&format!("not {left} and {right} or 5"), &scope);
            }
        }
    }

    fn agree(source: &str, scope: &Scope) {
        let expr = parse_expr(source).expect("an expression");
        let formula = Formula::of(&expr).expect("a formula");
        let code = generated(&expr, &Rewriter { source, bound: &Default::default() });
        for undefined in [Undefined::Lenient, Undefined::Strict] {
            let outcome = |value: Result<Jinja, Error>| match value {
                Ok(value) if value.is_undefined() => Ok(None),
                Ok(value) => from_jinja_nested(&value, 0)
                    .map(|(value, _)| Some(value.to_string()))
                    .map_err(|e| e.kind()),
                Err(error) => Err(error.kind()),
            };
            let direct = outcome(formula.value(scope, undefined));
            let ran = outcome(executed(&code, scope, undefined, &mut String::new()));
            assert_eq!(direct, ran, "{source} ({undefined:?})");
        }
    }
}
