//! The outbox, for the process that carries messages to a bus outside.

use axum::extract::State;
use noetl_api::NumericId;
use noetl_api::outbox::{
    ClaimRequest, Claimed, Failed, FailedRequest, Message, Pending, Published, PublishedRequest,
};
use noetl_store::ClaimedMessage;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, OptionalJson};
use super::guard::{Scope, only};
use crate::app::{App, Error};

pub fn router() -> OpenApiRouter<App> {
    let routes = OpenApiRouter::new()
        .routes(routes!(claim))
        .routes(routes!(mark_published))
        .routes(routes!(mark_failed))
        .routes(routes!(pending_count));
    only(Scope::Worker, routes)
}

/// Take messages to publish
///
/// In the order they were written. One that is neither published nor failed within a minute can be claimed again.
#[utoipa::path(post, path = "/api/internal/outbox/claim", tag = "outbox", request_body = ClaimRequest,
    responses((status = 200, body = Claimed)))]
async fn claim(
    State(app): State<App>,
    OptionalJson(request): OptionalJson<ClaimRequest>,
) -> Result<Json<Claimed>, Error> {
    let claimed = app.claim_outbox(request.limit).await?;
    let rows: Vec<Message> = claimed.into_iter().map(message).collect();
    Ok(Json(Claimed { claimed: rows.len(), rows }))
}

fn message(claimed: ClaimedMessage) -> Message {
    Message {
        outbox_id: claimed.id,
        event_id: NumericId(claimed.row.event.0),
        execution_id: NumericId(claimed.execution.0),
        subject: claimed.row.subject.to_string(),
        payload: claimed.row.payload,
        payload_codec: "json".to_owned(),
        attempts: claimed.attempts,
    }
}

/// Say that messages are published
#[utoipa::path(post, path = "/api/internal/outbox/mark-published", tag = "outbox", request_body = PublishedRequest,
    responses((status = 200, body = Published)))]
async fn mark_published(
    State(app): State<App>,
    Json(request): Json<PublishedRequest>,
) -> Result<Json<Published>, Error> {
    let marked = app.mark_published(&request.outbox_ids).await?;
    Ok(Json(Published { marked }))
}

/// Say that a message could not be published
///
/// It can be claimed again after a delay that doubles with the attempts, up to 256 seconds or the given limit.
#[utoipa::path(post, path = "/api/internal/outbox/mark-failed", tag = "outbox", request_body = FailedRequest,
    responses((status = 200, body = Failed)))]
async fn mark_failed(
    State(app): State<App>,
    Json(request): Json<FailedRequest>,
) -> Result<Json<Failed>, Error> {
    let FailedRequest { outbox_id, error, attempts, max_delay_seconds } = request;
    let delay = app.mark_failed(outbox_id, &error, attempts, max_delay_seconds).await?;
    Ok(Json(Failed { marked: delay.is_some(), available_at_in: delay.unwrap_or(0) }))
}

/// How many messages wait
#[utoipa::path(get, path = "/api/internal/outbox/pending-count", tag = "outbox", responses((status = 200, body = Pending)))]
async fn pending_count(State(app): State<App>) -> Result<Json<Pending>, Error> {
    app.count_pending().await.map(|pending| Json(Pending { pending }))
}
