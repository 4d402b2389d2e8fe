//! The keychain of playbooks. All of it is for workers, since every entry is a secret.

use std::time::Duration;

use axum::extract::State;
use noetl_api::credentials::SecretData;
use noetl_api::keychain::{
    KeychainDeleted, KeychainEntry, KeychainList, KeychainQuery, KeychainRequest, KeychainScope,
    KeychainStored, KeychainSummary,
};
use noetl_api::{ErrorBody, Id};
use noetl_store::KeychainScope as Stored;
use noetl_types::{ExecutionId, Timestamp};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path, Query};
use super::guard::{Scope, only};
use crate::app::keychain::{Expiry, KeychainKey, Looked, Renewal, expires_at};
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    let secrets = OpenApiRouter::new().routes(routes!(find, put, delete));
    let list = OpenApiRouter::new().routes(routes!(list));
    only(Scope::Worker, secrets).merge(only(Scope::Viewer, list))
}

/// A secret of a playbook
#[utoipa::path(get, path = "/api/keychain/{catalog_id}/{name}", tag = "credentials",
    params(("catalog_id" = Id, Path), ("name" = String, Path), KeychainQuery),
    responses((status = 200, body = KeychainEntry)))]
async fn find(
    State(app): State<App>,
    Path((catalog_id, name)): Path<(Id, String)>,
    Query(query): Query<KeychainQuery>,
) -> Result<Json<KeychainEntry>, Error> {
    let looked = app.find_keychain(&key(catalog_id, name, &query)).await?;
    let (status, row, data) = match looked {
        Looked::Missing => ("not_found", None, None),
        Looked::Expired(row) => ("expired", Some(row), None),
        Looked::Found(row, data) => ("found", Some(row), Some(SecretData(data))),
    };
    Ok(Json(KeychainEntry {
        status: status.to_owned(),
        data,
        expires_at: row.as_ref().and_then(expires_at).map(|at| at.to_string()),
        auto_renew: row.as_ref().map(|row| row.auto_renew),
        access_count: row.as_ref().map(|row| row.access_count),
    }))
}

/// Keep a secret for a playbook; one of the same name and scope is replaced
#[utoipa::path(post, path = "/api/keychain/{catalog_id}/{name}", tag = "credentials",
    params(("catalog_id" = Id, Path), ("name" = String, Path)), request_body = KeychainRequest,
    responses((status = 200, body = KeychainStored), (status = 404, body = ErrorBody)))]
async fn put(
    State(app): State<App>,
    Path((catalog_id, name)): Path<(Id, String)>,
    Json(request): Json<KeychainRequest>,
) -> Result<Json<KeychainStored>, Error> {
    let query = KeychainQuery { execution_id: request.execution_id, scope_type: request.scope_type };
    let expiry = match (&request.expires_at, request.expires_in) {
        (Some(text), _) => Expiry::At(Timestamp::parse(text).ok_or_else(|| {
            Error::new(Code::BodyInvalid, "'expires_at' is no instant")
                .help("write it like 2026-01-31T23:59:59Z")
        })?),
        (None, Some(seconds)) => Expiry::In(Duration::from_secs(seconds)),
        (None, None) => Expiry::Never,
    };
    let renewal = Renewal { auto: request.auto_renew, config: request.renew_config.unwrap_or_default() };
    let row = app.put_keychain(&key(catalog_id, name, &query), &request.data.0, expiry, renewal).await?;
    Ok(Json(KeychainStored {
        status: "success".to_owned(),
        cache_key: row.cache_key.to_string(),
        expires_at: expires_at(&row).map(|at| at.to_string()),
    }))
}

/// Forget a secret of a playbook
#[utoipa::path(delete, path = "/api/keychain/{catalog_id}/{name}", tag = "credentials",
    params(("catalog_id" = Id, Path), ("name" = String, Path), KeychainQuery),
    responses((status = 200, body = KeychainDeleted)))]
async fn delete(
    State(app): State<App>,
    Path((catalog_id, name)): Path<(Id, String)>,
    Query(query): Query<KeychainQuery>,
) -> Result<Json<KeychainDeleted>, Error> {
    let key = key(catalog_id, name, &query);
    let deleted = app.delete_keychain(&key).await?;
    Ok(Json(KeychainDeleted {
        status: if deleted { "deleted" } else { "not_found" }.to_owned(),
        cache_key: key.cache_key(),
    }))
}

/// What is kept for a playbook, without values
#[utoipa::path(get, path = "/api/keychain/catalog/{catalog_id}", tag = "credentials",
    params(("catalog_id" = Id, Path)), responses((status = 200, body = KeychainList)))]
async fn list(State(app): State<App>, Path(catalog_id): Path<Id>) -> Result<Json<KeychainList>, Error> {
    let now = app.now();
    let rows = app.list_keychain(catalog_id.0).await?;
    let entries = rows.into_iter().map(|row| KeychainSummary {
        keychain_name: row.name.to_string(),
        scope_type: match row.scope {
            Stored::Local => KeychainScope::Local,
            Stored::Shared => KeychainScope::Shared,
            Stored::Global => KeychainScope::Global,
        },
        execution_id: row.execution.map(|execution| Id(execution.0)),
        expires_at: expires_at(&row).map(|at| at.to_string()),
        expired: row.expires_at <= now,
        access_count: row.access_count,
        accessed_at: row.accessed_at.map(|at| at.to_string()),
        created_at: row.created_at.to_string(),
    });
    Ok(Json(KeychainList { catalog_id, entries: entries.collect() }))
}

fn key(catalog_id: Id, name: String, query: &KeychainQuery) -> KeychainKey {
    KeychainKey {
        catalog_id: catalog_id.0,
        name,
        scope: match query.scope_type {
            KeychainScope::Local => Stored::Local,
            KeychainScope::Shared => Stored::Shared,
            KeychainScope::Global => Stored::Global,
        },
        execution: query.execution_id.map(|execution| ExecutionId(execution.0)),
    }
}
