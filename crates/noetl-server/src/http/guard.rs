//! Who may call what. Each route belongs to a scope; the outer layer says who asks.

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;

use crate::app::{App, Code, Error};

/// What a caller may do. An admin may do everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Reads.
    Viewer,
    /// Reads, registers, runs and steers runs.
    Operator,
    /// Takes commands and reports outcomes; resolves credentials.
    Worker,
    Admin,
}

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::Viewer, Scope::Operator, Scope::Worker, Scope::Admin];

    pub fn name(self) -> &'static str {
        match self {
            Scope::Viewer => "viewer",
            Scope::Operator => "operator",
            Scope::Worker => "worker",
            Scope::Admin => "admin",
        }
    }

    /// Whether a caller with this scope may call a route of that one.
    pub fn covers(self, needed: Scope) -> bool {
        match self {
            Scope::Admin => true,
            Scope::Operator => matches!(needed, Scope::Operator | Scope::Viewer),
            // A worker reads what it needs to run commands: playbooks, executions, results. It also starts sub-playbooks.
            Scope::Worker => matches!(needed, Scope::Worker | Scope::Operator | Scope::Viewer),
            Scope::Viewer => needed == Scope::Viewer,
        }
    }
}

/// Who asks. The authentication layer puts it on the request; without login everybody is an admin.
#[derive(Clone, Debug)]
pub struct Caller {
    /// For the audit: the name of the token, or `anonymous`.
    pub name: String,
    pub scopes: Vec<Scope>,
}

impl Caller {
    pub fn anonymous_admin() -> Caller {
        Caller { name: "anonymous".to_owned(), scopes: vec![Scope::Admin] }
    }

    pub fn may(&self, needed: Scope) -> bool {
        self.scopes.iter().any(|scope| scope.covers(needed))
    }
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
        None => Error::new(Code::NotAuthenticated, "nobody said who is asking").into_response(),
    }
}
