//! Events in the columns that the event log of NoETL has.

use std::sync::Arc;

use noetl_api::Id;
use noetl_api::execution::EventRow;
use noetl_store::Execution;
use noetl_types::{
    Assignment, Await, CommandKey, Event, EventBody, Item, LoopEntry, Map, Outcome, Resolution, Slot,
    TakenArc, Value,
};

use super::room::Room;
use super::summary::id;

/// Events as rows, in the order given. Values of later ones are shown first where there is no room for all.
pub fn rows(execution: &Execution, events: &[Event], newest_first: bool, room: &mut Room) -> Vec<EventRow> {
    let mut rows: Vec<EventRow> = if newest_first {
        events.iter().map(|event| row(execution, event, room)).collect()
    } else {
        events.iter().rev().map(|event| row(execution, event, room)).collect()
    };
    if !newest_first {
        rows.reverse();
    }
    rows
}

/// One event as a row, whatever else is asked.
pub fn single(execution: &Execution, event: &Event) -> EventRow {
    row(execution, event, &mut Room::new(false))
}

pub fn row(execution: &Execution, event: &Event, room: &mut Room) -> EventRow {
    let body = &event.body;
    let status = status(body);
    let at = event.at.to_string();
    let step = body.step().map(|step| step.to_string());
    let of_run = body.type_name().starts_with("playbook");
    let command = command_of(body);
    EventRow {
        execution_id: id(execution.id),
        catalog_id: Id(execution.row.catalog_id),
        parent_execution_id: execution.row.parent.map(id),
        event_id: Id(event.id.0),
        parent_event_id: None,
        seq: event.seq,
        event_type: body.type_name().to_owned(),
        node_id: if of_run { Some("playbook".to_owned()) } else { step.clone() },
        node_name: match body {
            EventBody::PlaybookStarted(started) => Some(started.path.to_string()),
            _ if of_run => Some("playbook".to_owned()),
            _ => step,
        },
        node_type: match body {
            EventBody::CommandIssued { tool, .. } => Some(tool.to_string()),
            _ => of_run.then(|| "execution".to_owned()),
        },
        status: status.to_owned(),
        created_at: at.clone(),
        timestamp: at,
        duration: duration(body),
        context: context(body, room),
        result: result(body, status, room),
        error: error(body),
        meta: meta(execution, event, command, room),
        worker_id: match body {
            EventBody::CommandStarted { worker, .. } => Some(worker.to_string()),
            _ => None,
        },
        current_index: command.and_then(|command| match command.item {
            Item::At(index) => Some(index),
            Item::Whole | Item::Claim(_) => None,
        }),
    }
}

fn status(body: &EventBody) -> &'static str {
    match body {
        EventBody::PlaybookStarted(_) | EventBody::CommandStarted { .. } | EventBody::ChildStarted { .. } => {
            "STARTED"
        }
        EventBody::StepEntered { .. } => "ENTERED",
        EventBody::StepSkipped { .. } => "SKIPPED",
        EventBody::StepKept { .. } => "KEPT",
        EventBody::StepTimedOut { .. } => "TIMEOUT",
        EventBody::StepExited { status, .. } => match status {
            noetl_types::StepStatus::Completed => "COMPLETED",
            noetl_types::StepStatus::Failed => "FAILED",
            noetl_types::StepStatus::Skipped => "SKIPPED",
            noetl_types::StepStatus::Running => "RUNNING",
        },
        EventBody::CommandIssued { .. } => "PENDING",
        EventBody::CommandLost { .. } => "LOST",
        EventBody::CallDone { .. } | EventBody::PlaybookCompleted { .. } => "COMPLETED",
        EventBody::CallFailed { .. } | EventBody::PlaybookFailed { .. } => "FAILED",
        EventBody::CallSuspended { .. } => "SUSPENDED",
        EventBody::CallIgnored { .. } => "IGNORED",
        EventBody::ContextUpdated { .. } => "CONTEXT",
        EventBody::SignalReceived { .. } => "RECEIVED",
        EventBody::Paused { .. } => "PAUSED",
        EventBody::PlaybookCancelled { .. } => "CANCELLED",
        EventBody::CallResumed { .. } | EventBody::Resumed => "RUNNING",
    }
}

fn duration(body: &EventBody) -> Option<f64> {
    match body {
        EventBody::CallDone { outcome: Outcome::Finished { report, .. }, .. }
        | EventBody::CallFailed { outcome: Outcome::Finished { report, .. }, .. } => {
            Some(report.duration_ms / 1000.0).filter(|seconds| seconds.is_finite())
        }
        EventBody::StepTimedOut { seconds, .. } => Some(*seconds).filter(|seconds| seconds.is_finite()),
        _ => None,
    }
}

fn error(body: &EventBody) -> Option<String> {
    match body {
        EventBody::CallDone { outcome: Outcome::Finished { report, .. }, .. }
        | EventBody::CallFailed { outcome: Outcome::Finished { report, .. }, .. } => {
            report.error.as_ref().map(|error| error.message.clone())
        }
        EventBody::StepExited { error, .. } => error.as_ref().map(|error| error.message.clone()),
        EventBody::PlaybookFailed { error, .. } => Some(error.message.clone()),
        EventBody::PlaybookCancelled { reason } => Some(reason.to_string()),
        EventBody::CallResumed { with: Resolution::Refused { error }, .. } => Some(error.message.clone()),
        _ => None,
    }
}

fn context(body: &EventBody, room: &mut Room) -> Value {
    match body {
        EventBody::PlaybookStarted(started) => Value::map([
            ("catalog_id", Value::text(started.catalog_id.to_string())),
            ("execution_id", Value::text(started.execution.to_string())),
            ("path", Value::Text(started.path.clone())),
            ("version", started.version.into()),
            ("entry", started.entry.clone().into()),
            ("rerun_of", started.rerun_of.map(|of| of.to_string()).into()),
            ("workload", room.value(&started.workload)),
        ]),
        _ => Value::Null,
    }
}

/// `{status, context}`, the one shape that results have in the event log.
fn result(body: &EventBody, status: &str, room: &mut Room) -> Value {
    let facts = match body {
        EventBody::PlaybookStarted(_) => return Value::Null,
        EventBody::StepEntered { visit, from, looping, is_final, .. } => {
            entered(visit.0, from.as_ref(), looping.as_ref(), *is_final)
        }
        EventBody::StepSkipped { reason, taken, .. } => Value::map([
            ("reason", Value::from(serde_json::to_value(reason).unwrap_or_default())),
            ("next", targets(taken)),
        ]),
        EventBody::StepKept { kept, from } => Value::map([
            ("from_execution_id", Value::text(from.to_string())),
            ("status", kept.status.as_str().into()),
            ("data", kept.result.as_ref().map_or(Value::Null, |result| room.slot(result))),
            ("error", kept.error.as_ref().map_or(Value::Null, |error| room.value(&error.to_value()))),
        ]),
        EventBody::CallDone { command, outcome, .. } | EventBody::CallFailed { command, outcome, .. } => {
            called(*command, outcome, room)
        }
        EventBody::CallSuspended { command, on, .. } => {
            Value::map([("command_id", command.to_string().into()), ("waits_for", waiting(on, room))])
        }
        EventBody::CallResumed { command, with, .. } => {
            Value::map([("command_id", command.to_string().into()), ("resumed_by", resumed(with, room))])
        }
        EventBody::CallIgnored { reason, .. } => Value::map([("reason", Value::Text(reason.clone()))]),
        EventBody::ContextUpdated { step, sets, .. } => {
            Value::map([("step", Value::Text(step.clone())), ("values", assigned(sets, room))])
        }
        EventBody::StepTimedOut { visit, seconds, .. } => {
            Value::map([("visit", Value::from(visit.0)), ("seconds", (*seconds).into())])
        }
        EventBody::StepExited { visit, taken, result, error, handled, .. } => {
            let mut facts = Map::new();
            facts.insert("visit".into(), visit.0.into());
            facts.insert("next".into(), targets(taken));
            if let Some(result) = result {
                facts.insert("data".into(), room.slot(result));
            }
            if let Some(error) = error {
                facts.insert("error".into(), room.value(&error.to_value()));
                facts.insert("handled".into(), (*handled).into());
            }
            facts.into()
        }
        EventBody::ChildStarted { command, child, .. } => Value::map([
            ("command_id", command.to_string().into()),
            ("child_execution_id", child.to_string().into()),
        ]),
        EventBody::SignalReceived { name, payload } => {
            Value::map([("name", Value::Text(name.clone())), ("payload", room.slot(payload))])
        }
        EventBody::Paused { reason } | EventBody::PlaybookCancelled { reason } => {
            Value::map([("reason", Value::Text(reason.clone()))])
        }
        EventBody::PlaybookCompleted { from } => Value::map([("from", from.clone().into())]),
        EventBody::PlaybookFailed { error, .. } => Value::map([("error", room.value(&error.to_value()))]),
        EventBody::CommandIssued { .. }
        | EventBody::CommandStarted { .. }
        | EventBody::CommandLost { .. }
        | EventBody::Resumed => return Value::map([("status", status.into())]),
    };
    Value::map([("status", status.into()), ("context", facts)])
}

fn entered(visit: u32, from: Option<&Arc<str>>, looping: Option<&LoopEntry>, is_final: bool) -> Value {
    let mut facts = Map::new();
    facts.insert("visit".into(), visit.into());
    facts.insert("from".into(), from.cloned().into());
    if let Some(looping) = looping {
        facts.insert("iterations_expected".into(), looping.total.into());
        facts.insert("max_in_flight".into(), looping.max_in_flight.into());
        if looping.cursor.is_some() {
            facts.insert("__cursor_loop".into(), true.into());
        }
    }
    if is_final {
        facts.insert("final".into(), true.into());
    }
    facts.into()
}

/// The outcome of a call, wrapped as workers of NoETL send it.
fn called(command: CommandKey, outcome: &Outcome, room: &mut Room) -> Value {
    let mut facts = Map::new();
    facts.insert("command_id".into(), command.to_string().into());
    facts.insert("call_index".into(), 0.into());
    let Outcome::Finished { report, .. } = outcome else {
        return facts.into();
    };
    let status = Value::from(if report.error.is_some() { "error" } else { "success" });
    let mut answer = Map::new();
    answer.insert("status".into(), status.clone());
    answer.insert("data".into(), room.slot(&report.data));
    answer.insert("duration_ms".into(), report.duration_ms.into());
    if let Some(error) = &report.error {
        let error = room.value(&error.to_value());
        answer.insert("error".into(), error.clone());
        facts.insert("error".into(), error);
    }
    let mut wrapped = Map::new();
    wrapped.insert("status".into(), status);
    wrapped.insert("context".into(), answer.into());
    if let Slot::Stored(stored) = &report.data {
        wrapped.insert(
            "reference".into(),
            Value::map([
                ("kind", Value::from("result_ref")),
                ("ref", stored.uri.as_str().into()),
                ("store", stored.store.as_str().into()),
                (
                    "meta",
                    Value::map([
                        ("bytes", Value::from(stored.bytes)),
                        ("sha256", stored.sha256.clone().into()),
                        ("media_type", stored.media_type.as_str().into()),
                    ]),
                ),
                ("extracted", stored.extract.clone()),
            ]),
        );
    }
    facts.insert("result".into(), wrapped.into());
    facts.into()
}

fn waiting(on: &Await, room: &mut Room) -> Value {
    match on {
        Await::Sleep { seconds } => {
            Value::map([("await", Value::from("sleep")), ("seconds", (*seconds).into())])
        }
        Await::Signal { name, seconds, prompt } => Value::map([
            ("await", Value::from("signal")),
            ("name", Value::Text(name.clone())),
            ("seconds", (*seconds).into()),
            ("prompt", room.value(prompt)),
        ]),
        Await::Child { path, version, payload, detached, seconds, .. } => Value::map([
            ("await", Value::from("child")),
            ("path", Value::Text(path.clone())),
            ("version", (*version).into()),
            ("payload", room.value(payload)),
            ("detached", (*detached).into()),
            ("seconds", (*seconds).into()),
        ]),
    }
}

fn resumed(with: &Resolution, room: &mut Room) -> Value {
    match with {
        Resolution::Elapsed => Value::map([("resolution", "elapsed".into())]),
        Resolution::Signal { name, payload } => Value::map([
            ("resolution", Value::from("signal")),
            ("name", Value::Text(name.clone())),
            ("payload", room.slot(payload)),
        ]),
        Resolution::Started { execution } => Value::map([
            ("resolution", Value::from("started")),
            ("child_execution_id", execution.to_string().into()),
        ]),
        Resolution::Child { execution, status, report } => Value::map([
            ("resolution", Value::from("child")),
            ("child_execution_id", execution.to_string().into()),
            ("status", status.as_str().into()),
            ("data", room.slot(&report.data)),
        ]),
        Resolution::Refused { error } => {
            Value::map([("resolution", Value::from("refused")), ("error", room.value(&error.to_value()))])
        }
    }
}

fn assigned(sets: &[Assignment], room: &mut Room) -> Value {
    Value::map(sets.iter().map(|set| (set.path.clone(), room.slot(&set.value))))
}

fn targets(taken: &[TakenArc]) -> Value {
    Value::list(taken.iter().map(|arc| arc.to.clone().unwrap_or_else(|| "end".into()).into()))
}

fn command_of(body: &EventBody) -> Option<CommandKey> {
    match body {
        EventBody::CommandIssued { command, .. }
        | EventBody::CommandStarted { command, .. }
        | EventBody::CallDone { command, .. }
        | EventBody::CallFailed { command, .. }
        | EventBody::CallSuspended { command, .. }
        | EventBody::CallResumed { command, .. }
        | EventBody::CallIgnored { command, .. }
        | EventBody::CommandLost { command, .. }
        | EventBody::ChildStarted { command, .. } => Some(*command),
        _ => None,
    }
}

fn attempt_of(body: &EventBody) -> Option<u16> {
    match body {
        EventBody::CommandIssued { attempt, .. }
        | EventBody::CommandStarted { attempt, .. }
        | EventBody::CallDone { attempt, .. }
        | EventBody::CallFailed { attempt, .. }
        | EventBody::CallSuspended { attempt, .. }
        | EventBody::CallIgnored { attempt, .. }
        | EventBody::CommandLost { attempt, .. } => Some(*attempt),
        _ => None,
    }
}

fn meta(execution: &Execution, event: &Event, command: Option<CommandKey>, room: &mut Room) -> Value {
    let mut meta = Map::new();
    match &event.body {
        EventBody::PlaybookStarted(started) => return room.value(&started.meta),
        EventBody::PlaybookFailed { failed_steps, error } => {
            meta.insert("status".into(), "FAILED".into());
            meta.insert("error".into(), error.message.as_str().into());
            let steps = failed_steps.iter().cloned().map(Value::Text);
            meta.insert("failed_steps".into(), Value::list(steps));
        }
        EventBody::PlaybookCompleted { .. } => {
            meta.insert("status".into(), "COMPLETED".into());
        }
        EventBody::CommandIssued { step, tool, .. } => {
            let item = match command.map(|command| command.item) {
                Some(Item::At(index)) => format!(":i{index}"),
                _ => String::new(),
            };
            let name = format!("{}:{step}:{}{item}", execution.id, event.id);
            meta.insert("command_id".into(), name.into());
            meta.insert("step".into(), Value::Text(step.clone()));
            meta.insert("tool_kind".into(), Value::Text(tool.clone()));
        }
        EventBody::CallDone { outcome: Outcome::Finished { attempts, decisions, .. }, .. }
        | EventBody::CallFailed { outcome: Outcome::Finished { attempts, decisions, .. }, .. } => {
            meta.insert("attempts".into(), (*attempts).into());
            if !decisions.is_empty() {
                let decisions = serde_json::to_value(decisions).unwrap_or_default();
                meta.insert("decisions".into(), room.value(&decisions.into()));
            }
        }
        _ => {}
    }
    if let Some(command) = command {
        meta.insert("command_key".into(), command.to_string().into());
        if let Item::At(index) = command.item {
            meta.insert("iteration_index".into(), index.into());
        }
    }
    if let Some(attempt) = attempt_of(&event.body) {
        meta.insert("attempt".into(), attempt.into());
    }
    if meta.is_empty() { Value::Null } else { meta.into() }
}
