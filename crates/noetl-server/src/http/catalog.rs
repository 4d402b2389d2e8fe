//! The catalog.

use axum::extract::State;
use noetl_api::catalog::{
    AgentsRequest, ChangedVersion, Deleted, Entries, Entry, ListRequest, PathRequest, RegisterBatchRequest,
    RegisterRequest, Registered, RegisteredBatch, RegisteredItem, ResourceRequest, Restored, ValidateRequest,
    Validated,
};
use noetl_api::execute::Version;
use noetl_api::{ErrorBody, Id};
use noetl_store::{CatalogEntry, CatalogFilter};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::error::{body, diagnostic};
use super::extract::{Json, OptionalJson, Path, within};
use super::guard::{Scope, only};
use crate::app::catalog::{Changed, Listing, Registered as Stored};
use crate::app::{App, Code, Error};
use crate::catalog::Reference;

pub fn router() -> OpenApiRouter<App> {
    let write = OpenApiRouter::new()
        .routes(routes!(register))
        .routes(routes!(register_batch))
        .routes(routes!(delete))
        .routes(routes!(restore));
    let read = OpenApiRouter::new()
        .routes(routes!(resource))
        .routes(routes!(list))
        .routes(routes!(list_paths))
        .routes(routes!(list_agents))
        .routes(routes!(validate));
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
    app.register(&request.content, request.resource_type.as_deref()).await.map(registered).map(Json)
}

/// What was registered, as clients see it.
pub fn registered(stored: Stored) -> Registered {
    Registered {
        status: "success".to_owned(),
        message: format!("Resource '{}' version '{}' registered.", stored.path, stored.version),
        path: stored.path.to_string(),
        version: stored.version,
        catalog_id: Id(stored.id),
        kind: stored.kind.to_string(),
        diagnostics: stored.warnings.iter().map(diagnostic).collect(),
    }
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

/// Documents, the newest first
#[utoipa::path(post, path = "/api/catalog/list", tag = "catalog", request_body = ListRequest,
    responses((status = 200, body = Entries)))]
async fn list(
    State(app): State<App>,
    OptionalJson(request): OptionalJson<ListRequest>,
) -> Result<Json<Entries>, Error> {
    let listing = Listing {
        filter: CatalogFilter {
            kind: request.resource_type.filter(|kind| !kind.is_empty()),
            path: request.path,
            include_archived: request.include_archived,
            latest_only: request.latest_only,
            before: request.before.map(|before| before.0),
            ..CatalogFilter::default()
        },
        agents: request.agent_only,
        capabilities: request.capabilities.unwrap_or_default(),
        limit: within("limit", request.limit, 1000, 1..=10_000)?,
    };
    let found = app.list_entries(&listing).await?;
    let entries = found.into_iter().map(entry).map(|entry| match request.include_content {
        true => entry,
        false => Entry { content: None, ..entry },
    });
    Ok(Json(Entries { entries: entries.collect() }))
}

/// The paths of all documents of a kind
#[utoipa::path(get, path = "/api/catalog/list/{kind}", tag = "catalog",
    params(("kind" = String, Path, description = "such as Playbook; case does not matter")),
    responses((status = 200, body = Vec<String>)))]
async fn list_paths(State(app): State<App>, Path(kind): Path<String>) -> Result<Json<Vec<String>>, Error> {
    app.list_paths(&kind).await.map(Json)
}

/// Documents with `metadata.agent: true`
#[utoipa::path(post, path = "/api/catalog/agents/list", tag = "catalog", request_body = AgentsRequest,
    responses((status = 200, body = Entries)))]
async fn list_agents(
    State(app): State<App>,
    OptionalJson(request): OptionalJson<AgentsRequest>,
) -> Result<Json<Entries>, Error> {
    let listing = Listing {
        filter: CatalogFilter { latest_only: true, ..CatalogFilter::default() },
        agents: true,
        capabilities: request.capabilities.unwrap_or_default(),
        limit: 1000,
    };
    let entries = app.list_entries(&listing).await?.into_iter().map(entry).collect();
    Ok(Json(Entries { entries }))
}

/// Check a document without registering it
#[utoipa::path(post, path = "/api/catalog/playbooks/validate", tag = "catalog", request_body = ValidateRequest,
    responses((status = 200, body = Validated)))]
async fn validate(State(app): State<App>, Json(request): Json<ValidateRequest>) -> Json<Validated> {
    let checked = app.validate(&request.content);
    Json(Validated {
        valid: checked.valid,
        errors: checked.errors,
        diagnostics: checked.diagnostics.iter().map(diagnostic).collect(),
    })
}

/// Take a path out of the catalog, or one version of it
///
/// Versions that executions were started from are archived: they can still be found by id.
#[utoipa::path(post, path = "/api/catalog/delete", tag = "catalog", request_body = PathRequest,
    responses((status = 200, body = Deleted), (status = 404, body = ErrorBody)))]
async fn delete(State(app): State<App>, Json(request): Json<PathRequest>) -> Result<Json<Deleted>, Error> {
    let changed = app.delete_entries(&request.path, number(request.version)?).await?;
    Ok(Json(deleted(request.path, changed)))
}

/// Bring back what was archived
#[utoipa::path(post, path = "/api/catalog/restore", tag = "catalog", request_body = PathRequest,
    responses((status = 200, body = Restored), (status = 404, body = ErrorBody)))]
async fn restore(State(app): State<App>, Json(request): Json<PathRequest>) -> Result<Json<Restored>, Error> {
    let changed = app.restore_entries(&request.path, number(request.version)?).await?;
    Ok(Json(Restored {
        status: "success".to_owned(),
        message: format!("{} of '{}' restored.", counted(changed.len()), request.path),
        path: request.path,
        count: changed.len(),
        restored: changed.into_iter().map(changed_version).collect(),
    }))
}

/// What was deleted, as clients see it.
pub fn deleted(path: String, changed: Vec<Changed>) -> Deleted {
    Deleted {
        status: "success".to_owned(),
        message: format!("{} of '{path}' deleted.", counted(changed.len())),
        path,
        count: changed.len(),
        deleted: changed.into_iter().map(changed_version).collect(),
    }
}

fn changed_version(changed: Changed) -> ChangedVersion {
    ChangedVersion { catalog_id: Id(changed.id), version: changed.version, archived: changed.archived }
}

fn counted(versions: usize) -> String {
    if versions == 1 { "1 version".to_owned() } else { format!("{versions} versions") }
}

/// A version that may be left out; `latest` is no version here.
fn number(version: Option<Version>) -> Result<Option<i64>, Error> {
    match version {
        None => Ok(None),
        Some(Version::Number(version)) => Ok(Some(version)),
        Some(Version::Text(text)) => match text.parse() {
            Ok(version) => Ok(Some(version)),
            Err(_) => Err(Error::new(Code::BodyInvalid, format!("'{text}' is no version"))
                .help("a version is a number from 1; without one all versions are meant")),
        },
    }
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
