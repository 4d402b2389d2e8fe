//! Every request has an id, every answer the headers that keep browsers careful; the log and the metrics hear of both.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

use super::Gate;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a page may load, where it does not say itself: its own files.
const CONTENT_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

pub async fn observe(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let id = given_id(request.headers())
        .unwrap_or_else(|| HeaderValue::from(u64::try_from(gate.app().ids().next()).unwrap_or_default()));
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let method = request.method().clone();
    let is_api = request.uri().path().starts_with("/api/");
    let span = tracing::debug_span!(
        "request",
        id = id.to_str().unwrap_or_default(),
        %method,
        path = request.uri().path(),
    );
    let began = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let took = began.elapsed();
    let status = response.status();
    span.in_scope(|| {
        tracing::debug!(status = status.as_u16(), took_ms = took.as_secs_f64() * 1e3, "answered")
    });
    gate.app().metrics().requests.answered(&method, route.as_deref(), status.as_u16(), took);
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_api && !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if is_page(headers) && !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, CONTENT_POLICY);
    }
    response
}

/// The client's own id, when it is short and plain enough for a log.
fn given_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let given = headers.get(REQUEST_ID)?;
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    let bytes = given.as_bytes();
    ((1..=128).contains(&bytes.len()) && bytes.iter().all(is_plain)).then(|| given.clone())
}

fn is_page(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/html"))
}
