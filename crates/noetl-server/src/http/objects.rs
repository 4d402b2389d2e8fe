//! Objects of workers. Their keys contain slashes, so one route takes them all.

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::put;
use noetl_api::ErrorBody;
use noetl_api::object::ObjectStored;
use serde::Deserialize;
use utoipa::{IntoParams, OpenApi};
use utoipa_axum::router::OpenApiRouter;

use super::extract::{Json, Path, Query, RawBody};
use super::guard::{Scope, only};
use super::plugins::is_known;
use super::results::LARGE_BODY;
use crate::app::{App, Error};

#[derive(OpenApi)]
#[openapi(paths(store, get))]
struct Documented;

pub fn router() -> OpenApiRouter<App> {
    let by_key = put(store).get(get).layer(DefaultBodyLimit::max(LARGE_BODY));
    let routes =
        OpenApiRouter::with_openapi(Documented::openapi()).route("/api/internal/objects/{*key}", by_key);
    only(Scope::Worker, routes)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Parameters {
    /// What the bytes are; the body's own media type without it.
    media_type: Option<String>,
}

/// Keep bytes under a key
///
/// In the place of what was there.
#[utoipa::path(put, path = "/api/internal/objects/{key}", tag = "results",
    params(("key" = String, Path, description = "it may contain slashes"), Parameters),
    request_body(description = "the bytes", content((String = "application/octet-stream"))),
    responses((status = 200, body = ObjectStored)))]
async fn store(
    State(app): State<App>,
    Path(key): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
    RawBody(bytes): RawBody,
) -> Result<Json<ObjectStored>, Error> {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let stored = app.put_object(&key, parameters.media_type.as_deref().or(sent), &bytes).await?;
    Ok(Json(ObjectStored { key, digest: stored.digest, bytes: stored.bytes.len() as u64 }))
}

/// The bytes under a key
#[utoipa::path(get, path = "/api/internal/objects/{key}", tag = "results",
    params(("key" = String, Path, description = "it may contain slashes")),
    responses((status = 200, description = "the bytes; their digest is the ETag", content((String = "application/octet-stream"))),
        (status = 304, description = "the caller has them"), (status = 404, body = ErrorBody),
        (status = 500, body = ErrorBody, description = "the bytes are damaged")))]
async fn get(State(app): State<App>, Path(key): Path<String>, headers: HeaderMap) -> Result<Response, Error> {
    let found = app.get_object(&key).await?;
    let etag = format!("\"{}\"", found.digest);
    if is_known(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    let headers = [
        (header::CONTENT_TYPE, found.media_type.to_string()),
        (header::ETAG, etag),
        // Whatever a worker stored, a browser must not show it as a page of this server.
        (header::CONTENT_DISPOSITION, "attachment".to_owned()),
    ];
    Ok((headers, Bytes::from_owner(found.bytes)).into_response())
}
