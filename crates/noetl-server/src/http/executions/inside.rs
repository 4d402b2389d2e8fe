//! Into an execution: why it is where it is, what it started, one of its steps, and how it was at an event.

use axum::extract::State;
use noetl_api::dry_run::StepCalls;
use noetl_api::execution::{
    Attempt, ChildrenParameters, Decision, Execution, Explained, RanStep, Resolve, State as StateAt,
    StateParameters,
};
use noetl_api::{ErrorBody, Id};
use noetl_engine::explain;
use noetl_types::{CommandKey, Event, EventBody, ExecutionId, Item, Outcome, TakenArc, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::events::slots;
use super::room::{RESOLVED, Room};
use super::summary::{execution, id, step as step_of, steps};
use crate::app::executions::{CalledWith, StepHistory};
use crate::app::{App, Error};
use crate::http::dry_run::of_call;
use crate::http::extract::{Json, Path, Query};

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(explained))
        .routes(routes!(children))
        .routes(routes!(step))
        .routes(routes!(step_calls))
        .routes(routes!(state))
}

/// Why an execution is where it is, in words
#[utoipa::path(get, path = "/api/executions/{id}/explain", tag = "executions", params(("id" = Id, Path)),
    responses((status = 200, body = Explained), (status = 404, body = ErrorBody)))]
async fn explained(State(app): State<App>, Path(execution_id): Path<Id>) -> Result<Json<Explained>, Error> {
    let looked = app.look(ExecutionId(execution_id.0)).await?;
    let lines = looked.plan.as_ref().map(|plan| explain(&looked.run, plan)).unwrap_or_default();
    Ok(Json(Explained { execution_id, status: looked.run.status.as_str().to_owned(), lines }))
}

/// The executions that an execution started, newest first
#[utoipa::path(get, path = "/api/executions/{id}/children", tag = "executions",
    params(("id" = Id, Path), ChildrenParameters),
    responses((status = 200, body = Vec<Execution>), (status = 404, body = ErrorBody)))]
async fn children(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    Query(parameters): Query<ChildrenParameters>,
) -> Result<Json<Vec<Execution>>, Error> {
    let before = parameters.before.map(|before| ExecutionId(before.0));
    let limit = usize::try_from(parameters.limit.unwrap_or(50).clamp(1, 100)).unwrap_or(100);
    let found = app.children(ExecutionId(execution_id.0), before, limit).await?;
    let now = app.now();
    Ok(Json(found.iter().map(|found| execution(found, now)).collect()))
}

/// An execution as it was right after one of its events
#[utoipa::path(get, path = "/api/executions/{id}/state", tag = "executions",
    params(("id" = Id, Path), StateParameters),
    responses((status = 200, body = StateAt), (status = 404, body = ErrorBody)))]
async fn state(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    Query(parameters): Query<StateParameters>,
) -> Result<Json<StateAt>, Error> {
    let seq = parameters.at_seq.unwrap_or(u64::MAX);
    let (run, plan) = app.state_at(ExecutionId(execution_id.0), seq).await?;
    let mut room = Room::new(false);
    Ok(Json(StateAt {
        execution_id,
        seq: run.seq,
        status: run.status.as_str().to_owned(),
        steps: steps(&run, plan.as_deref(), &mut room),
        variables: run.ctx.iter().map(|(name, slot)| (name.to_string(), room.slot(slot))).collect(),
        workload: room.value(&run.started.workload),
        waiting: run.pending.keys().map(|name| name.to_string()).collect(),
        error: run.error.as_ref().map(|error| error.message.clone()),
        lines: plan.map(|plan| explain(&run, &plan)).unwrap_or_default(),
    }))
}

/// One step: what it came to, each attempt, and what decided
#[utoipa::path(get, path = "/api/executions/{id}/steps/{step}", tag = "executions",
    params(("id" = Id, Path), ("step" = String, Path), Resolve),
    responses((status = 200, body = RanStep), (status = 404, body = ErrorBody)))]
async fn step(
    State(app): State<App>,
    Path((execution_id, name)): Path<(Id, String)>,
    Query(parameters): Query<Resolve>,
) -> Result<Json<RanStep>, Error> {
    let mut history = app.step_history(ExecutionId(execution_id.0), &name).await?;
    let resolve = parameters.resolve.unwrap_or(false);
    if resolve {
        app.resolve(history.record.result.iter_mut().collect(), RESOLVED).await?;
        app.resolve(slots(history.events.iter_mut()), RESOLVED).await?;
    }
    Ok(Json(told(&name, &history, &mut Room::new(resolve))))
}

/// What the newest command of a step called first
///
/// It is rendered again from what was known when the command was issued, without secrets: those only workers have.
#[utoipa::path(get, path = "/api/executions/{id}/steps/{step}/calls", tag = "executions",
    params(("id" = Id, Path), ("step" = String, Path)),
    responses((status = 200, body = StepCalls), (status = 404, body = ErrorBody)))]
async fn step_calls(
    State(app): State<App>,
    Path((execution_id, name)): Path<(Id, String)>,
) -> Result<Json<StepCalls>, Error> {
    Ok(Json(match app.called_with(ExecutionId(execution_id.0), &name).await? {
        Ok(CalledWith { key, attempt, first }) => StepCalls {
            item: match key.item {
                Item::At(index) => Some(index),
                Item::Whole | Item::Claim(_) => None,
            },
            attempt: Some(attempt),
            calls: first.calls.into_iter().map(of_call).collect(),
            error: first.error.map(|error| error.message.to_string()),
            untold: None,
        },
        Err(untold) => StepCalls { untold: Some(untold.to_string()), ..StepCalls::default() },
    }))
}

/// Attempts that are told.
const ATTEMPTS: usize = 200;

fn told(name: &str, history: &StepHistory, room: &mut Room) -> RanStep {
    let StepHistory { looked, record, events } = history;
    let mut told = RanStep {
        step: step_of(&looked.run, name, record, room),
        execution_id: id(looked.execution.id),
        from: None,
        input: input(history, room),
        attempts: Vec::new(),
        next: Vec::new(),
        error_handled: false,
        skipped_because: None,
    };
    for event in events {
        match &event.body {
            EventBody::StepEntered { from, .. } => told.from = from.as_deref().map(str::to_owned),
            EventBody::StepSkipped { reason, taken, .. } => {
                let reason = serde_json::to_value(reason).unwrap_or_default();
                told.skipped_because = reason.as_str().map(str::to_owned);
                told.next = targets(taken);
            }
            EventBody::StepExited { taken, handled, .. } => {
                told.next = targets(taken);
                told.error_handled = *handled;
            }
            _ if told.attempts.len() < ATTEMPTS => told.attempts.extend(attempt(event, events, room)),
            _ => {}
        }
    }
    told
}

fn targets(taken: &[TakenArc]) -> Vec<String> {
    taken.iter().map(|arc| arc.to.as_deref().unwrap_or("end").to_owned()).collect()
}

/// What the step works with while it is under way: the loop item it is at, and the values that its templates name.
fn input(history: &StepHistory, room: &mut Room) -> Value {
    let StepHistory { looked, record, .. } = history;
    let (Some(visit), Some(plan)) = (record.current, &looked.plan) else {
        return Value::Null;
    };
    let Some((key, open)) = looked.run.commands_of(visit).next() else {
        return Value::Null;
    };
    let values: std::sync::Arc<dyn noetl_engine::Values> = std::sync::Arc::new(noetl_engine::NoValues);
    let Ok(Some(command)) = noetl_engine::command_for(&looked.run, plan, key, open.attempt, &values) else {
        return Value::Null;
    };
    let steps = command.context.steps.iter().map(|(name, slot)| (name.clone(), room.slot(slot)));
    let steps = Value::map(steps.collect::<Vec<_>>());
    let variables = command.context.ctx.iter().map(|(name, slot)| (name.clone(), room.slot(slot)));
    let variables = Value::map(variables.collect::<Vec<_>>());
    Value::map([
        ("workload", room.value(&command.context.workload)),
        ("ctx", variables),
        ("steps", steps),
        ("item", command.item.map_or(Value::Null, |item| room.slot(&item.value))),
    ])
}

/// The end of an attempt, if that is what the event is about.
fn attempt(event: &Event, events: &[Event], room: &mut Room) -> Option<Attempt> {
    let (command, number, status, outcome) = match &event.body {
        EventBody::CallDone { command, attempt, outcome, .. } => {
            (*command, *attempt, "completed", Some(outcome))
        }
        EventBody::CallFailed { command, attempt, outcome, .. } => {
            (*command, *attempt, "failed", Some(outcome))
        }
        EventBody::CallSuspended { command, attempt, .. } => (*command, *attempt, "suspended", None),
        EventBody::CommandLost { command, attempt, .. } => (*command, *attempt, "lost", None),
        _ => return None,
    };
    let mut told = Attempt {
        command: command.to_string(),
        attempt: number,
        item: match command.item {
            Item::At(index) => Some(index),
            Item::Whole | Item::Claim(_) => None,
        },
        worker: worker(events, command, number),
        status: status.to_owned(),
        ended_at: event.at.to_string(),
        duration_seconds: None,
        result: Value::Null,
        error: Value::Null,
        decisions: Vec::new(),
    };
    if let Some(Outcome::Finished { report, decisions, .. }) = outcome {
        told.duration_seconds = Some(report.duration_ms / 1000.0).filter(|seconds| seconds.is_finite());
        told.result = room.slot(&report.data);
        told.error = report.error.as_ref().map_or(Value::Null, |error| room.value(&error.to_value()));
        told.decisions = decisions
            .iter()
            .map(|decision| Decision {
                task: decision.task.to_string(),
                attempt: decision.attempt,
                rule: decision.rule,
                action: decision.action.to_string(),
            })
            .collect();
    }
    Some(told)
}

/// Who worked on an attempt.
fn worker(events: &[Event], wanted: CommandKey, number: u16) -> Option<String> {
    events.iter().find_map(|event| match &event.body {
        EventBody::CommandStarted { command, attempt, worker, .. }
            if *command == wanted && *attempt == number =>
        {
            Some(worker.to_string())
        }
        _ => None,
    })
}
