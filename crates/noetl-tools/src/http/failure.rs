//! Errors of HTTP calls: what they mean and whether trying again may help.

use std::error::Error;
use std::io;
use std::time::SystemTime;

use noetl_types::{ErrorKind, ToolError, Value};
use reqwest::header::RETRY_AFTER;

use super::answer::Answer;

/// The error that a status stands for; nothing for 2xx.
pub fn of_status(answer: &Answer, target: &str) -> Option<ToolError> {
    let status = answer.status;
    if status.is_success() {
        return None;
    }
    let mut error = ToolError::of_http_status(status.as_u16(), target);
    if let Some(seconds) = retry_after(answer) {
        let mut details = error.details.as_map().cloned().unwrap_or_default();
        details.insert("retry_after".into(), seconds);
        error.details = details.into();
    }
    Some(error)
}

/// How many seconds the server asks to wait: it may say a number or a date.
fn retry_after(answer: &Answer) -> Option<Value> {
    let text = answer.headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<i64>() {
        return Some(Value::from(seconds.max(0)));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    let wait = at.duration_since(SystemTime::now()).unwrap_or_default();
    Some(Value::from(wait.as_secs()))
}

/// The error of a call that got no answer.
pub fn of_transport(error: reqwest::Error, target: &str) -> ToolError {
    let error = error.without_url();
    let (kind, code, reason, retryable) = if error.is_builder() {
        (ErrorKind::Config, "HTTP_REQUEST", format!("the request is not valid: {}", deepest(&error)), false)
    } else if error.is_redirect() {
        (ErrorKind::ClientError, "HTTP_REDIRECT", "there were too many redirects".to_owned(), false)
    } else if error.is_timeout() {
        (ErrorKind::Timeout, "HTTP_TIMEOUT", "the server did not answer in time".to_owned(), true)
    } else if let Some(tls) = find::<rustls::Error>(&error) {
        let certificate = matches!(tls, rustls::Error::InvalidCertificate(_));
        (ErrorKind::Connection, "HTTP_TLS", format!("TLS failed: {tls}"), !certificate)
    } else if error.is_dns() {
        (ErrorKind::Connection, "HTTP_DNS", "the host name could not be resolved".to_owned(), true)
    } else if error.is_decode() {
        (ErrorKind::Parse, "HTTP_DECODE", format!("the answer is damaged: {}", deepest(&error)), false)
    } else {
        (ErrorKind::Connection, "HTTP_CONNECTION", connection_reason(&error), true)
    };
    let mut failed = ToolError::new(kind, format!("{target} failed: {reason}")).with_code(code);
    failed.retryable = retryable;
    failed
}

fn connection_reason(error: &reqwest::Error) -> String {
    match find::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => {
            "the connection was refused; nothing listens there".to_owned()
        }
        Some(io::ErrorKind::ConnectionReset) => "the connection was reset by the server".to_owned(),
        _ => format!("the connection broke: {}", deepest(error)),
    }
}

/// The cause of a certain type, also where it hides inside an IO error.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        let inside = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = inside.and_then(|inner| find::<E>(inner)) {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// The innermost cause: the outer ones only say that something failed.
fn deepest(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
