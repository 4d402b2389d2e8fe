//! The registry of running parts.

use axum::extract::State;
use noetl_api::Id;
use noetl_api::registry::{
    Acknowledged, Part, PartName, PartQuery, Parts, RegisterRequest, ShardConfig, ShardInfo, ShardQuery,
};
use noetl_store::WorkerRow;
use noetl_types::{ExecutionId, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Query};
use super::guard::{Scope, only};
use crate::app::registry::{Registration, part_kind, part_name};
use crate::app::{App, Code, Error, shard};

pub fn router() -> OpenApiRouter<App> {
    let write = OpenApiRouter::new()
        .routes(routes!(register))
        .routes(routes!(heartbeat))
        .routes(routes!(deregister, deregister_by_delete));
    let read = OpenApiRouter::new().routes(routes!(list)).routes(routes!(shard_info));
    only(Scope::Worker, write).merge(only(Scope::Viewer, read))
}

/// Announce a worker, or another part
///
/// What an earlier process of the same name still held is given to others.
#[utoipa::path(post, path = "/api/worker/pool/register", tag = "worker", request_body = RegisterRequest,
    responses((status = 200, body = Part)))]
async fn register(State(app): State<App>, Json(request): Json<RegisterRequest>) -> Result<Json<Part>, Error> {
    let mut runtime = request.runtime.as_map().cloned().unwrap_or_default();
    if let Some(hostname) = request.hostname {
        runtime.insert("hostname".into(), Value::from(hostname));
    }
    let registration = Registration {
        kind: part_kind(request.kind.as_deref())?,
        name: part_name(&request.name)?,
        uri: request.uri,
        status: request.status.unwrap_or_else(|| "active".to_owned()).into(),
        labels: request.labels,
        capabilities: request.capabilities,
        capacity: request.capacity,
        runtime: if runtime.is_empty() { Value::Null } else { Value::from(runtime) },
    };
    Ok(Json(part(app.register_part(registration).await?)))
}

/// A part lives
///
/// One that is unknown is added. The leases of a worker's commands are extended.
#[utoipa::path(post, path = "/api/worker/pool/heartbeat", tag = "worker", request_body = PartName,
    responses((status = 200, body = Acknowledged)))]
async fn heartbeat(
    State(app): State<App>,
    Json(request): Json<PartName>,
) -> Result<Json<Acknowledged>, Error> {
    app.hear_from(part_kind(request.kind.as_deref())?, part_name(&request.name)?).await?;
    Ok(acknowledged("Heartbeat received".to_owned()))
}

/// A part ends
///
/// What it still held is given to others.
#[utoipa::path(post, path = "/api/worker/pool/deregister", tag = "worker", request_body = PartName,
    responses((status = 200, body = Acknowledged)))]
async fn deregister(
    State(app): State<App>,
    Json(request): Json<PartName>,
) -> Result<Json<Acknowledged>, Error> {
    let name = part_name(&request.name)?;
    let known = app.deregister_part(part_kind(request.kind.as_deref())?, &name).await?;
    let word = if known { "deregistered" } else { "was not registered" };
    Ok(acknowledged(format!("'{name}' {word}")))
}

/// A part ends
///
/// The same as with POST.
#[utoipa::path(delete, path = "/api/worker/pool/deregister", tag = "worker", request_body = PartName,
    responses((status = 200, body = Acknowledged)))]
async fn deregister_by_delete(app: State<App>, request: Json<PartName>) -> Result<Json<Acknowledged>, Error> {
    deregister(app, request).await
}

/// Workers and other parts
#[utoipa::path(get, path = "/api/worker/pools", tag = "worker", params(PartQuery),
    responses((status = 200, body = Parts)))]
async fn list(State(app): State<App>, Query(query): Query<PartQuery>) -> Result<Json<Parts>, Error> {
    let kind = query.kind.as_deref().map(|word| part_kind(Some(word))).transpose()?;
    let parts = app.list_parts(kind, query.status, query.name).await?;
    let items: Vec<Part> = parts.into_iter().map(part).collect();
    Ok(Json(Parts { count: items.len(), items }))
}

/// The shard of an execution
#[utoipa::path(get, path = "/api/runtime/shard-info", tag = "worker", params(ShardQuery),
    responses((status = 200, body = ShardInfo)))]
async fn shard_info(Query(query): Query<ShardQuery>) -> Result<Json<ShardInfo>, Error> {
    if !(1..=1024).contains(&query.shard_count) {
        return Err(Error::new(Code::ParameterInvalid, "shard_count is a number from 1 to 1024"));
    }
    Ok(Json(ShardInfo {
        execution_id: query.execution_id,
        shard_count: query.shard_count,
        shard_index: shard::shard_of(ExecutionId(query.execution_id.0), query.shard_count),
        source: "noetl-server".to_owned(),
        hash_function: "twox_hash::XxHash64".to_owned(),
        seed: shard::SEED,
        server_config: ShardConfig { shard_index: 0, shard_count: 1 },
    }))
}

fn acknowledged(message: String) -> Json<Acknowledged> {
    Json(Acknowledged { status: "ok".to_owned(), message })
}

fn part(row: WorkerRow) -> Part {
    let WorkerRow { worker, heartbeat, created_at, updated_at } = row;
    Part {
        runtime_id: Id(worker.id),
        name: worker.name.to_string(),
        kind: worker.kind.as_str().to_owned(),
        uri: worker.uri,
        status: worker.status.to_string(),
        labels: worker.labels,
        capabilities: worker.capabilities,
        capacity: worker.capacity,
        runtime: worker.runtime,
        heartbeat: heartbeat.to_string(),
        created_at: created_at.to_string(),
        updated_at: updated_at.to_string(),
    }
}
