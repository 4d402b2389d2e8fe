//! Steering executions: cancel, pause, resume, signal, clean up, run again.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use noetl_api::execution::{
    CancelRefused, CancelRequest, CancellationCheck, Cancelled, CleanedUp, CleanupRequest, FinalizeRequest,
    Finalized, PauseRequest, Rerun, RerunRequest, SignalRequest, Steered,
};
use noetl_api::{ErrorBody, Id, NumericId};
use noetl_types::{ExecutionId, RunStatus, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::summary::id;
use crate::app::executions::{self as app_executions, From};
use crate::app::{App, Code, Error};
use crate::http::catalog::reference;
use crate::http::error::body;
use crate::http::extract::{Json, OptionalJson, Path};

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(cancel))
        .routes(routes!(stop))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(signal))
        .routes(routes!(finalize))
        .routes(routes!(cleanup))
        .routes(routes!(rerun))
}

pub fn viewing() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(cancellation_check))
}

/// Stop an execution and, with `cascade`, everything it started
#[utoipa::path(post, path = "/api/executions/{id}/cancel", tag = "executions", params(("id" = Id, Path)),
    request_body = CancelRequest,
    responses((status = 200, body = Cancelled), (status = 400, body = CancelRefused), (status = 404, body = ErrorBody)))]
async fn cancel(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    OptionalJson(request): OptionalJson<CancelRequest>,
) -> Response {
    cancelled(&app, execution_id, request).await
}

/// Another name of cancel
#[utoipa::path(post, path = "/api/executions/{id}/stop", tag = "executions", params(("id" = Id, Path)),
    request_body = CancelRequest,
    responses((status = 200, body = Cancelled), (status = 400, body = CancelRefused), (status = 404, body = ErrorBody)))]
async fn stop(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    OptionalJson(request): OptionalJson<CancelRequest>,
) -> Response {
    cancelled(&app, execution_id, request).await
}

async fn cancelled(app: &App, execution_id: Id, request: CancelRequest) -> Response {
    let reason = request.reason.filter(|reason| !reason.is_empty());
    let reason = reason.as_deref().unwrap_or("cancelled on request");
    match app.cancel(ExecutionId(execution_id.0), reason, request.cascade).await {
        Ok(all) => {
            let message = match all.len() {
                1 => format!("execution {execution_id} is cancelled"),
                many => format!("execution {execution_id} and {} that it started are cancelled", many - 1),
            };
            Json(Cancelled {
                status: "cancelled".to_owned(),
                execution_id,
                cancelled_executions: all.into_iter().map(id).collect(),
                message,
            })
            .into_response()
        }
        // The one refusal whose `status` is a word: clients look for it.
        Err(error) if error.code == Code::ExecutionEnded => {
            let ErrorBody { error, code, .. } = body(error);
            let refused = CancelRefused::AlreadyCompleted {
                status: "already_completed".to_owned(),
                execution_id,
                cancelled_executions: Vec::new(),
                message: error.clone(),
                error,
                code,
            };
            (StatusCode::BAD_REQUEST, Json(refused)).into_response()
        }
        Err(error) => error.into_response(),
    }
}

/// Whether an execution was cancelled
#[utoipa::path(get, path = "/api/executions/{id}/cancellation-check", tag = "executions", params(("id" = Id, Path)),
    responses((status = 200, body = CancellationCheck), (status = 404, body = ErrorBody)))]
async fn cancellation_check(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
) -> Result<Json<CancellationCheck>, Error> {
    let execution = app.execution(ExecutionId(execution_id.0)).await?;
    let is_cancelled = execution.row.status == RunStatus::Cancelled;
    Ok(Json(CancellationCheck { execution_id, is_cancelled }))
}

/// Begin nothing new until it is resumed
///
/// Work under way goes on.
#[utoipa::path(post, path = "/api/executions/{id}/pause", tag = "executions", params(("id" = Id, Path)),
    request_body = PauseRequest, responses((status = 200, body = Steered), (status = 404, body = ErrorBody)))]
async fn pause(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    OptionalJson(request): OptionalJson<PauseRequest>,
) -> Result<Json<Steered>, Error> {
    let reason = request.reason.unwrap_or_else(|| "paused on request".to_owned());
    let steered = app.pause(ExecutionId(execution_id.0), &reason).await?;
    Ok(Json(told(execution_id, steered, "paused")))
}

/// Go on after a pause
#[utoipa::path(post, path = "/api/executions/{id}/resume", tag = "executions", params(("id" = Id, Path)),
    responses((status = 200, body = Steered), (status = 404, body = ErrorBody)))]
async fn resume(State(app): State<App>, Path(execution_id): Path<Id>) -> Result<Json<Steered>, Error> {
    let steered = app.resume(ExecutionId(execution_id.0)).await?;
    Ok(Json(told(execution_id, steered, "resumed")))
}

fn told(execution_id: Id, steered: app_executions::Steered, what: &str) -> Steered {
    let changed = steered.before != steered.now;
    let message = match changed {
        true => format!("execution {execution_id} is {what}"),
        false => format!("execution {execution_id} is {} as before", steered.now),
    };
    Steered { execution_id, status: steered.now.as_str().to_owned(), changed, message }
}

/// Give a step the signal that it waits for
///
/// A signal that comes before anyone waits for it is kept.
#[utoipa::path(post, path = "/api/executions/{id}/signal", tag = "executions", params(("id" = Id, Path)),
    request_body = SignalRequest, responses((status = 200, body = Steered), (status = 404, body = ErrorBody)))]
async fn signal(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    Json(request): Json<SignalRequest>,
) -> Result<Json<Steered>, Error> {
    let length = request.name.chars().count();
    if length == 0 || length > 256 {
        return Err(Error::new(Code::BodyInvalid, "the name of a signal has 1 to 256 characters"));
    }
    let steered = app.signal(ExecutionId(execution_id.0), &request.name, request.payload).await?;
    Ok(Json(Steered {
        execution_id,
        status: steered.now.as_str().to_owned(),
        changed: true,
        message: format!("execution {execution_id} has the signal '{}'", request.name),
    }))
}

/// End an execution where it stands
///
/// For one that will never end by itself. Work under way is stopped.
#[utoipa::path(post, path = "/api/executions/{id}/finalize", tag = "executions", params(("id" = Id, Path)),
    request_body = FinalizeRequest, responses((status = 200, body = Finalized), (status = 404, body = ErrorBody)))]
async fn finalize(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    OptionalJson(request): OptionalJson<FinalizeRequest>,
) -> Result<Json<Finalized>, Error> {
    let why = request.error.or(request.reason).filter(|why| !why.is_empty());
    let failure = match request.status.as_deref().map(str::to_ascii_uppercase).as_deref() {
        Some("COMPLETED") => None,
        None | Some("FAILED") => Some(why.unwrap_or_else(|| "finalized on request".to_owned())),
        Some(other) => {
            return Err(Error::new(
                Code::BodyInvalid,
                format!("an execution can't be finalized as '{other}'"),
            )
            .help("use COMPLETED or FAILED"));
        }
    };
    let (changed, status) = app.finalize(ExecutionId(execution_id.0), failure).await?;
    Ok(Json(Finalized {
        execution_id,
        status: if changed { "finalized" } else { "already_completed" }.to_owned(),
        execution_status: status.as_str().to_owned(),
        message: match changed {
            true => format!("execution {execution_id} is finalized as {status}"),
            false => format!("execution {execution_id} was over before: it is {status}"),
        },
    }))
}

/// Cancel executions in which nothing has happened for a while
#[utoipa::path(post, path = "/api/executions/cleanup", tag = "executions", request_body = CleanupRequest,
    responses((status = 200, body = CleanedUp)))]
async fn cleanup(
    State(app): State<App>,
    OptionalJson(request): OptionalJson<CleanupRequest>,
) -> Result<Json<CleanedUp>, Error> {
    let idle = Duration::from_secs(request.older_than_minutes.saturating_mul(60));
    let found = app.clean_up(idle, request.dry_run).await?;
    let verb = if request.dry_run { "would be" } else { "were" };
    Ok(Json(CleanedUp {
        cancelled_count: found.len(),
        message: format!("{} executions {verb} cancelled", found.len()),
        execution_ids: found.into_iter().map(|id| NumericId(id.0)).collect(),
    }))
}

/// Run the playbook of an execution again
///
/// The new execution gets what the earlier one was sent, with the given keys laid over it. With `from` or `from_failed`
/// it begins there, and what the steps that it can't come to came to is kept.
#[utoipa::path(post, path = "/api/executions/{id}/rerun", tag = "executions", params(("id" = Id, Path)),
    request_body = RerunRequest,
    responses((status = 200, body = Rerun), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
async fn rerun(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    OptionalJson(request): OptionalJson<RerunRequest>,
) -> Result<Json<Rerun>, Error> {
    let earlier = app.execution(ExecutionId(execution_id.0)).await?;
    let playbook = match (request.path, request.version) {
        (None, None) => None,
        (path, version) => {
            Some(reference(None, Some(path.unwrap_or_else(|| earlier.row.path.to_string())), version)?)
        }
    };
    let from = match (request.from.filter(|step| !step.is_empty()), request.from_failed) {
        (Some(_), true) => {
            return Err(Error::new(Code::BodyInvalid, "'from' and 'from_failed' exclude each other"));
        }
        (Some(step), false) => From::Step(step),
        (None, true) => From::Unfinished,
        (None, false) => From::Start,
    };
    let payload = request.workload.or(request.payload).unwrap_or(Value::Null);
    let wanted = app_executions::Rerun { payload, playbook, from };
    let (started, kept) = app.rerun(earlier.id, wanted).await?;
    Ok(Json(Rerun {
        execution_id: id(started.execution),
        status: "started".to_owned(),
        rerun_of: execution_id,
        path: started.playbook.path.to_string(),
        version: started.playbook.version,
        catalog_id: Id(started.playbook.catalog_id),
        commands_generated: started.commands,
        kept_steps: kept.iter().map(|step| step.to_string()).collect(),
    }))
}
