//! The catalog.

use axum::extract::State;
use noetl_api::catalog::{
    Entry, RegisterBatchRequest, RegisterRequest, Registered, RegisteredBatch, RegisteredItem,
    ResourceRequest,
};
use noetl_api::execute::Version;
use noetl_api::{ErrorBody, Id};
use noetl_store::CatalogEntry;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::error::{body, diagnostic};
use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::{App, Code, Error};
use crate::catalog::Reference;

pub fn router() -> OpenApiRouter<App> {
    let write = OpenApiRouter::new().routes(routes!(register)).routes(routes!(register_batch));
    let read = OpenApiRouter::new().routes(routes!(resource));
    only(Scope::Operator, write).merge(only(Scope::Viewer, read))
}

/// Register a document as the next version of its path
///
/// It is checked first. Errors refuse it, with their places; warnings come back with the answer.
#[utoipa::path(post, path = "/api/catalog/register", tag = "catalog", request_body = RegisterRequest,
    responses((status = 200, body = Registered)))]
async fn register(
    State(app): State<App>,
    Json(request): Json<RegisterRequest>,
) -> Result<Json<Registered>, Error> {
    let registered = app.register(&request.content, request.resource_type.as_deref()).await?;
    Ok(Json(Registered {
        status: "success".to_owned(),
        message: format!("Resource '{}' version '{}' registered.", registered.path, registered.version),
        path: registered.path.to_string(),
        version: registered.version,
        catalog_id: Id(registered.id),
        kind: registered.kind.to_string(),
        diagnostics: registered.warnings.iter().map(diagnostic).collect(),
    }))
}

/// Register many documents; each stands for itself
#[utoipa::path(post, path = "/api/catalog/register/batch", tag = "catalog", request_body = RegisterBatchRequest,
    responses((status = 200, body = RegisteredBatch)))]
async fn register_batch(
    State(app): State<App>,
    Json(request): Json<RegisterBatchRequest>,
) -> Result<Json<RegisteredBatch>, Error> {
    const MOST: usize = 1000;
    if request.items.len() > MOST {
        return Err(Error::new(Code::BodyInvalid, format!("a batch has at most {MOST} documents")));
    }
    let mut results = Vec::with_capacity(request.items.len());
    for (index, item) in request.items.iter().enumerate() {
        results.push(match app.register(&item.content, item.resource_type.as_deref()).await {
            Ok(registered) => RegisteredItem {
                index,
                status: "registered".to_owned(),
                path: Some(registered.path.to_string()),
                version: Some(registered.version),
                catalog_id: Some(Id(registered.id)),
                kind: Some(registered.kind.to_string()),
                error: None,
                code: None,
                diagnostics: registered.warnings.iter().map(diagnostic).collect(),
            },
            Err(error) => {
                let refusal = body(error);
                RegisteredItem {
                    index,
                    status: "failed".to_owned(),
                    path: None,
                    version: None,
                    catalog_id: None,
                    kind: None,
                    error: Some(refusal.error),
                    code: Some(refusal.code),
                    diagnostics: refusal.diagnostics,
                }
            }
        });
    }
    let registered = results.iter().filter(|item| item.error.is_none()).count();
    Ok(Json(RegisteredBatch { registered, failed: results.len() - registered, results }))
}

/// One document, by id, or by path and version
#[utoipa::path(post, path = "/api/catalog/resource", tag = "catalog", request_body = ResourceRequest,
    responses((status = 200, body = Entry), (status = 404, body = ErrorBody)))]
async fn resource(
    State(app): State<App>,
    Json(request): Json<ResourceRequest>,
) -> Result<Json<Entry>, Error> {
    let reference = reference(request.catalog_id, request.path, request.version)?;
    Ok(Json(entry(app.entry(&reference).await?)))
}

/// Which entry a request means.
pub fn reference(id: Option<Id>, path: Option<String>, version: Option<Version>) -> Result<Reference, Error> {
    if let Some(id) = id {
        return Ok(Reference::Id(id.0));
    }
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Err(Error::new(Code::BodyInvalid, "the body has neither 'path' nor 'catalog_id'")
            .help("say which document is meant, by one of them"));
    };
    match version {
        None => Ok(Reference::Latest(path)),
        Some(Version::Number(version)) => Ok(Reference::Version(path, version)),
        Some(Version::Text(text)) if text == "latest" || text.is_empty() => Ok(Reference::Latest(path)),
        Some(Version::Text(text)) => match text.parse() {
            Ok(version) => Ok(Reference::Version(path, version)),
            Err(_) => Err(Error::new(Code::BodyInvalid, format!("'{text}' is no version"))
                .help("a version is a number from 1, or 'latest'")),
        },
    }
}

/// An entry as clients see it.
pub fn entry(found: CatalogEntry) -> Entry {
    let CatalogEntry { entry, version, archived_at } = found;
    Entry {
        catalog_id: Id(entry.id),
        path: entry.path.to_string(),
        kind: entry.kind.to_string(),
        version,
        content: Some(entry.content.to_string()),
        layout: entry.layout,
        payload: entry.payload,
        meta: entry.meta,
        created_at: entry.created_at.to_string(),
        archived_at: archived_at.map(|at| at.to_string()),
    }
}
