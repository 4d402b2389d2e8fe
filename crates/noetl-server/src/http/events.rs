//! Events of workers of other makes.

use axum::extract::{DefaultBodyLimit, State};
use noetl_api::events::{EventAccepted, EventBatchAccepted, EventBatchRequest, EventRequest};
use noetl_api::{ErrorBody, NumericId};
use noetl_types::{EventId, ExecutionId, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::events::{Taken, WorkerEvent};
use crate::app::registry::part_name;
use crate::app::{App, Code, Error};

/// Workers keep results up to 100 KB in the event; pipelines may have several of them.
pub const LARGEST_BODY: usize = 16 * 1024 * 1024;

pub const MOST_AT_ONCE: usize = 1000;

pub fn router() -> OpenApiRouter<App> {
    let routes = OpenApiRouter::new()
        .routes(routes!(post))
        .routes(routes!(post_batch))
        .layer(DefaultBodyLimit::max(LARGEST_BODY));
    only(Scope::Worker, routes)
}

/// Say what happened at a worker
///
/// Posting the same event again changes nothing.
#[utoipa::path(post, path = "/api/events", tag = "worker", request_body = EventRequest,
    responses((status = 200, body = EventAccepted),
        (status = 404, body = ErrorBody, description = "there is no such execution"),
        (status = 409, body = ErrorBody, description = "another worker has the command")))]
async fn post(
    State(app): State<App>,
    Json(request): Json<EventRequest>,
) -> Result<Json<EventAccepted>, Error> {
    let Taken { id, commands } = app.take_event(worker_event(request)?).await?;
    Ok(Json(EventAccepted { status: "ok".to_owned(), event_id: numeric(id), commands_generated: commands }))
}

/// What a worker says.
pub fn worker_event(request: EventRequest) -> Result<WorkerEvent, Error> {
    Ok(WorkerEvent {
        execution: ExecutionId(request.execution_id.0),
        id: request.event_id.map(|id| EventId(id.0)),
        event_type: request.event_type,
        status: request.status,
        context: request.context,
        meta: request.meta,
        worker: request.worker_id.as_deref().map(part_name).transpose()?,
    })
}

/// Say several things about one execution
#[utoipa::path(post, path = "/api/events/batch", tag = "worker", request_body = EventBatchRequest,
    responses((status = 200, body = EventBatchAccepted),
        (status = 404, body = ErrorBody, description = "there is no such execution"),
        (status = 409, body = ErrorBody, description = "another worker has the command")))]
async fn post_batch(
    State(app): State<App>,
    Json(request): Json<EventBatchRequest>,
) -> Result<Json<EventBatchAccepted>, Error> {
    if request.events.len() > MOST_AT_ONCE {
        return Err(Error::new(Code::BodyInvalid, format!("'events' has at most {MOST_AT_ONCE} entries")));
    }
    let worker = request.worker_id.as_deref().map(part_name).transpose()?;
    let mut event_ids = Vec::with_capacity(request.events.len());
    let mut commands_generated = 0;
    for event in request.events {
        let event = WorkerEvent {
            execution: ExecutionId(request.execution_id.0),
            id: None,
            event_type: event.event_type,
            status: event.status,
            context: event.payload,
            meta: Value::Null,
            worker: worker.clone(),
        };
        let Taken { id, commands } = app.take_event(event).await?;
        event_ids.push(numeric(id));
        commands_generated += commands;
    }
    Ok(Json(EventBatchAccepted { status: "ok".to_owned(), event_ids, commands_generated }))
}

fn numeric(id: Option<EventId>) -> NumericId {
    NumericId(id.map_or(0, |id| id.0))
}
