//! What the gateway asks before it takes in pushed messages.

use axum::extract::State;
use noetl_api::subscription::{Ingress, IngressDispatch, IngressVerify};
use noetl_api::{ErrorBody, Id};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path};
use super::guard::{Scope, only};
use crate::app::{App, Error};

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Worker, OpenApiRouter::new().routes(routes!(ingress)))
}

/// Where messages of a listener go, and how they prove where they come from
///
/// Registers its subscription if that has not happened yet. The answer holds the secret itself.
#[utoipa::path(get, path = "/api/internal/ingress/{listener}", tag = "subscriptions",
    params(("listener" = String, Path, description = "the last part of spec.ingress.gateway_path")),
    responses((status = 200, body = Ingress), (status = 404, body = ErrorBody)))]
async fn ingress(State(app): State<App>, Path(listener): Path<String>) -> Result<Json<Ingress>, Error> {
    let found = app.ingress(&listener).await?;
    Ok(Json(Ingress {
        listener,
        catalog_path: found.catalog_path,
        source: found.source,
        subscription_id: Id(found.subscription.0),
        verify: IngressVerify {
            kind: found.verify.kind,
            header: found.verify.header,
            secret: found.verify.secret,
            audience: found.verify.audience,
            service_account: found.verify.service_account,
        },
        dispatch: IngressDispatch {
            playbook: found.playbook,
            payload_from: found.payload_from,
            execution_pool: found.pool,
        },
        directives: found.directives,
    }))
}
