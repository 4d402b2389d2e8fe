//! HTTP: one module per resource. Each parses, asks `app`, and converts; statuses are chosen in `error` alone.

mod audit;
mod body;
mod catalog;
mod catalog_paths;
mod commands;
mod config;
mod connection;
mod credentials;
mod dashboard;
mod database;
mod docs;
mod dry_run;
mod ehdb;
mod error;
mod event_stream;
mod events;
mod execute;
mod executions;
mod extract;
mod gate;
mod guard;
mod health;
mod ingress;
mod keychain;
mod maintenance;
mod metrics;
mod objects;
mod openapi;
mod outbox;
mod outline;
mod pages;
mod playbooks;
mod plugins;
mod projections;
mod registry;
mod replay;
mod results;
mod serve;
mod settings;
mod subscriptions;
mod test_suites;
mod tokens;
mod variables;
mod worker;

use axum::Router;
use utoipa_axum::router::OpenApiRouter;

use crate::app::{App, Code, Error};
use gate::Gate;

pub use config::{Auth, HttpConfig, SecretText};
pub use executions::{event_row, log_line};
pub use guard::{Identities, Identity, Scope, Unproven};
pub use openapi::document;
pub use pages::{Pages, no_pages};
pub use serve::serve_with;
pub use tokens::token;

/// Every route with its description.
fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::frame())
        .merge(health::router())
        .merge(settings::router())
        .merge(catalog::router())
        .merge(catalog_paths::router())
        .merge(playbooks::router())
        .merge(dry_run::router())
        .merge(outline::router())
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
        .merge(tokens::router())
        .merge(audit::router())
        .merge(metrics::router())
        .merge(plugins::router())
        .merge(subscriptions::router())
        .merge(ingress::router())
        .merge(outbox::router())
        .merge(projections::router())
        .merge(objects::router())
        .merge(maintenance::router())
        .merge(test_suites::router())
        .merge(database::router())
        .merge(ehdb::router())
        .merge(docs::router())
        .merge(openapi::router())
}

/// The whole service, with the gate as it is without settings.
pub fn router(app: App) -> Router {
    router_with(app, &HttpConfig::default(), no_pages)
}

/// The whole service behind the gate. What is no route is looked for among the pages.
pub fn router_with(app: App, config: &HttpConfig, pages: Pages) -> Router {
    let (router, _) = routes().split_for_parts();
    let router = router
        .fallback(async move |request| pages::find(pages, request))
        .method_not_allowed_fallback(async || {
            Error::new(Code::MethodNotAllowed, "the route does not take this method").help("see /api/docs")
        });
    Gate::new(app.clone(), config).around(router).with_state(app)
}
