//! Answers that go on: streams of events.

use axum::http::header;
use axum::response::Response;

/// Whether an answer is a stream of events, which ends with its reader or the server.
pub fn is(response: &Response) -> bool {
    let media_type = response.headers().get(header::CONTENT_TYPE);
    media_type.is_some_and(|media_type| media_type.as_bytes().starts_with(b"text/event-stream"))
}
