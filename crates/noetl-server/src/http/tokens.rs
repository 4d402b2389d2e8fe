//! API tokens. A secret is in the answer to its making and nowhere else.

use axum::extract::State;
use noetl_api::tokens::{Token, TokenCreated, TokenList, TokenRequest, TokenRevoked, TokenScope};
use noetl_api::{ErrorBody, Id};
use noetl_store::ApiToken;
use noetl_types::Timestamp;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path};
use super::guard::{Scope, only};
use crate::app::tokens::NewToken;
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    let routes = OpenApiRouter::new().routes(routes!(create, list)).routes(routes!(revoke));
    only(Scope::Admin, routes)
}

/// Make a token; its secret is shown this once
#[utoipa::path(post, path = "/api/tokens", tag = "tokens", request_body = TokenRequest,
    responses((status = 200, body = TokenCreated)))]
async fn create(
    State(app): State<App>,
    Json(request): Json<TokenRequest>,
) -> Result<Json<TokenCreated>, Error> {
    let scopes = request.scopes.iter().map(|scope| match scope {
        TokenScope::Viewer => Scope::Viewer,
        TokenScope::Operator => Scope::Operator,
        TokenScope::Worker => Scope::Worker,
        TokenScope::Admin => Scope::Admin,
    });
    let expires_at = match (&request.expires_at, request.expires_in) {
        (Some(text), _) => Some(Timestamp::parse(text).ok_or_else(|| {
            Error::new(Code::BodyInvalid, "'expires_at' is no instant")
                .help("write it like 2026-01-31T23:59:59Z")
        })?),
        (None, Some(seconds)) => Some(app.now().after(std::time::Duration::from_secs(seconds))),
        (None, None) => None,
    };
    let new = NewToken { name: request.name, scopes: scopes.collect(), expires_at };
    let minted = app.create_token(new).await?;
    Ok(Json(TokenCreated { token: minted.secret, details: token(minted.token) }))
}

/// All tokens, without their secrets
#[utoipa::path(get, path = "/api/tokens", tag = "tokens", responses((status = 200, body = TokenList)))]
async fn list(State(app): State<App>) -> Result<Json<TokenList>, Error> {
    let items = app.list_tokens().await?.into_iter().map(token).collect();
    Ok(Json(TokenList { items }))
}

/// End a token for good
#[utoipa::path(delete, path = "/api/tokens/{id}", tag = "tokens", params(("id" = Id, Path)),
    responses((status = 200, body = TokenRevoked), (status = 404, body = ErrorBody)))]
async fn revoke(State(app): State<App>, Path(id): Path<Id>) -> Result<Json<TokenRevoked>, Error> {
    app.revoke_token(id.0).await?;
    Ok(Json(TokenRevoked { status: "revoked".to_owned(), id }))
}

/// A token as the API tells of it: without its secret.
pub fn token(token: ApiToken) -> Token {
    Token {
        id: Id(token.id),
        name: token.name.to_string(),
        scopes: token.scopes,
        created_at: token.created_at.to_string(),
        expires_at: token.expires_at.map(|at| at.to_string()),
        last_used_at: token.last_used_at.map(|at| at.to_string()),
        revoked_at: token.revoked_at.map(|at| at.to_string()),
    }
}
