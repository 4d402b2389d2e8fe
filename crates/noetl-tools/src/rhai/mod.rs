//! `rhai`: runs scripts in an embedded language, without a process.

mod convert;
mod crypto;
mod functions;
mod web;

use std::sync::Arc;

use ::rhai::packages::{Package, StandardPackage};
use ::rhai::{Engine, EvalAltResult, Module, Position, Scope, Shared};
use async_trait::async_trait;
use noetl_types::{ErrorKind, Map, Report, ToolError, Value};

use crate::fields::scalar_text;
use crate::http::Sender;
use crate::{Call, CodeText, Deadline, Field, KindDescription, RhaiConfig, Shape, Tool};

static DESCRIPTION: KindDescription = KindDescription {
    kind: "rhai",
    summary: "Runs a Rhai script; its last expression is the result.",
    fields: &[
        Field::new("code", Shape::Text, "The script. It finds its inputs in `args` and `input`.")
            .or(&["script"]),
        Field::new("args", Shape::Map, "Values for `args`, beside the step's `input`."),
        Field::new("timeout_seconds", Shape::Seconds, "How long the script may take; 300 by default.")
            .or(&["timeout"]),
    ],
    result: "The value of the last expression; an object map `#{…}` becomes a map.",
    takes_code: true,
};

/// The `rhai` kind.
#[derive(Debug)]
pub struct RhaiTool {
    config: RhaiConfig,
    sender: Arc<Sender>,
    /// The functions of the language itself. Making them takes longer than most scripts do.
    standard: Shared<Module>,
}

impl RhaiTool {
    pub fn new(config: RhaiConfig, sender: Arc<Sender>) -> RhaiTool {
        RhaiTool { config, sender, standard: StandardPackage::new().as_shared_module() }
    }

    async fn run(&self, call: Call) -> Result<Report, ToolError> {
        let fields = call.fields(&DESCRIPTION);
        let code = match call.code.clone() {
            Some(code) => code,
            None => CodeText::new(fields.required_text("code")?),
        };
        let mut inputs = fields.map("args")?.cloned().unwrap_or_default();
        inputs.extend(call.input.as_map().cloned().unwrap_or_default());
        let deadline = call.deadline(Some(fields.seconds("timeout_seconds")?.unwrap_or(self.config.timeout)));
        let engine = self.engine(&call, &deadline);
        let names = call.names.clone();
        // The script stops by itself when the deadline passes, so its thread is not held for longer.
        let script = tokio::task::spawn_blocking(move || evaluate(&engine, &code, inputs, &names));
        match script.await.expect("a script that fails gives an error") {
            Ok(value) => Ok(Report::success(value)),
            Err(Failed::Stopped) => match deadline.has_passed() {
                Some(interrupt) => Err(interrupt.into_error("the Rhai script")),
                None => Err(ToolError::new(ErrorKind::Unknown, "the Rhai script was stopped")),
            },
            Err(Failed::Because(error)) => Err(*error),
        }
    }

    fn engine(&self, call: &Call, deadline: &Deadline) -> Engine {
        let mut engine = Engine::new_raw();
        engine
            .register_global_module(self.standard.clone())
            .set_max_operations(self.config.max_operations)
            .set_max_string_size(self.config.max_text)
            .set_max_array_size(self.config.max_elements)
            .set_max_map_size(self.config.max_elements)
            .set_max_call_levels(64)
            .set_max_modules(0);
        let watched = deadline.clone();
        engine.on_progress(move |operations| {
            // Looking at the clock for every operation would cost more than most operations.
            let passed = operations % 1024 == 0 && watched.has_passed().is_some();
            passed.then_some(::rhai::Dynamic::UNIT)
        });
        functions::register(&mut engine, call, deadline);
        crypto::register(&mut engine);
        web::register(&mut engine, &self.sender, deadline);
        engine
    }
}

#[async_trait]
impl Tool for RhaiTool {
    fn describe(&self) -> &'static KindDescription {
        &DESCRIPTION
    }

    async fn call(&self, call: Call) -> Report {
        self.run(call).await.unwrap_or_else(Report::failure)
    }
}

enum Failed {
    Stopped,
    Because(Box<ToolError>),
}

fn evaluate(engine: &Engine, code: &CodeText, inputs: Map, names: &Value) -> Result<Value, Failed> {
    let mut scope = Scope::new();
    let inputs = convert::to_rhai(&inputs.into());
    scope.push_dynamic("args", inputs.clone());
    scope.push_dynamic("input", inputs);
    for name in ["execution_id", "step", "variables"] {
        scope.push_dynamic(name, names.get(name).map_or(::rhai::Dynamic::UNIT, convert::to_rhai));
    }
    // Empty lines in front make positions those of the playbook.
    let text = format!("{}{}", "\n".repeat(code.line.saturating_sub(1) as usize), code.text);
    match engine.eval_with_scope::<::rhai::Dynamic>(&mut scope, &text) {
        Ok(value) => convert::from_rhai(&value, "result").map_err(|error| Failed::Because(Box::new(error))),
        Err(error) => Err(failed(&error)),
    }
}

fn failed(error: &EvalAltResult) -> Failed {
    let inner = error.unwrap_inner();
    let (kind, code, message) = match inner {
        EvalAltResult::ErrorTerminated(..) => return Failed::Stopped,
        EvalAltResult::ErrorParsing(what, _) => {
            (ErrorKind::Exception, "RHAI_PARSE", format!("the script does not parse: {what}"))
        }
        EvalAltResult::ErrorRuntime(thrown, _) => {
            let text = convert::from_rhai(thrown, "error")
                .ok()
                .map(|value| scalar_text(&value).unwrap_or_else(|| value.to_string()));
            (ErrorKind::Exception, "RHAI_THROW", text.unwrap_or_else(|| thrown.to_string()))
        }
        EvalAltResult::ErrorTooManyOperations(_) => (
            ErrorKind::Exception,
            "RHAI_LIMIT",
            "the script made more operations than are allowed".to_owned(),
        ),
        EvalAltResult::ErrorDataTooLarge(what, _) => {
            (ErrorKind::StorageQuota, "RHAI_LIMIT", format!("the script made too large a value: {what}"))
        }
        other => {
            let mut bare = other.to_string();
            if let Some(at) = bare.rfind(" (line ") {
                bare.truncate(at);
            }
            (ErrorKind::Exception, "RHAI_ERROR", bare)
        }
    };
    let line = line_of(inner.position()).or(line_of(error.position()));
    let message = match line {
        Some(line) => format!("{message} (line {line})"),
        None => message,
    };
    let details = Value::map(line.map(|line| ("line", Value::from(line))));
    Failed::Because(Box::new(ToolError::new(kind, message).with_code(code).with_details(details)))
}

fn line_of(position: Position) -> Option<usize> {
    position.line()
}
