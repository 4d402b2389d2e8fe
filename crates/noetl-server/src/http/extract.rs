//! Bodies, parameters and paths, read so that what is wrong with them is said in our own shape.

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::{Code, Error};

/// A JSON body, as a request or as an answer.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Json<T>, Error> {
        require_json(request.headers())?;
        let bytes = body(request, state).await?;
        parse(&bytes).map(Json)
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

/// A JSON body that may be left out.
#[derive(Clone, Copy, Debug)]
pub struct OptionalJson<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for OptionalJson<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<OptionalJson<T>, Error> {
        let headers = request.headers().clone();
        let bytes = body(request, state).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(OptionalJson(T::default()));
        }
        require_json(&headers)?;
        parse(&bytes).map(OptionalJson)
    }
}

/// A body that is taken as it is.
#[derive(Clone, Debug)]
pub struct RawBody(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for RawBody {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<RawBody, Error> {
        body(request, state).await.map(RawBody)
    }
}

/// The parameters after the question mark.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Query<T>, Error> {
        match axum::extract::Query::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(parameters)) => Ok(Query(parameters)),
            Err(rejection) => {
                let text = rejection.body_text();
                let detail = text.split_once(": ").map_or(text.as_str(), |(_, detail)| detail);
                Err(Error::new(Code::ParameterInvalid, format!("the query parameters are wrong: {detail}")))
            }
        }
    }
}

/// The variable parts of a path.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Path<T>, Error> {
        match axum::extract::Path::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(found)) => Ok(Path(found)),
            Err(rejection) => Err(Error::new(
                Code::ParameterInvalid,
                format!("the path of the request is wrong: {}", rejection.body_text()),
            )),
        }
    }
}

/// A page of another origin can send a form or plain text without asking, but not JSON. So the media type is required.
fn require_json(headers: &HeaderMap) -> Result<(), Error> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = given.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    if essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json")) {
        return Ok(());
    }
    let message = match given {
        "" => "the body has no media type".to_owned(),
        given => format!("the body is sent as '{given}'"),
    };
    Err(Error::new(Code::MediaTypeUnsupported, message)
        .help("send JSON with 'Content-Type: application/json'"))
}

async fn body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Error> {
    Bytes::from_request(request, state).await.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            Error::new(Code::BodyTooLarge, "the body is larger than this route takes")
        }
        _ => Error::new(Code::BodyMalformed, "the body broke off"),
    })
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let mut source = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut source).map_err(|error| {
        let place = error.path().to_string();
        let cause = error.into_inner();
        match cause.classify() {
            serde_json::error::Category::Data if place != "." => {
                Error::new(Code::BodyInvalid, format!("the body is wrong at '{place}': {cause}"))
            }
            serde_json::error::Category::Data => {
                Error::new(Code::BodyInvalid, format!("the body is wrong: {cause}"))
            }
            _ => Error::new(Code::BodyMalformed, format!("the body is not JSON: {cause}")),
        }
    })?;
    source
        .end()
        .map_err(|cause| Error::new(Code::BodyMalformed, format!("the body is not JSON: {cause}")))?;
    Ok(value)
}

/// A number that may be left out, or lies in a range.
pub fn within(
    name: &str,
    given: Option<u32>,
    otherwise: usize,
    range: std::ops::RangeInclusive<u32>,
) -> Result<usize, Error> {
    match given {
        None => Ok(otherwise),
        Some(number) if range.contains(&number) => Ok(number as usize),
        Some(number) => Err(Error::new(
            Code::ParameterInvalid,
            format!("'{name}' is {number}; it can be {} to {}", range.start(), range.end()),
        )),
    }
}
