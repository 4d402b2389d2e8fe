//! The one place where refusals become HTTP statuses.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use noetl_api::{Diagnostic, ErrorBody};

use crate::app::{Code, Error};

/// The status that goes with a code.
pub fn status(code: Code) -> StatusCode {
    match code {
        Code::BodyMalformed | Code::ExecutionEnded | Code::ReplayInvalid => StatusCode::BAD_REQUEST,
        Code::NotAuthenticated => StatusCode::UNAUTHORIZED,
        Code::Forbidden | Code::HostRefused | Code::OriginRefused => StatusCode::FORBIDDEN,
        Code::RouteNotFound
        | Code::CatalogEntryNotFound
        | Code::CredentialNotFound
        | Code::TokenNotFound
        | Code::ExecutionNotFound
        | Code::StepNotFound
        | Code::CommandNotFound
        | Code::VariableNotFound
        | Code::WorkerUnknown
        | Code::ValueNotFound => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::Conflict | Code::CommandTaken => StatusCode::CONFLICT,
        Code::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::MediaTypeUnsupported => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::BodyInvalid
        | Code::ParameterInvalid
        | Code::PlaybookInvalid
        | Code::DocumentInvalid
        | Code::ExecutionRefused => StatusCode::UNPROCESSABLE_ENTITY,
        Code::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Code::StoreUnavailable
        | Code::ShuttingDown
        | Code::IssuerUnavailable
        | Code::CredentialUnreadable
        | Code::InternalTokenMissing
        | Code::EncryptionKeyMissing => StatusCode::SERVICE_UNAVAILABLE,
        Code::StoreFull | Code::StoreReadOnly => StatusCode::INSUFFICIENT_STORAGE,
        Code::ReferenceInvalid | Code::ParameterMissing => StatusCode::BAD_REQUEST,
        Code::ResultNotFound
        | Code::PluginNotFound
        | Code::ObjectNotFound
        | Code::SubscriptionNotFound
        | Code::TestSuiteNotFound => StatusCode::NOT_FOUND,
        Code::DigestMismatch => StatusCode::CONFLICT,
        Code::NotASubscription | Code::TransitionNotAllowed | Code::QueryInvalid => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Code::ResultDamaged => StatusCode::INTERNAL_SERVER_ERROR,
        Code::ExecutionRunning => StatusCode::CONFLICT,
        Code::NotSupported => StatusCode::NOT_IMPLEMENTED,
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = status(self.code);
        if status.is_server_error() {
            let causes = chain(&self);
            tracing::error!(code = self.code.name(), error = %causes, "a request failed");
        }
        let retry_after = self.retry_after;
        let mut response = (status, Json(body(self))).into_response();
        if let Some(delay) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(delay.as_secs().max(1)));
        }
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer realm=\"noetl\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

/// The refusal as clients see it.
pub fn body(error: Error) -> ErrorBody {
    ErrorBody {
        status: status(error.code).as_u16(),
        code: error.code.name().to_owned(),
        help: error.help,
        message: Some(error.message.clone()),
        error: error.message,
        diagnostics: error.diagnostics.iter().map(diagnostic).collect(),
    }
}

/// A finding as clients see it.
pub fn diagnostic(found: &noetl_dsl::Diagnostic) -> Diagnostic {
    Diagnostic {
        severity: found.severity.to_string(),
        code: found.code.to_owned(),
        message: found.message.clone(),
        help: found.help.clone(),
        line: found.line,
        column: found.column,
        end_line: found.end_line,
        end_column: found.end_column,
        step: found.step.as_deref().map(str::to_owned),
        path: found.path.clone(),
    }
}

/// The sentence and its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
