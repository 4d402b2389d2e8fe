//! Writes down every change that somebody asks for: who, what, to what, and what came of it. Never what was sent.

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use noetl_types::{ExecutionId, Value};

use super::super::guard::Caller;
use super::Gate;
use crate::app::audit::{Deed, Outcome};

/// What a handler can say better than the route does. It goes with the answer.
#[derive(Clone, Debug)]
pub struct Audited {
    pub action: &'static str,
    pub target: String,
    pub execution: Option<ExecutionId>,
}

/// On an answer: all that was changed has been written down with the change itself.
#[derive(Clone, Copy, Debug)]
pub struct Recorded;

/// Routes of workers: what they report becomes events, which are a record of their own.
const REPORTS: [&str; 8] = [
    "/api/worker/",
    "/api/runtime/",
    "/api/events",
    "/api/commands/",
    "/api/result/",
    "/api/vars/",
    "/api/internal/outbox/",
    "/api/internal/events/",
];

/// Questions that are asked with a body.
const QUESTIONS: [&str; 8] = [
    "/api/catalog/list",
    "/api/catalog/resource",
    "/api/catalog/agents/list",
    "/api/catalog/dry-run",
    "/api/catalog/outline",
    "/api/catalog/playbooks/validate",
    "/api/catalog/validate",
    "/api/auth/session/validate",
];

pub async fn record(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let caller = request.extensions().get::<Caller>().map(|caller| caller.name.clone());
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    if response.extensions().get::<Recorded>().is_some() {
        return response;
    }
    let told = response.extensions().get::<Audited>().cloned();
    let Some(route) = route else {
        return response;
    };
    if told.is_none() && (is_read || !is_a_change(&route)) {
        return response;
    }
    let said = told.unwrap_or(Audited { action: "", target: path, execution: None });
    let deed = Deed {
        actor: caller.unwrap_or_else(|| "unknown".to_owned()),
        action: if said.action.is_empty() { format!("{method} {route}") } else { said.action.to_owned() },
        target: said.target,
        outcome: outcome(response.status()),
        execution: said.execution,
        details: Value::map([("status", Value::from(i64::from(response.status().as_u16())))]),
    };
    if let Err(error) = gate.app().audit(deed).await {
        tracing::error!(%error, "a change was not written into the audit trail");
    }
    response
}

fn is_a_change(route: &str) -> bool {
    !REPORTS.iter().any(|prefix| route.starts_with(prefix)) && !QUESTIONS.contains(&route)
}

fn outcome(status: StatusCode) -> Outcome {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Outcome::Denied,
        status if status.is_success() => Outcome::Success,
        _ => Outcome::Error,
    }
}
