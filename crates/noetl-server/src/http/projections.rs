//! Events that other parts of a cluster hand in.

use axum::extract::{DefaultBodyLimit, State};
use noetl_api::events::EventRequest;
use noetl_api::projection::{Envelope, MaterializeRequest, Materialized, ProjectRequest, Projected};
use noetl_types::{EventId, ExecutionId, Timestamp, Value};
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::events::{LARGEST_BODY, MOST_AT_ONCE, worker_event};
use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::events::WorkerEvent;
use crate::app::projections::Told;
use crate::app::registry::part_name;
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    let routes = OpenApiRouter::new()
        .routes(routes!(project))
        .routes(routes!(materialize))
        .layer(DefaultBodyLimit::max(LARGEST_BODY));
    only(Scope::Worker, routes)
}

/// Hand in events as they lie in a log
///
/// An event is known by its execution and its id; handing it in again changes nothing. What says how a command ended
/// reaches the run.
#[utoipa::path(post, path = "/api/internal/events/project", tag = "outbox", request_body = ProjectRequest,
    responses((status = 200, body = Projected)))]
async fn project(
    State(app): State<App>,
    Json(request): Json<ProjectRequest>,
) -> Result<Json<Projected>, Error> {
    let (projected, duplicates) = take(&app, request.events, told).await?;
    Ok(Json(Projected { projected, duplicates }))
}

/// Hand in events as workers post them
///
/// As `/api/internal/events/project`, in the other shape. One without an id is always new.
#[utoipa::path(post, path = "/api/internal/events/materialize", tag = "outbox", request_body = MaterializeRequest,
    responses((status = 200, body = Materialized)))]
async fn materialize(
    State(app): State<App>,
    Json(request): Json<MaterializeRequest>,
) -> Result<Json<Materialized>, Error> {
    let (materialized, duplicates) = take(&app, request.0, posted).await?;
    Ok(Json(Materialized { materialized, duplicates }))
}

/// How many were new and how many were known.
async fn take<E>(
    app: &App,
    events: Vec<E>,
    read: fn(E) -> Result<Told, Error>,
) -> Result<(usize, usize), Error> {
    if events.len() > MOST_AT_ONCE {
        return Err(Error::new(Code::BodyInvalid, format!("at most {MOST_AT_ONCE} events at a time")));
    }
    let told = events.into_iter().map(read).collect::<Result<Vec<Told>, Error>>()?;
    let count = told.len();
    let new = app.project(told).await?;
    Ok((new, count - new))
}

fn told(envelope: Envelope) -> Result<Told, Error> {
    let at = envelope.created_at.as_deref().or(envelope.timestamp.as_deref()).map(instant).transpose()?;
    let whole = as_value(&envelope)?;
    // A log keeps what a worker said under the result of its event.
    let said = match envelope.context.get("command_id") {
        Some(_) => envelope.context,
        None => envelope.result.get("context").cloned().unwrap_or(envelope.context),
    };
    let event = WorkerEvent {
        execution: ExecutionId(envelope.execution_id.map_or(0, |id| id.0)),
        id: Some(EventId(envelope.event_id.0)),
        event_type: envelope.event_type,
        status: envelope.status,
        context: said,
        meta: envelope.meta,
        worker: envelope.worker_id.as_deref().map(part_name).transpose()?,
    };
    Ok(Told { event, at, envelope: whole })
}

fn posted(request: EventRequest) -> Result<Told, Error> {
    let at = request.created_at.as_deref().map(instant).transpose()?;
    let envelope = as_value(&request)?;
    Ok(Told { event: worker_event(request)?, at, envelope })
}

fn instant(text: &str) -> Result<Timestamp, Error> {
    Timestamp::parse(text)
        .ok_or_else(|| Error::new(Code::BodyInvalid, format!("'{text}' is no instant of RFC 3339")))
}

fn as_value(what: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(what).map(|json| Value::from_json(&json)).map_err(Error::internal)
}
