//! What the end of a Python job means for the step.

use noetl_types::{ErrorKind, Map, Report, ToolError, Value};
use serde::Deserialize;

use super::job::{HowItEnded, JobEnd};
use crate::capture::last_lines;

/// The runner's answer.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Value(Value),
    /// The code neither assigned `result` nor gave a value in another way.
    Nothing {},
    Error(Failure),
}

#[derive(Deserialize)]
struct Failure {
    kind: FailureKind,
    message: String,
    exception: Option<String>,
    traceback: Option<String>,
    exit_code: Option<i32>,
    /// The line of the playbook.
    line: Option<u32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FailureKind {
    Exception,
    Exit,
    Config,
    Libs,
    /// The result has no JSON form.
    Result,
    TooLarge,
}

/// Answers larger than this are parsed away from the threads that serve everybody.
const LARGE: usize = 256 * 1024;

pub async fn report(end: JobEnd) -> Report {
    let JobEnd { how, stdout, stderr } = end;
    let error = match how {
        HowItEnded::Answered(answer) => match parse(answer).await {
            Ok(Answer::Value(value)) => return Report::success(value),
            Ok(Answer::Nothing {}) => return Report::success(printed(stdout, stderr)),
            Ok(Answer::Error(failure)) => return failed(failure, stdout, stderr),
            Err(error) => ToolError::new(
                ErrorKind::Transform,
                format!("python: the result cannot be read as JSON, it may be nested too deeply: {error}"),
            ),
        },
        HowItEnded::Died(0) => return Report::success(printed(stdout, stderr)),
        HowItEnded::Died(status) => died(status, &stderr),
        HowItEnded::TooLarge(bytes) => ToolError::new(
            ErrorKind::StorageQuota,
            format!(
                "python: the result has {bytes} bytes, more than is allowed; store it and return a reference"
            ),
        ),
        HowItEnded::Refused(error) => {
            ToolError::new(ErrorKind::WorkerLost, format!("python: no process could be started: {error}"))
        }
        HowItEnded::Lost => {
            ToolError::new(ErrorKind::WorkerLost, "python: the interpreter was killed while the code ran")
        }
        HowItEnded::Interrupted(interrupt) => interrupt.into_error("the Python code"),
    };
    Report { data: printed(stdout, stderr).into(), error: Some(error), ..Report::default() }
}

async fn parse(answer: Vec<u8>) -> serde_json::Result<Answer> {
    if answer.len() < LARGE {
        return serde_json::from_slice(&answer);
    }
    let parsed = tokio::task::spawn_blocking(move || serde_json::from_slice(&answer)).await;
    parsed.expect("parsing does not panic")
}

fn printed(stdout: String, stderr: String) -> Value {
    Value::map([("stdout", Value::from(stdout)), ("stderr", stderr.into())])
}

fn failed(failure: Failure, stdout: String, stderr: String) -> Report {
    let mut details = Map::new();
    if let Some(exception) = &failure.exception {
        details.insert("exception_type".into(), exception.as_str().into());
    }
    if let Some(line) = failure.line {
        details.insert("line".into(), line.into());
    }
    let (kind, code) = match failure.kind {
        FailureKind::Exception => {
            (ErrorKind::Exception, failure.exception.as_ref().map(|name| format!("PY_{name}")))
        }
        FailureKind::Exit => {
            let code = failure.exit_code.unwrap_or(1);
            details.insert("exit_code".into(), code.into());
            (ErrorKind::Exit, Some(format!("EXIT_{code}")))
        }
        FailureKind::Config => (ErrorKind::Config, None),
        FailureKind::Libs => (ErrorKind::Config, Some("PY_ImportError".to_owned())),
        FailureKind::Result => (ErrorKind::Transform, None),
        FailureKind::TooLarge => (ErrorKind::StorageQuota, None),
    };
    let mut error = ToolError::new(kind, failure.message).with_details(details.into());
    error.code = code;
    error.answered = matches!(failure.kind, FailureKind::Exception | FailureKind::Exit);
    let facets = failure.exception.map(|exception| {
        let traceback = Value::from(failure.traceback);
        Value::map([("py", Value::map([("exception", exception.into()), ("traceback", traceback)]))])
    });
    Report {
        data: printed(stdout, stderr).into(),
        error: Some(error),
        facets: facets.unwrap_or_default(),
        ..Report::default()
    }
}

/// The process ended by itself without an answer: `os._exit`, a crash, or somebody killed it.
fn died(status: i32, stderr: &str) -> ToolError {
    use std::os::unix::process::ExitStatusExt;
    let status = std::process::ExitStatus::from_raw(status);
    let (code, what) = match status.signal() {
        Some(9) => (137, "was killed; the machine or its limit may be out of memory".to_owned()),
        Some(signal) => (128 + signal, format!("was ended by signal {signal}")),
        None => {
            let code = status.code().unwrap_or(1);
            (code, format!("ended with exit code {code} before it gave a result"))
        }
    };
    let message = match last_lines(stderr) {
        "" => format!("the Python process {what}"),
        told => format!("the Python process {what}: {told}"),
    };
    ToolError::new(ErrorKind::Exit, message)
        .with_code(format!("EXIT_{code}"))
        .with_details(Value::map([("exit_code", Value::from(code))]))
        .as_answer()
}
