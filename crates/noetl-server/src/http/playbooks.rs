//! Playbooks as editors read and write them.

use axum::extract::State;
use noetl_api::ErrorBody;
use noetl_api::Id;
use noetl_api::catalog::{Deleted, PlaybookContent, PlaybookText, Registered};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::catalog::{deleted, registered};
use super::extract::{Json, Path, Query};
use super::guard::{Scope, only};
use crate::app::catalog::Changed;
use crate::app::{App, Code, Error};
use crate::catalog::Reference;

pub fn router() -> OpenApiRouter<App> {
    let read = OpenApiRouter::new().routes(routes!(content));
    let write = OpenApiRouter::new()
        .routes(routes!(put_content))
        .routes(routes!(put_playbook))
        .routes(routes!(delete))
        .routes(routes!(explain))
        .routes(routes!(generate));
    only(Scope::Viewer, read).merge(only(Scope::Operator, write))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// A catalog id, or a path for its newest version.
    playbook_id: String,
}

/// What an editor means by a playbook: its id, or its path.
fn reference(text: String) -> Reference {
    match text.parse() {
        Ok(id) => Reference::Id(id),
        Err(_) => Reference::Latest(text),
    }
}

/// The text of a playbook
#[utoipa::path(get, path = "/api/catalog/playbook/content", tag = "catalog", params(Which),
    responses((status = 200, body = PlaybookContent), (status = 404, body = ErrorBody)))]
async fn content(State(app): State<App>, Query(which): Query<Which>) -> Result<Json<PlaybookContent>, Error> {
    let found = app.entry(&reference(which.playbook_id)).await?;
    Ok(Json(PlaybookContent {
        playbook_id: Id(found.entry.id),
        path: found.entry.path.to_string(),
        version: found.version,
        content: found.entry.content.to_string(),
    }))
}

/// Register the next version of a playbook
#[utoipa::path(put, path = "/api/catalog/playbook/content", tag = "catalog", params(Which), request_body = PlaybookText,
    responses((status = 200, body = Registered), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
async fn put_content(
    State(app): State<App>,
    Query(which): Query<Which>,
    Json(text): Json<PlaybookText>,
) -> Result<Json<Registered>, Error> {
    app.register_again(&reference(which.playbook_id), &text.content).await.map(registered).map(Json)
}

/// Register the next version of a playbook
#[utoipa::path(put, path = "/api/catalog/playbook", tag = "catalog", params(Which), request_body = PlaybookText,
    responses((status = 200, body = Registered), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
async fn put_playbook(
    State(app): State<App>,
    Query(which): Query<Which>,
    Json(text): Json<PlaybookText>,
) -> Result<Json<Registered>, Error> {
    app.register_again(&reference(which.playbook_id), &text.content).await.map(registered).map(Json)
}

/// Take one version of a playbook out of the catalog
#[utoipa::path(delete, path = "/api/catalog/playbooks/{id}", tag = "catalog",
    params(("id" = String, Path, description = "a catalog id, or a path for its newest version")),
    responses((status = 200, body = Deleted), (status = 404, body = ErrorBody)))]
async fn delete(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Deleted>, Error> {
    let found = app.entry(&reference(id)).await?;
    let (id, version) = (found.entry.id, found.version);
    let archived = app.delete_entry(id).await?;
    let changed = archived.map(|archived| Changed { id, version, archived });
    Ok(Json(deleted(found.entry.path.to_string(), changed.into_iter().collect())))
}

/// Explain a playbook with a language model
///
/// This server has none; see `POST /api/catalog/playbooks/validate` and `GET /api/executions/{id}/explain`.
#[utoipa::path(post, path = "/api/catalog/playbooks/explain/ai", tag = "catalog",
    responses((status = 501, body = ErrorBody)))]
async fn explain() -> Error {
    no_model("explained")
}

/// Write a playbook with a language model
///
/// This server has none.
#[utoipa::path(post, path = "/api/catalog/playbooks/generate/ai", tag = "catalog",
    responses((status = 501, body = ErrorBody)))]
async fn generate() -> Error {
    no_model("written")
}

fn no_model(what: &str) -> Error {
    Error::new(
        Code::NotSupported,
        format!("playbooks are not {what} by a language model here: the server has none and calls none"),
    )
    .help("run a playbook of your own that calls a model with the http tool")
}
