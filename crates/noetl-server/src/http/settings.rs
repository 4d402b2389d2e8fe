//! The configuration that this server runs with.

use axum::extract::State;
use noetl_api::config::ConfigInEffect;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::App;

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Admin, OpenApiRouter::new().routes(routes!(config)))
}

/// Every setting with the value that counts and where it comes from
///
/// Secrets are not in it, only that they are set.
#[utoipa::path(get, path = "/api/config", tag = "about", responses((status = 200, body = ConfigInEffect)))]
async fn config(State(app): State<App>) -> Json<ConfigInEffect> {
    Json(app.config_in_effect().clone())
}
