//! Credentials. Their values are given to workers and admins alone, and only when asked for.

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use noetl_api::credentials::{
    Credential, CredentialDeleted, CredentialDetailQuery, CredentialFilter, CredentialList, CredentialQuery,
    CredentialRequest, SecretData,
};
use noetl_api::{ErrorBody, Id};
use noetl_store::CredentialRow;
use noetl_types::{ExecutionId, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path, Query};
use super::gate::Audited;
use super::guard::{Caller, Scope, only};
use crate::app::credentials::{CredentialSearch, NewCredential};
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    let read = OpenApiRouter::new().routes(routes!(list)).routes(routes!(detail));
    let write = OpenApiRouter::new().routes(routes!(put)).routes(routes!(delete));
    only(Scope::Viewer, read).merge(only(Scope::Operator, write))
}

/// Keep a credential; one of the same name is replaced
#[utoipa::path(post, path = "/api/credentials", tag = "credentials", request_body = CredentialRequest,
    responses((status = 200, body = Credential)))]
async fn put(
    State(app): State<App>,
    Json(request): Json<CredentialRequest>,
) -> Result<(Extension<Audited>, Json<Credential>), Error> {
    let new = NewCredential {
        name: request.name,
        kind: request.kind,
        data: request.data.0,
        meta: request.meta.unwrap_or_default(),
        tags: request.tags.unwrap_or_default(),
        description: request.description,
    };
    let row = app.put_credential(new).await?;
    Ok((audited("credential.put", &row.name, None), Json(credential(row, None))))
}

/// The credentials, without their values
#[utoipa::path(get, path = "/api/credentials", tag = "credentials", params(CredentialQuery),
    responses((status = 200, body = CredentialList)))]
async fn list(
    State(app): State<App>,
    Query(query): Query<CredentialQuery>,
) -> Result<Json<CredentialList>, Error> {
    let limit = match query.limit.unwrap_or(1000) {
        limit @ 1..=1000 => usize::from(limit),
        _ => return Err(Error::new(Code::ParameterInvalid, "'limit' is a number from 1 to 1000")),
    };
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let tags = query.tags.unwrap_or_default();
    let search = CredentialSearch {
        kind: filled(query.kind),
        text: filled(query.q),
        tags: tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
        after: filled(query.after),
    };
    let filter = CredentialFilter { kind: search.kind.clone(), q: search.text.clone() };
    let (rows, more) = app.list_credentials(search, limit).await?;
    let next = rows.last().filter(|_| more).map(|row| row.name.to_string());
    let items = rows.into_iter().map(|row| credential(row, None)).collect();
    Ok(Json(CredentialList { items, filter, next }))
}

/// One credential, by name or id
#[utoipa::path(get, path = "/api/credentials/{identifier}", tag = "credentials",
    params(("identifier" = String, Path, description = "a name or an id"), CredentialDetailQuery),
    responses((status = 200, body = Credential), (status = 404, body = ErrorBody)))]
async fn detail(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Path(identifier): Path<String>,
    Query(query): Query<CredentialDetailQuery>,
) -> Result<Response, Error> {
    if query.include_data && !caller.may(Scope::Worker) {
        return Err(Error::new(Code::Forbidden, "only workers and admins may see the values of credentials")
            .help("leave out include_data, or use a token with the scope 'worker' or 'admin'"));
    }
    let execution = query.execution_id.map(|id| ExecutionId(id.0));
    let found = match app.get_credential(&identifier).await {
        Ok(row) if query.include_data => {
            let data = app.open_credential(&row)?;
            credential(row, Some(data))
        }
        Ok(row) => return Ok(Json(credential(row, None)).into_response()),
        Err(error) if error.code == Code::CredentialNotFound && query.include_data => {
            let Some(execution) = execution else {
                return Err(error);
            };
            let data = app.open_playbook_entry(execution, &identifier).await?.ok_or(error)?;
            entry(identifier, data)
        }
        Err(error) => return Err(error),
    };
    Ok((audited("credential.read", &found.name, execution), Json(found)).into_response())
}

/// Forget a credential
#[utoipa::path(delete, path = "/api/credentials/{identifier}", tag = "credentials",
    params(("identifier" = String, Path, description = "a name or an id")),
    responses((status = 200, body = CredentialDeleted), (status = 404, body = ErrorBody)))]
async fn delete(
    State(app): State<App>,
    Path(identifier): Path<String>,
) -> Result<(Extension<Audited>, Json<CredentialDeleted>), Error> {
    let row = app.delete_credential(&identifier).await?;
    let deleted =
        CredentialDeleted { message: format!("Credential '{}' deleted.", row.name), id: Id(row.id) };
    Ok((audited("credential.delete", &row.name, None), Json(deleted)))
}

/// What the audit trail says of it.
fn audited(action: &'static str, name: &str, execution: Option<ExecutionId>) -> Extension<Audited> {
    Extension(Audited { action, target: name.to_owned(), execution })
}

fn credential(row: CredentialRow, data: Option<Value>) -> Credential {
    Credential {
        id: Id(row.id),
        name: row.name.to_string(),
        kind: row.kind.to_string(),
        meta: row.meta,
        tags: row.tags,
        description: row.description,
        created_at: Some(row.created_at.to_string()),
        updated_at: Some(row.updated_at.to_string()),
        data: data.map(SecretData),
    }
}

/// An entry of a playbook's keychain, in the shape of a credential.
fn entry(name: String, data: Value) -> Credential {
    Credential {
        id: Id(0),
        name,
        kind: "keychain".to_owned(),
        meta: Value::Null,
        tags: Vec::new(),
        description: None,
        created_at: None,
        updated_at: None,
        data: Some(SecretData(data)),
    }
}
