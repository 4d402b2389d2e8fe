//! Templates over whole values: maps and lists are rendered item by item.

use std::collections::BTreeSet;
use std::sync::Arc;

use noetl_types::{Map, Value};

use crate::print::text_of_value;
use crate::program::{Program, template_syntax};
use crate::{CompileError, Scope, Undefined};

/// Why a template could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// What went wrong and in which expression, in one sentence.
    pub message: String,
}

/// A compiled value: literals where nothing is to be rendered, compiled expressions elsewhere. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Template {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Value,
    node: Node,
    /// The value, when there is nothing to render in it.
    literal: Option<Value>,
    /// Whether that value is the source itself.
    is_verbatim: bool,
    paths: Vec<String>,
}

#[derive(Debug)]
enum Node {
    Literal,
    Text(Program),
    List(Vec<Template>),
    Map(Vec<Entry>),
}

#[derive(Debug)]
struct Entry {
    /// As it was written.
    key: Arc<str>,
    /// For keys that are templates themselves.
    rendered_key: Option<Template>,
    value: Template,
}

impl Template {
    /// Compiles every string inside the value (map keys too), collecting all errors.
    pub fn compile(value: &Value) -> Result<Template, Vec<CompileError>> {
        let mut errors = Vec::new();
        let template = compile(value, &mut Vec::new(), &mut errors);
        if errors.is_empty() { Ok(template) } else { Err(errors) }
    }

    /// A value that is never rendered, whatever it looks like.
    pub fn literal(value: Value) -> Template {
        let node = match &value {
            Value::Map(map) => Node::Map(
                map.iter()
                    .map(|(key, value)| Entry {
                        key: key.clone(),
                        rendered_key: None,
                        value: Template::literal(value.clone()),
                    })
                    .collect(),
            ),
            _ => Node::Literal,
        };
        Template::verbatim(value, node)
    }

    fn verbatim(value: Value, node: Node) -> Template {
        let literal = Some(value.clone());
        Template {
            inner: Arc::new(Inner { source: value, node, literal, is_verbatim: true, paths: Vec::new() }),
        }
    }

    /// Code in another language, in which braces may be the language's own. It is a template only if it parses as one and
    /// every name it reads is known; otherwise it stays as it is.
    pub fn text_if_known(source: &str, known: &dyn Fn(&str) -> bool) -> Template {
        let literal = || Template::literal(Value::text(source));
        if !template_syntax(source) {
            return literal();
        }
        match Program::template(source.into()) {
            Ok(program) if program.constant_text().is_none() && reads_only(&program, known) => {
                Template::of_program(Value::text(source), program)
            }
            _ => literal(),
        }
    }

    /// The value when there is nothing to render in it.
    pub fn as_literal(&self) -> Option<&Value> {
        self.inner.literal.as_ref()
    }

    /// Evaluates once. Text that comes out is data and is not looked at again.
    pub fn render(&self, scope: &Scope) -> Result<Value, EvalError> {
        self.render_with(scope, Undefined::Lenient)
    }

    /// Evaluates once, with a say about undefined names.
    pub fn render_with(&self, scope: &Scope, undefined: Undefined) -> Result<Value, EvalError> {
        if let Some(literal) = &self.inner.literal {
            return Ok(literal.clone());
        }
        match &self.inner.node {
            Node::Literal => Ok(self.inner.source.clone()),
            Node::Text(program) => program.run(scope, undefined),
            Node::List(items) => {
                let items = items.iter().map(|item| item.render_with(scope, undefined));
                Ok(Value::from(items.collect::<Result<Vec<_>, _>>()?))
            }
            Node::Map(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for entry in entries {
                    let key = match &entry.rendered_key {
                        None => entry.key.clone(),
                        Some(key) => key_text(key.render_with(scope, undefined)?)?,
                    };
                    map.insert(key, entry.value.render_with(scope, undefined)?);
                }
                Ok(Value::from(map))
            }
        }
    }

    /// The dotted names it reads, such as `workload.n`, sorted and without repeats.
    pub fn paths(&self) -> &[String] {
        &self.inner.paths
    }

    /// As it was written.
    pub fn source(&self) -> &Value {
        &self.inner.source
    }

    /// The entry of a map template.
    pub fn get(&self, key: &str) -> Option<&Template> {
        match &self.inner.node {
            Node::Map(entries) => entries.iter().find(|entry| &*entry.key == key).map(|entry| &entry.value),
            _ => None,
        }
    }

    /// The entries of a map template under the keys as written, in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Template)> {
        let entries = match &self.inner.node {
            Node::Map(entries) => entries.as_slice(),
            _ => &[],
        };
        entries.iter().map(|entry| (&*entry.key, &entry.value))
    }

    fn of_program(source: Value, program: Program) -> Template {
        let literal = program.constant_text().map(Value::text);
        let paths = program.paths.clone();
        let inner = Inner { source, node: Node::Text(program), literal, is_verbatim: false, paths };
        Template { inner: Arc::new(inner) }
    }
}

fn compile(value: &Value, at: &mut Vec<String>, errors: &mut Vec<CompileError>) -> Template {
    match value {
        Value::Text(text) if template_syntax(text) => match Program::template(text.clone()) {
            Ok(program) => Template::of_program(value.clone(), program),
            Err(problems) => {
                errors.extend(problems.into_iter().map(|problem| problem.into_error(at.clone())));
                Template::literal(value.clone())
            }
        },
        Value::List(items) => {
            let items = items.iter().enumerate().map(|(index, item)| {
                at.push(index.to_string());
                let item = compile(item, at, errors);
                at.pop();
                item
            });
            let items: Vec<Template> = items.collect();
            // Long lists of plain data are kept as the one value they are.
            if items.iter().all(|item| item.inner.is_verbatim) {
                return Template::verbatim(value.clone(), Node::Literal);
            }
            let literal = items.iter().map(|item| item.inner.literal.clone()).collect::<Option<Vec<_>>>();
            let paths = paths_of(items.iter());
            let (source, literal) = (value.clone(), literal.map(Value::from));
            let inner = Inner { source, node: Node::List(items), literal, is_verbatim: false, paths };
            Template { inner: Arc::new(inner) }
        }
        Value::Map(map) => {
            let entries: Vec<Entry> = map
                .iter()
                .map(|(key, value)| {
                    at.push(key.to_string());
                    let rendered_key =
                        template_syntax(key).then(|| compile(&Value::Text(key.clone()), at, errors));
                    let value = compile(value, at, errors);
                    at.pop();
                    Entry { key: key.clone(), rendered_key, value }
                })
                .collect();
            if entries.iter().all(|entry| entry.rendered_key.is_none() && entry.value.inner.is_verbatim) {
                return Template::verbatim(value.clone(), Node::Map(entries));
            }
            let literal = entries.iter().map(literal_entry).collect::<Option<Map>>();
            let paths =
                paths_of(entries.iter().flat_map(|entry| entry.rendered_key.iter().chain([&entry.value])));
            let (source, literal) = (value.clone(), literal.map(Value::from));
            let inner = Inner { source, node: Node::Map(entries), literal, is_verbatim: false, paths };
            Template { inner: Arc::new(inner) }
        }
        _ => Template::literal(value.clone()),
    }
}

fn literal_entry(entry: &Entry) -> Option<(Arc<str>, Value)> {
    let key = match &entry.rendered_key {
        None => entry.key.clone(),
        Some(key) => key.inner.literal.as_ref()?.as_str()?.into(),
    };
    Some((key, entry.value.inner.literal.clone()?))
}

fn paths_of<'t>(templates: impl Iterator<Item = &'t Template>) -> Vec<String> {
    let paths: BTreeSet<&String> = templates.flat_map(|template| &template.inner.paths).collect();
    paths.into_iter().cloned().collect()
}

/// What a value reads like as the key of a map.
fn key_text(value: Value) -> Result<Arc<str>, EvalError> {
    match value {
        Value::Text(text) => Ok(text),
        value => match text_of_value(&value) {
            Ok(text) => Ok(text.into()),
            Err(error) => Err(EvalError { message: error.to_string() }),
        },
    }
}

fn reads_only(program: &Program, known: &dyn Fn(&str) -> bool) -> bool {
    program.paths.iter().all(|path| known(path.split('.').next().unwrap_or(path)))
}
