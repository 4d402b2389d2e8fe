//! `shell`: runs commands.

mod group;
mod params;

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use noetl_types::{ErrorKind, Report, ToolError, Value};
use tokio::process::{Child, ChildStdin, Command};

use self::group::Group;
use self::params::ShellParams;
use crate::capture::{Capture, last_lines};
use crate::{Call, Deadline, Field, Interrupt, KindDescription, ProcessConfig, Shape, Stream, Tool};

static DESCRIPTION: KindDescription = KindDescription {
    kind: "shell",
    summary: "Runs commands in a shell and gives back what they print.",
    fields: &[
        Field::new(
            "command",
            Shape::TextOrList,
            "A command line for the shell, or a list: a program and its arguments, without a shell.",
        )
        .or(&["cmd"]),
        Field::new(
            "cmds",
            Shape::TextOrList,
            "Commands that run in order in one shell; the first that fails ends the step.",
        )
        .or(&["commands"]),
        Field::new("shell", Shape::Text, "The shell to use; `sh` by default."),
        Field::new("cwd", Shape::Text, "The folder to run in.").or(&["workdir", "working_dir"]),
        Field::new("env", Shape::Map, "Environment variables, beside a clean base such as PATH and HOME."),
        Field::new(
            "timeout_seconds",
            Shape::Seconds,
            "How long the commands may take; then all their processes are killed.",
        )
        .or(&["timeout"]),
    ],
    result: "`{stdout, stderr, exit_code}`. A non-zero exit code is an error of kind `exit`.",
    takes_code: false,
};

/// How long after the end of the commands their output may take to arrive.
const OUTPUT_PATIENCE: Duration = Duration::from_secs(1);

/// The `shell` kind.
#[derive(Clone, Debug)]
pub struct ShellTool {
    config: ProcessConfig,
}

impl ShellTool {
    pub fn new(config: ProcessConfig) -> ShellTool {
        ShellTool { config }
    }

    async fn run(&self, call: &Call) -> Result<Report, ToolError> {
        let params = ShellParams::read(call.fields(&DESCRIPTION))?;
        let deadline = call.deadline(params.timeout);
        let mut running = self.start(&params, call)?;
        let ended = running.wait(&deadline, self.config.kill_grace).await;
        let (stdout, stderr) =
            tokio::join!(running.stdout.finish(OUTPUT_PATIENCE), running.stderr.finish(OUTPUT_PATIENCE));
        let status = match ended {
            Ok(status) => status,
            Err(interrupt) => {
                let data = Value::map([("stdout", Value::from(stdout)), ("stderr", stderr.into())]);
                let error = Some(interrupt.into_error("the shell command"));
                return Ok(Report { data: data.into(), error, ..Report::default() });
            }
        };
        let code = exit_code(status);
        let error = (code != 0).then(|| exit_error(code, &stderr));
        let data =
            Value::map([("stdout", stdout.into()), ("stderr", stderr.into()), ("exit_code", code.into())]);
        Ok(Report { data: data.into(), error, ..Report::default() })
    }

    fn start(&self, params: &ShellParams, call: &Call) -> Result<Running, ToolError> {
        let folder = self.config.folder.join(&params.cwd);
        let mut command = group::supervised(&params.argv(), self.config.memory_limit);
        command
            .env_clear()
            .envs(self.config.environment.iter())
            .envs(params.env.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !folder.as_os_str().is_empty() {
            if !folder.is_dir() {
                let message = format!("shell: `cwd` {} is not a folder", folder.display());
                return Err(ToolError::new(ErrorKind::Config, message));
            }
            command.current_dir(folder);
        }
        Running::start(command, self.config.output_limit, call)
    }
}

#[async_trait]
impl Tool for ShellTool {
    fn describe(&self) -> &'static KindDescription {
        &DESCRIPTION
    }

    async fn call(&self, call: Call) -> Report {
        self.run(&call).await.unwrap_or_else(Report::failure)
    }
}

/// A command with its processes and outputs.
struct Running {
    child: Child,
    /// The supervisor ends the group when this closes, so it is kept as long as the command may run.
    _lifeline: Option<ChildStdin>,
    group: Group,
    stdout: Capture,
    stderr: Capture,
}

impl Running {
    fn start(mut command: Command, output_limit: usize, call: &Call) -> Result<Running, ToolError> {
        let mut child = command.spawn().map_err(|error| {
            ToolError::new(ErrorKind::Config, format!("shell: no process could be started: {error}"))
        })?;
        let group = Group::of(&child);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            unreachable!("both outputs were asked for as pipes");
        };
        Ok(Running {
            _lifeline: child.stdin.take(),
            group,
            stdout: Capture::start(stdout, Stream::Stdout, output_limit, call.logs.clone()),
            stderr: Capture::start(stderr, Stream::Stderr, output_limit, call.logs.clone()),
            child,
        })
    }

    /// Waits for the end of the commands. In any case no process of their group is left.
    async fn wait(&mut self, deadline: &Deadline, grace: Duration) -> Result<ExitStatus, Interrupt> {
        let ended = deadline.guard(self.child.wait()).await;
        if ended.is_err() {
            self.group.ask_to_end();
            // A failure to wait means that the process is gone already.
            let _ = tokio::time::timeout(grace, self.child.wait()).await;
        }
        self.group.kill();
        let last = self.child.wait().await;
        ended.map(|ended| ended.or(last).unwrap_or_default())
    }
}

/// The exit code as shells count: a signal is 128 and its number.
fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

fn exit_error(code: i32, stderr: &str) -> ToolError {
    let told = last_lines(stderr);
    let message = match (told, code) {
        ("", 129..=192) => format!("the command was ended by signal {} (exit code {code})", code - 128),
        ("", _) => format!("the command ended with exit code {code}"),
        (told, _) => format!("the command ended with exit code {code}: {told}"),
    };
    ToolError::new(ErrorKind::Exit, message)
        .with_code(format!("EXIT_{code}"))
        .with_details(Value::map([("exit_code", Value::from(code))]))
        .as_answer()
}
