//! A handler that panics costs one answer, not the connection.

use std::panic::AssertUnwindSafe;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use crate::app::{Code, Error};

pub async fn catch(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => {
            tracing::error!(%path, "a request made the server panic");
            Error::new(Code::Internal, "something went wrong in the server; its log has the cause")
                .into_response()
        }
    }
}
