//! The description of the API as a page: one file each of HTML, style and script, all served from here.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// The page loads nothing from elsewhere, and nothing in it runs that is not one of these files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(page)).routes(routes!(style)).routes(routes!(script))
}

/// This description as a page to read and try
#[utoipa::path(get, path = "/api/docs", tag = "about",
    responses((status = 200, body = String, content_type = "text/html")))]
async fn page() -> Response {
    file("text/html; charset=utf-8", include_str!("index.html"))
}

/// The style of the page
#[utoipa::path(get, path = "/api/docs/docs.css", tag = "about",
    responses((status = 200, body = String, content_type = "text/css")))]
async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("docs.css"))
}

/// The script of the page
#[utoipa::path(get, path = "/api/docs/docs.js", tag = "about",
    responses((status = 200, body = String, content_type = "text/javascript")))]
async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("docs.js"))
}

fn file(media_type: &'static str, content: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, content).into_response()
}
