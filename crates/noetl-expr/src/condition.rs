//! Conditions: `when` of steps, arcs and rules.

use std::sync::Arc;

use noetl_types::Value;

use crate::program::{Program, template_syntax};
use crate::{CompileError, EvalError, Scope, Undefined};

/// A compiled condition.
#[derive(Clone, Debug)]
pub struct Condition {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Value,
    test: Test,
}

#[derive(Debug)]
enum Test {
    Constant(bool),
    Program(Program),
}

impl Condition {
    /// From a YAML value: a boolean stands for itself, text with `{{ }}` or `{% %}` is a template, other text is a bare expression.
    pub fn compile(source: &Value) -> Result<Condition, CompileError> {
        let test = match source {
            Value::Text(text) if template_syntax(text) => {
                Program::template(text.clone()).map(|program| match program.constant_text() {
                    Some(text) => Test::Constant(Value::text(text).is_truthy()),
                    None => Test::Program(program),
                })
            }
            // YAML's words for false are conditions too, though most of them are no expressions of the language.
            Value::Text(text) if noetl_types::text_is_false(text) => Ok(Test::Constant(false)),
            Value::Text(text) => Program::expression(text.clone()).map(Test::Program),
            constant => Ok(Test::Constant(constant.is_truthy())),
        };
        match test {
            Ok(test) => Ok(Condition { inner: Arc::new(Inner { source: source.clone(), test }) }),
            Err(problems) => Err(problems.into_iter().next().map_or_else(
                || CompileError { message: "the condition does not parse".into(), offset: 0, at: Vec::new() },
                |problem| problem.into_error(Vec::new()),
            )),
        }
    }

    /// Whether it holds. An undefined name makes a condition false, not an error.
    pub fn holds(&self, scope: &Scope) -> Result<bool, EvalError> {
        self.holds_with(scope, Undefined::Lenient)
    }

    /// Whether it holds, with a say about undefined names.
    pub fn holds_with(&self, scope: &Scope, undefined: Undefined) -> Result<bool, EvalError> {
        match &self.inner.test {
            Test::Constant(holds) => Ok(*holds),
            Test::Program(program) => {
                let value = program.run_unless_undefined(scope, undefined)?;
                Ok(value.is_some_and(|value| value.is_truthy()))
            }
        }
    }

    /// The condition's value when it needs no evaluation.
    pub fn as_constant(&self) -> Option<bool> {
        match &self.inner.test {
            Test::Constant(holds) => Some(*holds),
            Test::Program(_) => None,
        }
    }

    /// The dotted names it reads, such as `workload.n` or `output.error.kind`, sorted.
    pub fn paths(&self) -> &[String] {
        match &self.inner.test {
            Test::Constant(_) => &[],
            Test::Program(program) => &program.paths,
        }
    }

    /// As it was written.
    pub fn source(&self) -> &Value {
        &self.inner.source
    }
}
