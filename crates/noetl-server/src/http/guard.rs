//! Who may call what. Each route belongs to a scope; the outer layer says who asks.

use std::fmt;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use utoipa_axum::router::OpenApiRouter;

pub use crate::app::Scope;
use crate::app::{App, Code, Error};

/// Who asks. The gate puts it on the request; without login everybody is an admin.
#[derive(Clone, Debug)]
pub struct Caller {
    /// For the audit: the name of the token, or `anonymous`.
    pub name: String,
    pub scopes: Vec<Scope>,
    /// The token, when it is one of those that are stored.
    pub token: Option<i64>,
}

impl Caller {
    pub fn anonymous_admin() -> Caller {
        Caller::fixed("anonymous", Scope::Admin)
    }

    /// Somebody with a token of the configuration.
    pub fn fixed(name: &str, scope: Scope) -> Caller {
        Caller { name: name.to_owned(), scopes: vec![scope], token: None }
    }

    pub fn may(&self, needed: Scope) -> bool {
        self.scopes.iter().any(|scope| scope.covers(needed))
    }
}

/// Tells who somebody is by a token that another program has signed.
pub trait Identities: fmt::Debug + Send + Sync {
    fn identify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Identity, Unproven>>;
}

/// Somebody whom another program vouches for.
#[derive(Clone, Debug)]
pub struct Identity {
    /// For the audit.
    pub name: String,
    pub scopes: Vec<Scope>,
}

/// Why nobody could be told from a token.
#[derive(Clone, Debug)]
pub enum Unproven {
    /// It is no good, in a sentence.
    Refused(String),
    /// The other program can't be asked.
    Unavailable(String),
}

/// Lets only callers with the scope through to these routes.
pub fn only(scope: Scope, routes: OpenApiRouter<App>) -> OpenApiRouter<App> {
    routes.route_layer(from_fn(move |request: Request, next: Next| check(scope, request, next)))
}

async fn check(scope: Scope, request: Request, next: Next) -> Response {
    match request.extensions().get::<Caller>() {
        Some(caller) if caller.may(scope) => next.run(request).await,
        Some(caller) => Error::new(
            Code::Forbidden,
            format!("'{}' does not have the scope '{}'", caller.name, scope.name()),
        )
        .help("use a token with that scope")
        .into_response(),
        None => not_authenticated("this needs an API token").into_response(),
    }
}

pub fn not_authenticated(what: &str) -> Error {
    Error::new(Code::NotAuthenticated, what)
        .help("send 'Authorization: Bearer <token>'; `noetl token create` makes a token")
}
