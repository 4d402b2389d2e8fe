//! Health and readiness.

use axum::extract::State;
use axum::http::StatusCode;
use noetl_api::health::{Alive, Health};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Json;
use crate::app::App;

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(alive)).routes(routes!(health))
}

/// The process answers
#[utoipa::path(get, path = "/health", tag = "health", responses((status = 200, body = Alive)))]
async fn alive() -> Json<Alive> {
    Json(Alive { status: "ok".to_owned() })
}

/// The server can do its work
#[utoipa::path(get, path = "/api/health", tag = "health",
    responses((status = 200, body = Health), (status = 503, body = Health, description = "the store does not answer")))]
async fn health(State(app): State<App>) -> (StatusCode, Json<Health>) {
    let connected = match app.store().check().await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%error, "the store does not answer");
            false
        }
    };
    let health = Health {
        status: if connected { "ok" } else { "unhealthy" }.to_owned(),
        database: if connected { "connected" } else { "disconnected" }.to_owned(),
        nats: "not_configured".to_owned(),
        uptime_seconds: app.now().since(app.started_at()).as_secs(),
        version: app.version().to_owned(),
    };
    (if connected { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, Json(health))
}
