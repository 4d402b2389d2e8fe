//! What is no route of the API: files for browsers, which whoever starts the server brings along.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::Response as HttpResponse;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use crate::app::{Code, Error};

/// The answer to a request that no route takes, or nothing when there is none here either.
pub type Pages = fn(&Parts) -> Option<HttpResponse<Bytes>>;

/// For a server that has the API alone.
pub fn no_pages(_: &Parts) -> Option<HttpResponse<Bytes>> {
    None
}

pub fn find(pages: Pages, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    match pages(&parts) {
        Some(page) => page.map(Body::from),
        None => {
            Error::new(Code::RouteNotFound, "there is no such route").help("see /api/docs").into_response()
        }
    }
}
