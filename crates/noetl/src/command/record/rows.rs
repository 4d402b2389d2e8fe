//! Rows of the API as events again, as far as a recording reads them.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use noetl_client::api::execution::EventRow;
use noetl_dsl::Plan;
use noetl_dsl::plan::Target;
use noetl_types::{
    CommandKey, ErrorKind, Event, EventBody, EventId, ExecutionId, Item, Map, Outcome, Report, SkipReason,
    Started, StepStatus, TakenArc, Timestamp, ToolError, Value, VisitId,
};

/// The event of a row; nothing for one that a recording does not read.
pub fn event_of(row: &EventRow, plan: &Plan) -> Result<Option<Event>> {
    let facts = row.result.get("context").cloned().unwrap_or_default();
    if let Some(part) = truncated(&facts) {
        bail!("event {} has {part} that is too large to be sent; record it from the data folder", row.seq);
    }
    let step = || -> Arc<str> { row.node_name.as_deref().unwrap_or_default().into() };
    let text = |key: &str| facts.get(key).and_then(Value::as_str).map(Arc::<str>::from);
    let visit = VisitId(facts.get("visit").and_then(Value::as_i64).unwrap_or_default() as u32);
    let body = match row.event_type.as_str() {
        "playbook_started" => EventBody::PlaybookStarted(Started {
            execution: ExecutionId(row.execution_id.0),
            path: row.node_name.as_deref().unwrap_or_default().into(),
            catalog_id: row.catalog_id.0,
            workload: row.context.get("workload").cloned().unwrap_or_default(),
            ..Started::default()
        }),
        "step.enter" => EventBody::StepEntered {
            step: step(),
            visit,
            from: None,
            looping: None,
            is_final: false,
            deadline: None,
        },
        "call.done" | "call.error" => {
            let command = command_of(row).with_context(|| format!("event {} names no command", row.seq))?;
            let outcome = outcome_of(row, &facts);
            if row.event_type == "call.done" {
                EventBody::CallDone { command, step: step(), attempt: 1, outcome }
            } else {
                EventBody::CallFailed { command, step: step(), attempt: 1, outcome }
            }
        }
        "step.exit" => EventBody::StepExited {
            visit,
            status: StepStatus::Completed,
            taken: taken(plan, &step(), &facts),
            result: facts.get("data").cloned().map(Into::into),
            error: None,
            handled: false,
            step: step(),
        },
        "step.skipped" => EventBody::StepSkipped {
            reason: SkipReason::NotReached,
            taken: taken(plan, &step(), &facts),
            step: step(),
        },
        "signal.received" => EventBody::SignalReceived {
            name: text("name").unwrap_or_default(),
            payload: facts.get("payload").cloned().unwrap_or_default().into(),
        },
        "playbook.completed" => EventBody::PlaybookCompleted { from: text("from") },
        "playbook.failed" => EventBody::PlaybookFailed {
            error: error_of(facts.get("error").unwrap_or(&Value::Null)),
            failed_steps: Vec::new(),
        },
        "playbook.cancelled" => EventBody::PlaybookCancelled { reason: text("reason").unwrap_or_default() },
        _ => return Ok(None),
    };
    let at = Timestamp::parse(&row.timestamp).unwrap_or_default();
    Ok(Some(Event { id: EventId(row.event_id.0), seq: row.seq, at, body }))
}

/// What of a row had no room in the answer.
fn truncated(value: &Value) -> Option<&'static str> {
    match value {
        Value::Map(map) if map.contains_key("_truncated") => Some("a value"),
        Value::Map(map) if map.contains_key("_ref") && map.contains_key("_bytes") => Some("a stored value"),
        Value::Map(map) => map.values().find_map(truncated),
        _ => None,
    }
}

/// `3`, `3.i1` for an item and `3.c0` for a claim, with `+n` behind later parts.
fn command_of(row: &EventRow) -> Option<CommandKey> {
    let text = row.meta.get("command_key")?.as_str()?;
    let (place, part) =
        text.split_once('+').map_or((text, Some(0)), |(place, part)| (place, part.parse().ok()));
    let (visit, item) = match place.split_once('.') {
        None => (place, Item::Whole),
        Some((visit, item)) => match item.split_at_checked(1)? {
            ("i", index) => (visit, Item::At(index.parse().ok()?)),
            ("c", frame) => (visit, Item::Claim(frame.parse().ok()?)),
            _ => return None,
        },
    };
    Some(CommandKey { visit: VisitId(visit.parse().ok()?), item, part: part? })
}

fn outcome_of(row: &EventRow, facts: &Value) -> Outcome {
    let answer = facts.get("result").and_then(|result| result.get("context"));
    let data = answer.and_then(|answer| answer.get("data")).cloned().unwrap_or_default();
    let error = facts.get("error").map(error_of);
    let attempts = row.meta.get("attempts").and_then(Value::as_i64).unwrap_or(1);
    Outcome::Finished {
        report: Report { data: data.into(), error, ..Report::default() },
        sets: Vec::new(),
        attempts: u32::try_from(attempts).unwrap_or(1),
        decisions: Vec::new(),
    }
}

/// An error as templates see it: its own facts, and the details beside them.
fn error_of(value: &Value) -> ToolError {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = text("kind").and_then(|kind| serde_json::from_value(kind.into()).ok());
    let mut error = ToolError::new(kind.unwrap_or(ErrorKind::Unknown), text("message").unwrap_or_default());
    error.code = text("code");
    error.retryable = value.get("retryable").and_then(Value::as_bool).unwrap_or(error.retryable);
    let own = ["kind", "message", "code", "retryable"];
    let details: Map = value
        .as_map()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !own.contains(&&***key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !details.is_empty() {
        error.details = details.into();
    }
    error
}

/// The arcs by the names of the steps that they lead to.
fn taken(plan: &Plan, step: &str, facts: &Value) -> Vec<TakenArc> {
    let arcs = plan.find_step(step).map(|at| &plan.steps[at].router.arcs);
    let leads_to = |target: Target, name: &str| match target {
        Target::Step(at) => &*plan.steps[at].name == name,
        Target::End => name == "end",
    };
    let names = facts.get("next").and_then(Value::as_list).into_iter().flatten();
    names
        .filter_map(Value::as_str)
        .filter_map(|name| {
            let arc = arcs?.iter().position(|arc| leads_to(arc.target, name))?;
            Some(TakenArc { arc: arc as u32, to: Some(name.into()) })
        })
        .collect()
}
