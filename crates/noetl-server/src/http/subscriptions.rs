//! Subscriptions.

use axum::extract::State;
use noetl_api::subscription::{SubscribeRequest, SubscriptionList, SubscriptionStatus};
use noetl_api::{ErrorBody, Id};
use noetl_store::Subscription;
use noetl_types::ExecutionId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path};
use super::guard::{Scope, only};
use crate::app::subscriptions::ACTIONS;
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    let read = OpenApiRouter::new().routes(routes!(one));
    // Registering and listing share a path, and so a scope.
    let write = OpenApiRouter::new()
        .routes(routes!(register, list))
        .routes(routes!(register_too))
        .routes(routes!(change));
    only(Scope::Viewer, read).merge(only(Scope::Operator, write))
}

/// Register the subscription of a path
///
/// A path has one live subscription: asking again gives the same.
#[utoipa::path(post, path = "/api/subscriptions", tag = "subscriptions", request_body = SubscribeRequest,
    responses((status = 200, body = SubscriptionStatus), (status = 404, body = ErrorBody)))]
async fn register(
    State(app): State<App>,
    Json(request): Json<SubscribeRequest>,
) -> Result<Json<SubscriptionStatus>, Error> {
    app.register_subscription(&request.path).await.map(status).map(Json)
}

/// Register the subscription of a path, under its other name
#[utoipa::path(post, path = "/api/subscriptions/register", tag = "subscriptions", request_body = SubscribeRequest,
    responses((status = 200, body = SubscriptionStatus), (status = 404, body = ErrorBody)))]
async fn register_too(
    State(app): State<App>,
    Json(request): Json<SubscribeRequest>,
) -> Result<Json<SubscriptionStatus>, Error> {
    app.register_subscription(&request.path).await.map(status).map(Json)
}

/// All subscriptions, the newest first
#[utoipa::path(get, path = "/api/subscriptions", tag = "subscriptions", responses((status = 200, body = SubscriptionList)))]
async fn list(State(app): State<App>) -> Result<Json<SubscriptionList>, Error> {
    let subscriptions = app.list_subscriptions().await?.into_iter().map(status).collect();
    Ok(Json(SubscriptionList { subscriptions }))
}

/// What a subscription is to do now
#[utoipa::path(get, path = "/api/subscriptions/{id}", tag = "subscriptions", params(("id" = Id, Path)),
    responses((status = 200, body = SubscriptionStatus), (status = 404, body = ErrorBody)))]
async fn one(State(app): State<App>, Path(id): Path<Id>) -> Result<Json<SubscriptionStatus>, Error> {
    app.get_subscription(ExecutionId(id.0)).await.map(status).map(Json)
}

/// Change what a subscription is to do
#[utoipa::path(post, path = "/api/subscriptions/{id}/{action}", tag = "subscriptions",
    params(("id" = Id, Path), ("action" = String, Path, description = "activate, pause, resume, drain or deactivate")),
    responses((status = 200, body = SubscriptionStatus), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody, description = "the path has another live subscription by now"),
        (status = 422, body = ErrorBody, description = "not possible in its state; the answer names those in which it is")))]
async fn change(
    State(app): State<App>,
    Path((id, action)): Path<(Id, String)>,
) -> Result<Json<SubscriptionStatus>, Error> {
    let Some(known) = ACTIONS.iter().find(|known| known.name == action) else {
        let names = ACTIONS.map(|action| action.name).join(", ");
        return Err(Error::new(
            Code::ParameterInvalid,
            format!("a subscription can't be told to '{action}'"),
        )
        .help(format!("it knows {names}")));
    };
    app.change_subscription(ExecutionId(id.0), known).await.map(status).map(Json)
}

fn status(subscription: Subscription) -> SubscriptionStatus {
    SubscriptionStatus {
        subscription_id: Id(subscription.id.0),
        path: subscription.path.to_string(),
        catalog_id: Id(subscription.catalog_id),
        state: subscription.state.to_string(),
        last_event_type: subscription.last_event_type.to_string(),
        updated_at: Some(subscription.updated_at.to_string()),
    }
}
