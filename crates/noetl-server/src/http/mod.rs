//! HTTP: one module per resource. Each parses, asks `app`, and converts; statuses are chosen in `error` alone.

mod catalog;
mod catalog_paths;
mod commands;
mod credentials;
mod dashboard;
mod error;
mod events;
mod execute;
mod executions;
pub mod extract;
mod guard;
mod health;
mod keychain;
mod openapi;
mod playbooks;
mod registry;
mod replay;
mod results;
mod serve;
mod variables;
mod worker;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;

use crate::app::{App, Code, Error};
use guard::Caller;

pub use guard::Scope;
pub use openapi::document;
pub use serve::serve;

/// Every route with its description.
fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::frame())
        .merge(health::router())
        .merge(catalog::router())
        .merge(catalog_paths::router())
        .merge(playbooks::router())
        .merge(execute::router())
        .merge(executions::router())
        .merge(dashboard::router())
        .merge(replay::router())
        .merge(credentials::router())
        .merge(keychain::router())
        .merge(registry::router())
        .merge(worker::router())
        .merge(results::router())
        .merge(commands::router())
        .merge(events::router())
        .merge(variables::router())
        .merge(openapi::router())
}

/// The whole service.
pub fn router(app: App) -> Router {
    let (router, _) = routes().split_for_parts();
    router
        .fallback(async || Error::new(Code::RouteNotFound, "there is no such route").help("see /api/docs"))
        .method_not_allowed_fallback(async || {
            Error::new(Code::MethodNotAllowed, "the route does not take this method").help("see /api/docs")
        })
        .layer(from_fn(identify))
        .with_state(app)
}

/// Says who asks. Without login everybody is an admin.
async fn identify(mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(Caller::anonymous_admin());
    next.run(request).await
}
