//! The description of the API, made from the routes themselves.

use std::sync::OnceLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use noetl_api::ErrorBody;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, ResponseBuilder};
use utoipa::{OpenApi as _, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "NoETL", description = "Runs playbooks: workflows over APIs, databases and code."),
    components(schemas(ErrorBody))
)]
struct Frame;

/// What the document says besides its routes.
pub fn frame() -> OpenApi {
    Frame::openapi()
}

/// The whole document.
pub fn document() -> OpenApi {
    let (_, mut document) = super::routes().split_for_parts();
    for (path, item) in &mut document.paths.paths {
        let operations = [
            ("get", &mut item.get),
            ("put", &mut item.put),
            ("post", &mut item.post),
            ("delete", &mut item.delete),
            ("patch", &mut item.patch),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                operation.operation_id = Some(operation_id(method, path));
                add_common_answers(operation);
            }
        }
    }
    document
}

/// What generated clients call an operation: its method and its path, which nothing else has.
fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(method).chain(words).collect::<Vec<_>>().join("_")
}

/// Refusals that any route may give, and those of routes that take a body or parameters.
fn add_common_answers(operation: &mut Operation) {
    let mut common = vec![
        ("400", "the request makes no sense"),
        ("401", "a token is missing or wrong"),
        ("403", "the token does not have the scope"),
        ("408", "the request took too long"),
        ("429", "too many requests"),
        ("503", "the server can't do it now; try again"),
        ("507", "the store has no room"),
    ];
    if operation.request_body.is_some() {
        common.extend([("413", "the body is too large"), ("415", "the body is not JSON")]);
    }
    if operation.request_body.is_some() || operation.parameters.as_ref().is_some_and(|some| !some.is_empty())
    {
        common.push(("422", "a value is not of the shape that is needed"));
    }
    let in_path = |parameter: &RefOr<Parameter>| matches!(parameter, RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Path);
    if operation.parameters.as_ref().is_some_and(|some| some.iter().any(in_path)) {
        common.push(("404", "there is nothing under this name"));
    }
    for (status, description) in common {
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| {
            let schema = RefOr::Ref(Ref::from_schema_name(ErrorBody::name()));
            let answer = ResponseBuilder::new()
                .description(description)
                .content("application/json", Content::new(Some(schema)))
                .build();
            RefOr::T(answer)
        });
    }
}

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(json))
}

/// This document
#[utoipa::path(get, path = "/api/openapi.json", tag = "about",
    responses((status = 200, body = serde_json::Value, description = "OpenAPI 3.1")))]
async fn json() -> Response {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| {
        document().to_json().expect("the document consists of text, numbers, lists and maps")
    });
    ([(header::CONTENT_TYPE, "application/json")], text.as_str()).into_response()
}
