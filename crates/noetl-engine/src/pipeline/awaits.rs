//! Tasks that are not calls of a tool but waits for something outside: `playbook` and `wait`.

use std::sync::Arc;

use noetl_types::{Await, ErrorKind, Map, Report, Resolution, RunStatus, Slot, ToolError, Value};

use super::state::TaskCall;
use crate::values::Resolver;

/// What a rendered task waits for, if it is one that waits. `subject` is how messages name the task.
pub fn of(call: &TaskCall, step: &Arc<str>, subject: &str) -> Option<Result<Await, ToolError>> {
    match &*call.kind {
        "playbook" => Some(child(call, subject)),
        "wait" => Some(wait(call, step)),
        _ => None,
    }
}

/// Whether tasks of this kind wait for something outside.
pub fn is_wait(kind: &str) -> bool {
    matches!(kind, "playbook" | "wait")
}

fn seconds(call: &TaskCall, keys: &[&str]) -> Option<f64> {
    let written = keys.iter().find_map(|key| call.config.get(key)).and_then(|value| {
        value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
    });
    written.or(call.timeout).filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}

fn text(call: &TaskCall, key: &str) -> Option<Arc<str>> {
    match call.config.get(key)? {
        Value::Text(text) if !text.is_empty() => Some(text.clone()),
        Value::Int(number) => Some(number.to_string().into()),
        _ => None,
    }
}

fn integer(call: &TaskCall, key: &str) -> Option<i64> {
    let value = call.config.get(key)?;
    value.as_i64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
}

fn child(call: &TaskCall, subject: &str) -> Result<Await, ToolError> {
    let catalog_id = integer(call, "catalog_id");
    let path = text(call, "path").unwrap_or_default();
    if path.is_empty() && catalog_id.is_none() {
        let message = format!("{subject} calls a playbook but names none; set path or catalog_id");
        return Err(ToolError::new(ErrorKind::Config, message));
    }
    let given = call.input.as_map().is_some_and(|input| !input.is_empty());
    let payload = match call.config.get("payload") {
        Some(payload) if !given => payload.clone(),
        _ => call.input.clone(),
    };
    Ok(Await::Child {
        path,
        catalog_id,
        // `latest` and the like mean what leaving it out means.
        version: integer(call, "version"),
        payload,
        return_step: text(call, "return_step").or_else(|| text(call, "result_step")),
        detached: call.config.get("async").is_some_and(Value::is_truthy),
        seconds: seconds(call, &["timeout", "timeout_seconds"]),
    })
}

fn wait(call: &TaskCall, step: &Arc<str>) -> Result<Await, ToolError> {
    let signal = text(call, "signal");
    let duration = seconds(call, &["seconds"]).filter(|_| call.config.get("seconds").is_some());
    match (signal, duration) {
        (None, Some(seconds)) => Ok(Await::Sleep { seconds }),
        (signal, _) => Ok(Await::Signal {
            name: signal.unwrap_or_else(|| step.clone()),
            seconds: seconds(call, &["seconds", "timeout_seconds", "timeout"]),
            prompt: call.config.get("prompt").cloned().unwrap_or_default(),
        }),
    }
}

/// What ended a wait, with data that was stored aside at hand again: tasks and rules work on values.
pub fn with_data(with: Resolution, resolver: &Resolver) -> Resolution {
    let load = |slot: Slot| resolver.load(&slot).map_or(slot, Slot::Inline);
    match with {
        Resolution::Signal { name, payload } => Resolution::Signal { name, payload: load(payload) },
        Resolution::Child { execution, status, report } => {
            let report = Report { data: load(report.data), ..report };
            Resolution::Child { execution, status, report }
        }
        other => other,
    }
}

/// What the end of a wait comes to.
pub fn report(on: &Await, with: Resolution) -> Report {
    match (on, with) {
        (Await::Sleep { seconds }, Resolution::Elapsed) => {
            Report::success(Value::map([("waited", Value::from(*seconds))]))
        }
        (Await::Signal { name, seconds, .. }, Resolution::Elapsed) => {
            let message = format!("no signal '{name}' came within {} s", seconds.unwrap_or_default());
            Report::failure(ToolError::new(ErrorKind::Timeout, message))
        }
        (Await::Child { path, seconds, .. }, Resolution::Elapsed) => {
            let seconds = seconds.unwrap_or_default();
            let message = format!("playbook '{path}' did not end within {seconds} s and was cancelled");
            Report::failure(ToolError::new(ErrorKind::Timeout, message))
        }
        (_, Resolution::Signal { name, payload }) => match payload {
            Slot::Inline(Value::Null) => Report::success(Value::map([("signal", Value::Text(name))])),
            payload => Report::success(payload),
        },
        (Await::Child { path, .. }, Resolution::Started { execution }) => Report::success(Value::map([
            ("status", Value::from("started")),
            ("execution_id", Value::text(execution.to_string())),
            ("path", Value::Text(path.clone())),
            ("async", Value::Bool(true)),
        ])),
        (Await::Child { path, .. }, Resolution::Child { execution, status, report }) => {
            child_report(path, execution.to_string(), status, report)
        }
        (_, Resolution::Refused { error }) => Report::failure(error),
        (_, Resolution::Started { .. } | Resolution::Child { .. }) => {
            let message = "the wait ended with news of a playbook that was not called";
            Report::failure(ToolError::new(ErrorKind::Unknown, message))
        }
    }
}

fn child_report(path: &str, execution: String, status: RunStatus, report: Report) -> Report {
    if status != RunStatus::Completed {
        let why = report.error.as_ref().map_or(String::new(), |error| format!(": {}", error.message));
        let message = format!("playbook '{path}' (execution {execution}) ended {status}{why}");
        let mut error = ToolError::new(ErrorKind::Child, message);
        error.details = Value::map([
            ("execution_id", Value::text(execution)),
            ("child_status", Value::from(status.as_str())),
            ("child_error", report.error.as_ref().map_or(Value::Null, |error| error.to_value())),
        ]);
        return Report { error: Some(error), ..report };
    }
    let facts = [
        ("execution_id", Value::text(execution)),
        ("status", Value::from(status.as_str())),
        ("path", Value::from(path)),
    ];
    let data = match report.data {
        Slot::Stored(stored) => Slot::Stored(stored),
        Slot::Inline(value) => {
            let mut map = match value {
                Value::Map(map) => (*map).clone(),
                Value::Null => Map::new(),
                other => Map::from_iter([("data".into(), other.clone()), ("result".into(), other)]),
            };
            for (key, value) in facts {
                map.entry(key.into()).or_insert(value);
            }
            Slot::Inline(map.into())
        }
    };
    Report::success(data)
}
