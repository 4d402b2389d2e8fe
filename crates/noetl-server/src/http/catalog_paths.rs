//! What is asked of one path of the catalog: `/api/catalog/{path}/versions` and the like.
//!
//! A path contains slashes, and a route can only have such a part at its end. So one route takes them all and the last word
//! decides; each is documented as a route of its own.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use noetl_api::catalog::{Diff, VersionInfo, Versions};
use noetl_api::ui_schema::{Field, UiSchema};
use noetl_api::{ErrorBody, Id};
use serde::Deserialize;
use utoipa::{IntoParams, OpenApi};
use utoipa_axum::router::OpenApiRouter;

use super::catalog::reference;
use super::extract::{Json, Path, Query};
use super::guard::{Scope, only};
use crate::app::catalog::Field as Described;
use crate::app::{App, Code, Error};

#[derive(OpenApi)]
#[openapi(paths(ui_schema, versions, diff))]
struct Documented;

pub fn router() -> OpenApiRouter<App> {
    let routes = OpenApiRouter::with_openapi(Documented::openapi());
    only(Scope::Viewer, routes.route("/api/catalog/{*rest}", get(by_last_word)))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct VersionParameter {
    /// A number, or `latest`.
    version: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DiffParameters {
    /// The earlier version; the one before `to` without it.
    from: Option<i64>,
    /// The later version; the newest without it.
    to: Option<i64>,
}

async fn by_last_word(
    state: State<App>,
    Path(rest): Path<String>,
    version: Result<Query<VersionParameter>, Error>,
    range: Result<Query<DiffParameters>, Error>,
) -> Result<Response, Error> {
    match rest.rsplit_once('/') {
        Some((path, "ui_schema")) => Ok(ui_schema(state, path, version?).await?.into_response()),
        Some((path, "versions")) => Ok(versions(state, path).await?.into_response()),
        Some((path, "diff")) => Ok(diff(state, path, range?).await?.into_response()),
        _ => Err(Error::new(Code::RouteNotFound, "there is no such route").help("see /api/docs")),
    }
}

/// The inputs of a playbook, described for forms
///
/// Made from its `workload` and from comments behind the values: `# ui:secret`, `# ui:enum=[a, b]`, `# ui:credential=pg_*`,
/// `# ui:description=text`.
#[utoipa::path(get, path = "/api/catalog/{path}/ui_schema", tag = "catalog",
    params(("path" = String, Path, description = "it may contain slashes"), VersionParameter),
    responses((status = 200, body = UiSchema), (status = 404, body = ErrorBody)))]
async fn ui_schema(
    State(app): State<App>,
    path: &str,
    Query(parameters): Query<VersionParameter>,
) -> Result<Json<UiSchema>, Error> {
    let version = parameters.version.map(noetl_api::execute::Version::Text);
    let described = app.ui_schema(&reference(None, Some(path.to_owned()), version)?).await?;
    Ok(Json(UiSchema {
        path: described.path.to_string(),
        version: described.version,
        kind: described.kind.to_string(),
        title: described.title,
        description_markdown: described.description,
        exposed_in_ui: described.exposed,
        fields: described.fields.into_iter().map(field).collect(),
        generated_at: app.now().to_string(),
    }))
}

fn field(described: Described) -> Field {
    Field {
        name: described.name,
        kind: described.kind.to_owned(),
        default: described.default,
        description: described.description,
        secret: described.secret,
        credential_glob: described.credential_glob,
        options: described.options,
        children: described.children.into_iter().map(field).collect(),
    }
}

/// All versions of a path, archived ones too
#[utoipa::path(get, path = "/api/catalog/{path}/versions", tag = "catalog",
    params(("path" = String, Path, description = "it may contain slashes")),
    responses((status = 200, body = Versions), (status = 404, body = ErrorBody)))]
async fn versions(State(app): State<App>, path: &str) -> Result<Json<Versions>, Error> {
    let found = app.versions(path).await?;
    let versions = found.into_iter().map(|found| VersionInfo {
        version: found.version,
        catalog_id: Id(found.entry.id),
        kind: found.entry.kind.to_string(),
        created_at: found.entry.created_at.to_string(),
        archived_at: found.archived_at.map(|at| at.to_string()),
    });
    Ok(Json(Versions { path: path.to_owned(), versions: versions.collect() }))
}

/// What changed between two versions of a path
#[utoipa::path(get, path = "/api/catalog/{path}/diff", tag = "catalog",
    params(("path" = String, Path, description = "it may contain slashes"), DiffParameters),
    responses((status = 200, body = Diff), (status = 404, body = ErrorBody)))]
async fn diff(
    State(app): State<App>,
    path: &str,
    Query(range): Query<DiffParameters>,
) -> Result<Json<Diff>, Error> {
    let diff = app.diff(path, range.from, range.to).await?;
    Ok(Json(Diff {
        path: path.to_owned(),
        from: diff.from,
        to: diff.to,
        added: diff.added,
        removed: diff.removed,
        diff: diff.text,
    }))
}
