//! The settings of a shell step.

use std::path::PathBuf;
use std::time::Duration;

use noetl_types::{ToolError, Value};

use crate::Fields;
use crate::fields::scalar_text;

pub struct ShellParams {
    run: Run,
    shell: String,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    pub timeout: Option<Duration>,
}

enum Run {
    /// A command line.
    Line(String),
    /// A program and its arguments.
    Program(Vec<String>),
    /// A script of which every command must succeed.
    Strict(String),
    /// Commands of which each must succeed before the next one runs.
    InOrder(Vec<String>),
}

impl ShellParams {
    pub fn read(fields: Fields<'_>) -> Result<ShellParams, ToolError> {
        Ok(ShellParams {
            run: read_run(fields)?,
            shell: fields.text("shell")?.unwrap_or_else(|| "sh".to_owned()),
            cwd: fields.text("cwd")?.unwrap_or_default().into(),
            env: fields.text_map("env")?,
            timeout: fields.seconds("timeout_seconds")?,
        })
    }

    /// The program to execute and its arguments.
    pub fn argv(&self) -> Vec<String> {
        let with_shell = |flags: &str, script: String| vec![self.shell.clone(), flags.to_owned(), script];
        match &self.run {
            Run::Line(line) => with_shell("-c", line.clone()),
            Run::Program(program) => program.clone(),
            Run::Strict(script) => with_shell("-ec", script.clone()),
            Run::InOrder(commands) => with_shell("-c", in_order(commands)),
        }
    }
}

fn read_run(fields: Fields<'_>) -> Result<Run, ToolError> {
    let run = match (fields.value("command"), fields.value("cmds")) {
        (Some(Value::List(_)), _) => Run::Program(texts(fields, "command")?),
        (Some(_), _) => Run::Line(fields.required_text("command")?),
        (None, Some(Value::List(_))) => Run::InOrder(texts(fields, "cmds")?),
        (None, Some(_)) => Run::Strict(fields.required_text("cmds")?),
        (None, None) => return Err(fields.fault("give `command` or `cmds`".to_owned())),
    };
    match &run {
        Run::Program(parts) | Run::InOrder(parts) if parts.is_empty() => Err(fields.missing("command")),
        _ => Ok(run),
    }
}

fn texts(fields: Fields<'_>, name: &'static str) -> Result<Vec<String>, ToolError> {
    let items = fields.value(name).and_then(Value::as_list).into_iter().flatten();
    items.map(|item| scalar_text(item).ok_or_else(|| fields.wrong(name, "a list of texts", item))).collect()
}

/// One script, so that `cd` and variables carry over from command to command.
fn in_order(commands: &[String]) -> String {
    commands
        .iter()
        .map(|command| format!("{command}\n__status=$?; [ \"$__status\" -eq 0 ] || exit \"$__status\"\n"))
        .collect()
}
