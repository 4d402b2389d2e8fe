//! Housekeeping: letting go of what is old, storing states, and what there is to say about cells and callbacks.

use std::time::Duration;

use axum::extract::State;
use noetl_api::maintenance::{
    AdvanceRequest, Advanced, AdvancedExecution, Cell, Cells, NotAdvanced, PurgeRequest, Purged,
};
use noetl_api::{ErrorBody, Id, NumericId};
use noetl_types::ExecutionId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, OptionalJson, Path};
use super::guard::{Scope, only};
use crate::app::maintenance::Retention;
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    let worker = OpenApiRouter::new()
        .routes(routes!(advance))
        .routes(routes!(cells))
        .routes(routes!(container_callback));
    only(Scope::Worker, worker).merge(only(Scope::Admin, OpenApiRouter::new().routes(routes!(purge))))
}

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// In days: nothing is older.
const A_CENTURY: u32 = 36_500;

/// Remove what is older than it is to be kept
#[utoipa::path(post, path = "/api/internal/cleanup/purge", tag = "maintenance", request_body = PurgeRequest,
    responses((status = 200, body = Purged)))]
async fn purge(
    State(app): State<App>,
    OptionalJson(request): OptionalJson<PurgeRequest>,
) -> Result<Json<Purged>, Error> {
    let days = |days: u32| DAY * days.min(A_CENTURY);
    let keep = Retention {
        commands: days(request.command_retention_days),
        silent_workers: MINUTE * request.runtime_stale_minutes.min(A_CENTURY * 24 * 60),
        executions: (request.event_retention_days > 0).then(|| days(request.event_retention_days)),
    };
    let removed = app.purge(keep).await?;
    Ok(Json(Purged {
        commands_purged: removed.commands,
        runtime_purged: removed.workers,
        events_purged: removed.events,
        executions_purged: removed.executions,
    }))
}

/// Store the state of runs as of their newest events
#[utoipa::path(post, path = "/api/internal/projection/advance", tag = "maintenance", request_body = AdvanceRequest,
    responses((status = 200, body = Advanced)))]
async fn advance(
    State(app): State<App>,
    Json(request): Json<AdvanceRequest>,
) -> Result<Json<Advanced>, Error> {
    const MOST: usize = 1000;
    if request.execution_ids.len() > MOST {
        return Err(Error::new(Code::BodyInvalid, format!("at most {MOST} executions at a time")));
    }
    let mut answer = Advanced { advanced: Vec::new(), failed: Vec::new() };
    for execution_id in request.execution_ids {
        match app.store_state(ExecutionId(execution_id.0)).await {
            Ok(stored) => answer.advanced.push(AdvancedExecution {
                execution_id,
                version: NumericId(stored.last_event.0),
                events: stored.events,
            }),
            Err(error) => answer.failed.push(NotAdvanced { execution_id, error: error.message }),
        }
    }
    Ok(Json(answer))
}

/// Where stored values live
#[utoipa::path(get, path = "/api/internal/cells", tag = "maintenance", responses((status = 200, body = Cells)))]
async fn cells() -> Json<Cells> {
    let name = "local-0";
    let cell = Cell {
        cell: name.to_owned(),
        env: "dev".to_owned(),
        region: "local".to_owned(),
        provider: "database".to_owned(),
        bucket: None,
        endpoint: None,
    };
    Json(Cells { shard_count: 256, default_cell: name.to_owned(), cells: vec![cell] })
}

/// Say how a container ended
///
/// No step waits for a container here: steps that run one do so until it ends.
#[utoipa::path(post, path = "/api/internal/container-callback/{execution_id}/{step}", tag = "maintenance",
    params(("execution_id" = Id, Path), ("step" = String, Path)),
    responses((status = 501, body = ErrorBody)))]
async fn container_callback(Path((_, _)): Path<(Id, String)>) -> Error {
    Error::new(Code::NotSupported, "no step of this server waits for a container to call back")
        .help("let a step wait for a signal and send it with POST /api/executions/{id}/signal")
}
