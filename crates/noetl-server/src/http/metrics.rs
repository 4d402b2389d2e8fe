//! Metrics, and how the process fares.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use noetl_api::status::{PoolStatus, ServerStatus};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::{App, Error};
use crate::metrics::Process;

pub fn router() -> OpenApiRouter<App> {
    let read = OpenApiRouter::new().routes(routes!(metrics)).routes(routes!(status)).routes(routes!(pool));
    only(Scope::Viewer, read)
}

/// Metrics in the text format of Prometheus
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain; version=0.0.4")))]
async fn metrics(State(app): State<App>) -> Result<Response, Error> {
    let text = app.render_metrics().await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// How the process fares
#[utoipa::path(get, path = "/api/status", tag = "health", responses((status = 200, body = ServerStatus)))]
async fn status(State(app): State<App>) -> Result<Json<ServerStatus>, Error> {
    let process = Process::look();
    Ok(Json(ServerStatus {
        status: "ok".to_owned(),
        version: app.version().to_owned(),
        started_at: app.started_at().to_string(),
        uptime_seconds: app.now().since(app.started_at()).as_secs(),
        memory_bytes: process.resident_bytes,
        cpu_seconds: process.cpu_seconds,
        threads: process.threads,
        open_files: process.open_files,
        open_executions: app.open_executions().await?,
        workers: app.live_workers().await?,
        waiting_inputs: app.drive().mailbox_depth(),
    }))
}

/// How busy the way to the store is
#[utoipa::path(get, path = "/api/pool/status", tag = "health", responses((status = 200, body = PoolStatus)))]
async fn pool(State(app): State<App>) -> Json<PoolStatus> {
    let most = app.drive().mailbox_room();
    let waiting = app.drive().mailbox_depth();
    let free = most.saturating_sub(waiting);
    let utilization = waiting as f64 / most.max(1) as f64;
    Json(PoolStatus {
        pool_min: 0,
        pool_max: most,
        pool_size: most,
        pool_available: free,
        requests_waiting: waiting,
        utilization,
        slots_available: free,
        status: if utilization < 0.9 { "ok" } else { "saturated" }.to_owned(),
    })
}
