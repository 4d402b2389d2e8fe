//! Events that workers of other makes post, turned into inputs for the runs.
//!
//! `call.done` and `call.error` carry the outcome and end the attempt; the `command.completed` or `command.failed` that
//! follows only counts when it comes alone. Events that say nothing to a run are acknowledged.

use std::sync::Arc;

use noetl_engine::Input;
use noetl_store::{Claim, StoredCommand};
use noetl_types::{ErrorKind, EventId, ExecutionId, Map, Report, StoredValue, ToolError, Value};

use super::commands::{Wanted, event_in};
use super::{App, Code, Error};

/// What a worker posts.
#[derive(Clone, Debug)]
pub struct WorkerEvent {
    pub execution: ExecutionId,
    pub id: Option<EventId>,
    pub event_type: String,
    pub status: Option<String>,
    pub context: Value,
    pub meta: Value,
    pub worker: Option<Arc<str>>,
}

/// An event that was taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Nothing when the event says what was known before.
    pub id: Option<EventId>,
    pub commands: usize,
}

impl App {
    pub async fn take_event(&self, event: WorkerEvent) -> Result<Taken, Error> {
        let id = event.id.unwrap_or_else(|| EventId(self.ids().next()));
        let Some(command) = self.command_of(&event).await? else {
            if self.store().find_execution(event.execution).await?.is_none() {
                return Err(Error::execution_not_found(event.execution));
            }
            tracing::debug!(execution = %event.execution, what = event.event_type, "an event is only acknowledged");
            return Ok(Taken { id: Some(id), commands: 0 });
        };
        let taken = |commands| Taken { id: Some(id), commands };
        match event.event_type.as_str() {
            "command.claimed" => self.claimed(&command, &event, id).await,
            "command.started" => {
                let worker = event.worker.unwrap_or_else(|| "unknown".into());
                let (key, attempt) = (command.row.key, command.row.attempt);
                let input = Input::Began { command: key, attempt, worker };
                self.drive().input(command.execution, input).await?;
                Ok(taken(0))
            }
            "call.done" | "call.error" | "command.completed" | "command.failed"
                if command.status.is_open() && !waits_for_callback(&event.context) =>
            {
                Ok(taken(self.end(&command, &event).await?))
            }
            _ => Ok(taken(0)),
        }
    }

    /// The command that an event is about.
    async fn command_of(&self, event: &WorkerEvent) -> Result<Option<StoredCommand>, Error> {
        let named = |place: &Value| place.get("command_id").and_then(event_in);
        let Some(issued) = named(&event.context).or_else(|| named(&event.meta)) else {
            return Ok(None);
        };
        let found = self.store().find_command_by_event(issued).await?;
        Ok(found.filter(|command| command.execution == event.execution))
    }

    /// A claim that comes as an event: it has no answer but whether it holds.
    async fn claimed(
        &self,
        command: &StoredCommand,
        event: &WorkerEvent,
        id: EventId,
    ) -> Result<Taken, Error> {
        let Some(worker) = &event.worker else {
            return Err(Error::new(Code::BodyInvalid, "a claim needs a worker_id"));
        };
        let held = command.row.lease.as_ref().is_some_and(|lease| lease.worker == *worker);
        let (execution, key, attempt) = (command.execution, command.row.key, command.row.attempt);
        let lease = self.new_lease(worker);
        match self.store().claim_command(execution, key, attempt, lease, self.now()).await? {
            Claim::Taken(_) => Ok(Taken { id: (!held).then_some(id), commands: 0 }),
            Claim::Held { holder, .. } => {
                Err(Error::new(Code::CommandTaken, format!("the command is claimed by '{holder}'")))
            }
            Claim::Closed(_) | Claim::NotFound => {
                Err(Error::new(Code::CommandTaken, "the command has come to an end"))
            }
        }
    }

    /// Ends an attempt with what the event says and returns how many commands follow.
    async fn end(&self, command: &StoredCommand, event: &WorkerEvent) -> Result<usize, Error> {
        let Some(dispatched) = self.work_of(command).await? else {
            return Ok(0);
        };
        let report = self.report_of(event).await?;
        let (mut interpreter, wanted) = self.wanted(&dispatched).await?;
        let outcome = match wanted {
            Wanted::Call(call) => interpreter.outcome(self, &call, report).await?,
            Wanted::Nothing(outcome) => Some(*outcome),
            Wanted::TooMuch => None,
        };
        let Some(outcome) = outcome else {
            return Ok(0);
        };
        let (execution, command, attempt) = dispatched.attempt();
        let worker = event.worker.clone().unwrap_or_else(|| "unknown".into());
        let inputs = vec![
            (execution, Input::Began { command, attempt, worker }),
            (execution, Input::Ended { command, attempt, outcome }),
        ];
        let mut commands = 0;
        for answer in self.drive().inputs(inputs).await {
            commands = answer?.commands;
        }
        Ok(commands)
    }

    /// What the tool came to.
    async fn report_of(&self, event: &WorkerEvent) -> Result<Report, Error> {
        let context = &event.context;
        if matches!(event.event_type.as_str(), "call.error" | "command.failed") {
            return Ok(Report::failure(raised(context.get("error"))));
        }
        let result = context.get("result").cloned().unwrap_or_default();
        let reference =
            result.get("reference").and_then(|reference| reference.get("ref")).and_then(Value::as_str);
        let tool = match reference {
            Some(uri) => self.load_value(&reference_to(uri)).await?,
            None => result.get("context").cloned().unwrap_or_else(|| result.clone()),
        };
        let status = [result.get("status"), tool.get("status"), context.get("status")]
            .into_iter()
            .flatten()
            .find_map(Value::as_str)
            .or(event.status.as_deref())
            .unwrap_or("success")
            .to_lowercase();
        Ok(tool_report(&tool, &status))
    }
}

/// The worker has handed the work on, and its end comes with a later event.
fn waits_for_callback(context: &Value) -> bool {
    let flag = |place: Option<&Value>| {
        place.and_then(|place| place.get("pending_callback")).and_then(Value::as_bool).unwrap_or_default()
    };
    let tool = context.get("result").and_then(|result| result.get("context"));
    flag(Some(context)) || flag(tool)
}

/// An error that a tool raised, as text or as an object with a message.
fn raised(error: Option<&Value>) -> ToolError {
    let message = match error {
        Some(Value::Text(text)) => text.to_string(),
        Some(object @ Value::Map(_)) => match object.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => object.to_string(),
        },
        Some(other) if !other.is_null() => other.to_string(),
        _ => "the tool failed and did not say why".to_owned(),
    };
    ToolError::new(ErrorKind::Exception, message)
}

/// `{"status": …, "data": …, "error": …, "stdout": …, "exit_code": …}` as a report.
fn tool_report(tool: &Value, status: &str) -> Report {
    let duration_ms = tool.get("duration_ms").and_then(Value::as_f64).unwrap_or_default();
    let data = match tool.get("data") {
        Some(data) if !data.is_null() => data.clone(),
        _ => printed(tool),
    };
    let exit_code = tool.get("exit_code").and_then(Value::as_i64).unwrap_or_default();
    let kind = match status {
        "timeout" => Some(ErrorKind::Timeout),
        "error" | "failed" | "failure" if exit_code != 0 => Some(ErrorKind::Exit),
        "error" | "failed" | "failure" => Some(ErrorKind::Unknown),
        _ => None,
    };
    let error = kind.map(|kind| {
        let message = tool.get("error").and_then(Value::as_str).unwrap_or("the call came to an error");
        let mut details = Map::new();
        if exit_code != 0 {
            details.insert("exit_code".into(), Value::Int(exit_code));
        }
        ToolError::new(kind, message).with_details(Value::from(details)).as_answer()
    });
    Report { error, duration_ms, ..Report::success(data) }
}

/// What a process printed, for tools that have no other data.
fn printed(tool: &Value) -> Value {
    let keys = ["stdout", "stderr", "exit_code"];
    let printed: Map = keys
        .into_iter()
        .filter_map(|key| {
            tool.get(key).filter(|value| !value.is_null()).map(|value| (key.into(), value.clone()))
        })
        .collect();
    if printed.is_empty() { Value::Null } else { Value::from(printed) }
}

fn reference_to(uri: &str) -> StoredValue {
    StoredValue {
        uri: uri.to_owned(),
        store: "kv".to_owned(),
        bytes: 0,
        sha256: None,
        media_type: "application/json".to_owned(),
        extract: Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::{Slot, value};

    use super::*;

    #[test]
    fn a_call_that_answered_with_an_error_is_a_failed_call_with_its_data() {
        let report = tool_report(
            &value!({"status": "error", "error": "exit code 3", "stdout": "x", "exit_code": 3}),
            "error",
        );
        let error = report.error.expect("an error");
        assert_eq!(
            (error.kind, error.message.as_str(), error.answered),
            (ErrorKind::Exit, "exit code 3", true)
        );
        assert_eq!(report.data, Slot::Inline(value!({"stdout": "x", "exit_code": 3})));
    }

    #[test]
    fn a_success_is_its_data() {
        let report =
            tool_report(&value!({"status": "success", "data": {"n": 1}, "duration_ms": 41}), "success");
        assert_eq!(report.error, None);
        assert_eq!(report.data, Slot::Inline(value!({"n": 1})));
        assert_eq!(report.duration_ms, 41.0);
    }

    #[test]
    fn errors_come_as_text_or_as_objects() {
        assert_eq!(raised(Some(&value!("no such table"))).message, "no such table");
        assert_eq!(raised(Some(&value!({"message": "m", "kind": "k"}))).message, "m");
        assert_eq!(raised(None).message, "the tool failed and did not say why");
    }

    #[test]
    fn work_that_was_handed_on_is_not_at_its_end() {
        assert!(waits_for_callback(&value!({"pending_callback": true})));
        assert!(waits_for_callback(&value!({"result": {"context": {"pending_callback": true}}})));
        assert!(!waits_for_callback(&value!({"result": {"context": {"data": 1}}})));
    }
}
