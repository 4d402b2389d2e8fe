//! Values that are too large for their events.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use noetl_api::result::{PutResultRequest, ResultInfo, ResultList, ResultsDeleted, StoredResult, Ttl};
use noetl_api::{ErrorBody, Id};
use noetl_store::ResultInfo as Info;
use noetl_types::ExecutionId;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path, Query, within};
use super::guard::{Scope, only};
use crate::app::results::Put;
use crate::app::{App, Code, Error};

/// What one value may have.
pub const LARGE_BODY: usize = 64 << 20;

pub fn router() -> OpenApiRouter<App> {
    let put = OpenApiRouter::new().routes(routes!(put)).layer(DefaultBodyLimit::max(LARGE_BODY));
    let read = OpenApiRouter::new().routes(routes!(resolve)).routes(routes!(list)).routes(routes!(latest));
    let delete = OpenApiRouter::new().routes(routes!(delete));
    only(Scope::Worker, put).merge(only(Scope::Viewer, read)).merge(only(Scope::Operator, delete))
}

/// Put a value aside
#[utoipa::path(put, path = "/api/result/{execution_id}", tag = "results", request_body = PutResultRequest,
    params(("execution_id" = Id, Path)),
    responses((status = 200, body = StoredResult), (status = 404, body = ErrorBody)))]
async fn put(
    State(app): State<App>,
    Path(execution): Path<Id>,
    Json(request): Json<PutResultRequest>,
) -> Result<Json<StoredResult>, Error> {
    let put = Put {
        name: request.name,
        data: request.data,
        scope: request.scope,
        source_step: request.source_step,
        ttl: request.ttl.as_ref().map(lifetime).transpose()?,
    };
    let stored = app.put_result(ExecutionId(execution.0), put).await?;
    Ok(Json(StoredResult {
        reference: stored.at.to_string(),
        store: "db".to_owned(),
        scope: stored.scope.to_string(),
        bytes: stored.size,
        sha256: stored.sha256,
        expires_at: stored.expires_at.map(|at| at.to_string()),
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Reference {
    /// `noetl://execution/<execution>/result/<name>/<id>`, `noetl://execution/<execution>/loop/<visit>`, or what workers
    /// keep as objects: `noetl://<tenant>/<project>/results/<execution>/<step>/<frame>/<row>/<attempt>`
    r#ref: String,
}

/// The value behind a reference
#[utoipa::path(get, path = "/api/result/resolve", tag = "results", params(Reference),
    responses((status = 200, body = serde_json::Value, description = "the value itself"),
        (status = 404, body = ErrorBody), (status = 500, body = ErrorBody, description = "the value is damaged")))]
async fn resolve(State(app): State<App>, Query(reference): Query<Reference>) -> Result<Response, Error> {
    app.resolve_result(&reference.r#ref).await.map(json)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Page {
    /// Only values after this one: the last of the page before.
    #[param(value_type = Option<Id>)]
    after: Option<Id>,
    #[param(minimum = 1, maximum = 1000, default = 1000)]
    limit: Option<u32>,
}

/// What an execution has put aside
#[utoipa::path(get, path = "/api/result/{execution_id}", tag = "results",
    params(("execution_id" = Id, Path), Page),
    responses((status = 200, body = ResultList), (status = 404, body = ErrorBody)))]
async fn list(
    State(app): State<App>,
    Path(execution): Path<Id>,
    Query(page): Query<Page>,
) -> Result<Json<ResultList>, Error> {
    let limit = within("limit", page.limit, 1000, 1..=1000)?;
    let after = page.after.map(|after| after.0);
    let found = app.list_results(ExecutionId(execution.0), after, limit).await?;
    Ok(Json(ResultList { execution_id: execution, results: found.into_iter().map(info).collect() }))
}

/// The newest value of a name
#[utoipa::path(get, path = "/api/result/{execution_id}/{name}", tag = "results",
    params(("execution_id" = Id, Path), ("name" = String, Path, description = "usually a step")),
    responses((status = 200, body = serde_json::Value, description = "the value itself"),
        (status = 404, body = ErrorBody), (status = 500, body = ErrorBody, description = "the value is damaged")))]
async fn latest(
    State(app): State<App>,
    Path((execution, name)): Path<(Id, String)>,
) -> Result<Response, Error> {
    app.latest_result(ExecutionId(execution.0), &name).await.map(json)
}

/// Remove what an execution has put aside, once it has ended
#[utoipa::path(delete, path = "/api/result/{execution_id}", tag = "results", params(("execution_id" = Id, Path)),
    responses((status = 200, body = ResultsDeleted), (status = 409, body = ErrorBody, description = "it runs, or another execution took values over")))]
async fn delete(State(app): State<App>, Path(execution): Path<Id>) -> Result<Json<ResultsDeleted>, Error> {
    let deleted = app.delete_results(ExecutionId(execution.0)).await?;
    Ok(Json(ResultsDeleted { execution_id: execution, deleted }))
}

/// A lifetime in seconds, or as text with a unit.
fn lifetime(ttl: &Ttl) -> Result<Duration, Error> {
    const MOST_SECONDS: u64 = 315_360_000;
    let seconds = match ttl {
        Ttl::Seconds(seconds) => Some(*seconds),
        Ttl::Text(text) => {
            let digits = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
            let unit = match text[digits..].trim() {
                "" | "s" => Some(1),
                "m" => Some(60),
                "h" => Some(3600),
                "d" => Some(86_400),
                _ => None,
            };
            unit.zip(text[..digits].parse::<u64>().ok()).and_then(|(unit, number)| number.checked_mul(unit))
        }
    };
    match seconds {
        Some(seconds) if seconds <= MOST_SECONDS => Ok(Duration::from_secs(seconds)),
        _ => Err(Error::new(Code::BodyInvalid, "'ttl' is not a lifetime of at most ten years")
            .help("give seconds, or a text such as 90s, 15m, 12h or 7d")),
    }
}

/// Stored JSON goes out as it is.
fn json(content: Arc<[u8]>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], axum::body::Bytes::from_owner(content)).into_response()
}

fn info(found: Info) -> ResultInfo {
    ResultInfo {
        reference: found.at.to_string(),
        result_id: Id(found.at.id),
        execution_id: Id(found.at.execution.0),
        name: found.at.name.to_string(),
        scope: found.scope.to_string(),
        source_step: found.source_step.map(|step| step.to_string()),
        bytes: found.size,
        sha256: found.sha256,
        media_type: found.media_type.to_string(),
        created_at: found.created_at.to_string(),
        expires_at: found.expires_at.map(|at| at.to_string()),
    }
}
