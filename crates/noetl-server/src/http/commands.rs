//! Commands, claimed by workers of other makes.

use axum::extract::State;
use noetl_api::events::{ClaimRequest, ClaimedCommand, Command};
use noetl_api::{ErrorBody, NumericId};
use noetl_types::EventId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path};
use super::guard::{Scope, only};
use crate::app::commands::Rendered;
use crate::app::registry::part_name;
use crate::app::{App, Error};

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Worker, OpenApiRouter::new().routes(routes!(get)).routes(routes!(claim)))
}

/// The command that an event issued
#[utoipa::path(get, path = "/api/commands/{event_id}", tag = "worker", params(("event_id" = NumericId, Path)),
    responses((status = 200, body = Command), (status = 404, body = ErrorBody)))]
async fn get(State(app): State<App>, Path(event): Path<NumericId>) -> Result<Json<Command>, Error> {
    let Rendered { stored, kind, context, meta } = app.command_by_event(EventId(event.0)).await?;
    let step = stored.row.step.to_string();
    Ok(Json(Command {
        execution_id: NumericId(stored.execution.0),
        node_id: step.clone(),
        node_name: step,
        action: kind.to_string(),
        context,
        meta,
    }))
}

/// Take a command
///
/// A worker that has it already gets it again. A conflict is final: the command is somebody else's, over or unknown.
#[utoipa::path(post, path = "/api/commands/{event_id}/claim", tag = "worker",
    params(("event_id" = NumericId, Path)), request_body = ClaimRequest,
    responses((status = 200, body = ClaimedCommand), (status = 409, body = ErrorBody)))]
async fn claim(
    State(app): State<App>,
    Path(event): Path<NumericId>,
    Json(request): Json<ClaimRequest>,
) -> Result<Json<ClaimedCommand>, Error> {
    let worker = part_name(&request.worker_id)?;
    let Rendered { stored, kind, context, meta } = app.claim_by_event(EventId(event.0), worker).await?;
    let step = stored.row.step.to_string();
    Ok(Json(ClaimedCommand {
        status: "ok".to_owned(),
        event_id: event,
        execution_id: NumericId(stored.execution.0),
        node_id: step.clone(),
        node_name: step,
        action: kind.to_string(),
        context,
        meta,
    }))
}
