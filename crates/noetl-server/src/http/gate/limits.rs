//! How large a request may be and how long it may take.

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Gate;
use crate::app::{Code, Error};

/// Where results, modules and what workers report are sent.
const LARGE: [&str; 6] = [
    "/api/events",
    "/api/result/",
    "/api/internal/events/",
    "/api/internal/plugins/",
    "/api/internal/objects/",
    "/api/worker/",
];

pub async fn bound(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let config = gate.config();
    let path = request.uri().path();
    let is_large = LARGE.iter().any(|prefix| path.starts_with(prefix));
    let limit = if is_large { config.large_body_limit } else { config.body_limit };
    // What says beforehand that it is too large is not read at all.
    if announced(request.headers()).is_some_and(|length| length > limit as u64) {
        return Error::new(
            Code::BodyTooLarge,
            format!("the body has more than the {limit} bytes that this route takes"),
        )
        .into_response();
    }
    DefaultBodyLimit::max(limit).apply(&mut request);
    match tokio::time::timeout(config.request_timeout, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Error::new(
            Code::RequestTimeout,
            format!("the request took longer than {} seconds", config.request_timeout.as_secs_f64()),
        )
        .into_response(),
    }
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
