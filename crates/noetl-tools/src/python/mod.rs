//! `python`: runs Python code in processes forked from a warm interpreter.

mod answer;
mod interpreter;
mod job;
mod params;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{Map, Report, ToolError, Value};
use serde::Serialize;

use self::interpreter::Interpreters;
use self::job::Job;
use self::params::PythonParams;
use crate::http::Sender;
use crate::source_text::SourceText;
use crate::{Call, Deadline, Field, KindDescription, ProcessConfig, PythonConfig, Shape, Tool};

static DESCRIPTION: KindDescription = KindDescription {
    kind: "python",
    summary: "Runs Python code: it assigns `result`, defines `main`, or returns a value.",
    fields: &[
        Field::new(
            "code",
            Shape::Text,
            "The code. Inputs are variables in it, beside `input_data`, `args`, `context`, `variables`, `execution_id` and `step`.",
        ),
        Field::new(
            "script",
            Shape::TextOrMap,
            "Where to load the code from: `{uri, source: {type: file | http | inline}}`.",
        ),
        Field::new(
            "libs",
            Shape::MapOrList,
            "Modules to import: a name and its module, or `{from, import}`.",
        ),
        Field::new("python", Shape::Text, "The interpreter to use.").or(&["interpreter"]),
        Field::new("venv", Shape::Text, "The virtual environment to use."),
        Field::new("deps", Shape::Map, "Where modules are: `{sys_path, venv_path}`."),
        Field::new("env", Shape::Map, "Environment variables, beside a clean base such as PATH and HOME."),
        Field::new("cwd", Shape::Text, "The folder to run in."),
        Field::new(
            "timeout_seconds",
            Shape::Seconds,
            "How long the code may take; then all its processes are killed.",
        )
        .or(&["timeout"]),
    ],
    result: "The value of the code; `{stdout, stderr}` if it has none. An exception is an error of kind `exception`.",
    takes_code: true,
};

/// The name of code that stands in the playbook, as tracebacks show it.
const PLAYBOOK: &str = "<playbook>";

/// The `python` kind.
pub struct PythonTool {
    process: ProcessConfig,
    config: PythonConfig,
    interpreters: Interpreters,
    sender: Arc<Sender>,
}

/// What the runner is told to do.
#[derive(Serialize)]
struct Request<'a> {
    code: &'a str,
    file: &'a str,
    line: u32,
    /// Whether `file` is a real file.
    script: bool,
    input: &'a Value,
    names: &'a Value,
    libs: &'a Value,
    env: BTreeMap<&'a str, &'a str>,
    cwd: PathBuf,
    sys_path: &'a [String],
    result_limit: usize,
    memory_limit: Option<u64>,
}

impl PythonTool {
    pub fn new(process: ProcessConfig, config: PythonConfig, sender: Arc<Sender>) -> PythonTool {
        let interpreters = Interpreters::new(process.clone(), config.clone());
        PythonTool { process, config, interpreters, sender }
    }

    async fn run(&self, call: &Call) -> Result<Report, ToolError> {
        let fields = call.fields(&DESCRIPTION);
        let params = PythonParams::read(fields)?;
        let deadline = call.deadline(params.timeout);
        let source = match deadline.guard(SourceText::get(call, fields, &self.process, &self.sender)).await {
            Ok(source) => source?.ok_or_else(|| fields.fault("give `code` or `script`".to_owned()))?,
            Err(interrupt) => return Err(interrupt.into_error("loading the script")),
        };
        let request = self.request(call, &params, &source)?;
        let job = match deadline.guard(self.start(call, &params)).await {
            Ok(job) => job?,
            Err(interrupt) => return Err(interrupt.into_error("starting Python")),
        };
        self.finish(job, &request, &deadline).await
    }

    fn request(&self, call: &Call, params: &PythonParams, source: &SourceText) -> Result<Vec<u8>, ToolError> {
        let nothing = Value::from(Map::new());
        let input = match &call.input {
            Value::Null => &nothing,
            map @ Value::Map(_) => map,
            other => return Err(call.fields(&DESCRIPTION).wrong("input", "a map", other)),
        };
        let names = if matches!(call.names, Value::Map(_)) { &call.names } else { &nothing };
        let mut sys_path = params.sys_path.clone();
        sys_path.extend(source.folder.iter().map(|folder| folder.to_string_lossy().into_owned()));
        let request = Request {
            code: &source.text,
            file: source.name.as_deref().unwrap_or(PLAYBOOK),
            line: source.line.max(1),
            script: source.folder.is_some(),
            input,
            names,
            libs: &params.libs,
            env: params.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            cwd: self.process.resolve(&params.cwd),
            sys_path: &sys_path,
            result_limit: self.config.result_limit,
            memory_limit: self.process.memory_limit,
        };
        Ok(serde_json::to_vec(&request).expect("a request is plain data"))
    }

    async fn start(&self, call: &Call, params: &PythonParams) -> Result<Job, ToolError> {
        let named = params.interpreter.as_ref().unwrap_or(&self.config.interpreter);
        // A bare name is looked up in PATH; anything with a slash is a path.
        let path = if named.components().count() > 1 { self.process.resolve(named) } else { named.clone() };
        let interpreter = self.interpreters.get(&path).await?;
        let limit = self.process.output_limit;
        match Job::start(interpreter.clone(), limit, call).await {
            // The interpreter died since its last job. Nothing of this one has run, so a fresh one may take it.
            Err(_) if !interpreter.is_alive() => {
                Job::start(self.interpreters.get(&path).await?, limit, call).await
            }
            started => started,
        }
    }

    async fn finish(&self, job: Job, request: &[u8], deadline: &Deadline) -> Result<Report, ToolError> {
        let end = job.run(request, self.config.result_limit, deadline, &self.process).await;
        Ok(answer::report(end).await)
    }
}

#[async_trait]
impl Tool for PythonTool {
    fn describe(&self) -> &'static KindDescription {
        &DESCRIPTION
    }

    async fn call(&self, call: Call) -> Report {
        self.run(&call).await.unwrap_or_else(Report::failure)
    }
}

impl fmt::Debug for PythonTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonTool").field("config", &self.config).finish_non_exhaustive()
    }
}
