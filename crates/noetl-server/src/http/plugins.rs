//! Plug-in modules. Their paths contain slashes, so one route takes them all.

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use noetl_api::ErrorBody;
use noetl_api::plugin::{PluginDeleted, PluginInfo, PluginList, PluginRegistered};
use noetl_store::PluginInfo as Info;
use serde::Deserialize;
use utoipa::{IntoParams, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path, Query, RawBody};
use super::guard::{Scope, only};
use super::results::LARGE_BODY;
use crate::app::plugins::NewPlugin;
use crate::app::{App, Code, Error};

#[derive(OpenApi)]
#[openapi(paths(register, get, delete))]
struct Documented;

pub fn router() -> OpenApiRouter<App> {
    let by_path = post(register).get(get).delete(delete).layer(DefaultBodyLimit::max(LARGE_BODY));
    let routes = OpenApiRouter::with_openapi(Documented::openapi())
        .route("/api/internal/plugins/{*path}", by_path)
        .routes(routes!(list));
    only(Scope::Worker, routes)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RegisterParameters {
    #[param(required, minimum = 0)]
    version: Option<i64>,
    /// `application/wasm` or `text/wat`; the body's own media type without it.
    media_type: Option<String>,
    /// The SHA-256 that the code must have.
    digest: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Version {
    #[param(required, minimum = 0)]
    version: Option<i64>,
    /// The SHA-256 that the code must have.
    digest: Option<String>,
}

/// Register a version of a module
///
/// The same code again is fine. A version that is taken keeps its code: other code is refused.
#[utoipa::path(post, path = "/api/internal/plugins/{path}", tag = "plug-ins",
    params(("path" = String, Path, description = "it may contain slashes"), RegisterParameters),
    request_body(description = "the code",
        content((String = "application/octet-stream"), (String = "application/wasm"), (String = "text/wat"))),
    responses((status = 200, body = PluginRegistered),
        (status = 409, body = ErrorBody, description = "the version has other code, or the digest does not match")))]
async fn register(
    State(app): State<App>,
    Path(path): Path<String>,
    Query(parameters): Query<RegisterParameters>,
    headers: HeaderMap,
    RawBody(code): RawBody,
) -> Result<Json<PluginRegistered>, Error> {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let new = NewPlugin {
        path,
        version: version(parameters.version)?,
        media_type: parameters.media_type.as_deref().or(sent).unwrap_or_default().to_owned(),
        digest: parameters.digest,
    };
    let Info { path, version, digest, size, .. } = app.register_plugin(new, &code).await?;
    Ok(Json(PluginRegistered { path: path.to_string(), version, digest, bytes: size }))
}

/// The code of a module
#[utoipa::path(get, path = "/api/internal/plugins/{path}", tag = "plug-ins",
    params(("path" = String, Path, description = "it may contain slashes"), Version),
    responses((status = 200, description = "the code; its digest is the ETag",
            content((String = "application/wasm"), (String = "text/wat"))),
        (status = 304, description = "the caller has it"), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody, description = "the code has another digest")))]
async fn get(
    State(app): State<App>,
    Path(path): Path<String>,
    Query(parameters): Query<Version>,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let version = version(parameters.version)?;
    let module = app.get_plugin(&path, version, parameters.digest.as_deref()).await?;
    let etag = format!("\"{}\"", module.info.digest);
    if is_known(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    let headers = [(header::CONTENT_TYPE, module.info.media_type.to_string()), (header::ETAG, etag)];
    Ok((headers, Bytes::from_owner(module.bytes)).into_response())
}

/// Remove a version of a module
#[utoipa::path(delete, path = "/api/internal/plugins/{path}", tag = "plug-ins",
    params(("path" = String, Path, description = "it may contain slashes"), Version),
    responses((status = 200, body = PluginDeleted), (status = 404, body = ErrorBody)))]
async fn delete(
    State(app): State<App>,
    Path(path): Path<String>,
    Query(parameters): Query<Version>,
) -> Result<Json<PluginDeleted>, Error> {
    let version = version(parameters.version)?;
    app.delete_plugin(&path, version).await?;
    Ok(Json(PluginDeleted { path, version, deleted: true }))
}

/// All modules, without their code
#[utoipa::path(get, path = "/api/internal/plugins", tag = "plug-ins", responses((status = 200, body = PluginList)))]
async fn list(State(app): State<App>) -> Result<Json<PluginList>, Error> {
    let plugins = app.store().list_plugins().await?.into_iter().map(|found| PluginInfo {
        path: found.path.to_string(),
        version: found.version,
        digest: found.digest,
        media_type: found.media_type.to_string(),
        bytes: found.size,
        created_at: found.created_at.to_string(),
    });
    Ok(Json(PluginList { plugins: plugins.collect() }))
}

fn version(given: Option<i64>) -> Result<i64, Error> {
    match given {
        Some(version) if version >= 0 => Ok(version),
        Some(version) => Err(Error::new(Code::ParameterInvalid, format!("{version} is no version"))
            .help("a version is a number from 0")),
        None => Err(Error::new(Code::ParameterMissing, "'version' is missing").help("add ?version=1")),
    }
}

/// Whether the caller says that it has what the tag stands for.
pub fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let given = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    given
        .flat_map(|value| value.split(','))
        .any(|tag| matches!(tag.trim(), "*") || tag.trim().trim_start_matches("W/") == etag)
}
