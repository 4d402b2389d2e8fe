//! The one error model of tools: a class, whether trying again may help, and what to tell people.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Value;

/// The class of an error, as rules see it in `output.error.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    Connection,
    Timeout,
    RateLimit,
    Auth,
    NotFound,
    ClientError,
    ServerError,
    Schema,
    Parse,
    Transform,
    DbConnection,
    DbConstraint,
    DbDeadlock,
    DbTimeout,
    Db,
    StorageQuota,
    StorageAccess,
    /// A process ended with a non-zero code.
    Exit,
    /// User code raised an exception.
    Exception,
    /// The playbook asks for something that makes no sense at run time.
    Config,
    /// A template could not be evaluated.
    Template,
    /// A rule said `fail`.
    Policy,
    /// Some iterations of a loop failed.
    Loop,
    /// A called playbook failed.
    Child,
    Cancelled,
    /// The worker that ran the command went away, again and again.
    WorkerLost,
    #[serde(other)]
    Unknown,
}

impl ErrorKind {
    /// Whether the same call may succeed when it is simply tried again.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            ErrorKind::Connection
                | ErrorKind::Timeout
                | ErrorKind::RateLimit
                | ErrorKind::ServerError
                | ErrorKind::DbConnection
                | ErrorKind::DbDeadlock
                | ErrorKind::DbTimeout
                | ErrorKind::WorkerLost
        )
    }

    /// What a status of an HTTP answer outside 2xx stands for.
    pub fn of_http_status(status: u16) -> ErrorKind {
        match status {
            401 | 403 | 407 => ErrorKind::Auth,
            404 | 410 => ErrorKind::NotFound,
            408 => ErrorKind::Timeout,
            429 => ErrorKind::RateLimit,
            500..=599 => ErrorKind::ServerError,
            _ => ErrorKind::ClientError,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Connection => "connection",
            ErrorKind::Timeout => "timeout",
            ErrorKind::RateLimit => "rate_limit",
            ErrorKind::Auth => "auth",
            ErrorKind::NotFound => "not_found",
            ErrorKind::ClientError => "client_error",
            ErrorKind::ServerError => "server_error",
            ErrorKind::Schema => "schema",
            ErrorKind::Parse => "parse",
            ErrorKind::Transform => "transform",
            ErrorKind::DbConnection => "db_connection",
            ErrorKind::DbConstraint => "db_constraint",
            ErrorKind::DbDeadlock => "db_deadlock",
            ErrorKind::DbTimeout => "db_timeout",
            ErrorKind::Db => "db",
            ErrorKind::StorageQuota => "storage_quota",
            ErrorKind::StorageAccess => "storage_access",
            ErrorKind::Exit => "exit",
            ErrorKind::Exception => "exception",
            ErrorKind::Config => "config",
            ErrorKind::Template => "template",
            ErrorKind::Policy => "policy",
            ErrorKind::Loop => "loop",
            ErrorKind::Child => "child",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::WorkerLost => "worker_lost",
            ErrorKind::Unknown => "unknown",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a tool call failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolError {
    pub kind: ErrorKind,
    pub retryable: bool,
    /// What went wrong and what to do about it, in one sentence.
    pub message: String,
    /// The native code, such as `HTTP_429` or `PG_40001`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The call gave an answer that counts as an error (a non-2xx status, a non-zero exit), as opposed to no answer.
    /// Playbooks in lenient mode let such steps complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
    /// Further facts by name: `status_code`, `retry_after`, `pg_code`, `exception_type`, `details` and the like.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
}

impl ToolError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ToolError {
        ToolError {
            kind,
            retryable: kind.is_retryable(),
            message: message.into(),
            code: None,
            answered: false,
            details: Value::Null,
        }
    }

    /// The error that an HTTP answer outside 2xx stands for; `target` is what was asked, such as `GET http://…`.
    pub fn of_http_status(status: u16, target: &str) -> ToolError {
        let details =
            Value::map([("status_code", Value::from(status)), ("http_status", Value::from(status))]);
        let message = format!("HTTP {status} response from {target}");
        let mut error = ToolError::new(ErrorKind::of_http_status(status), message)
            .with_code(format!("HTTP_{status}"))
            .with_details(details)
            .as_answer();
        // Of the server errors, these say that the server cannot do it at all.
        if matches!(status, 501 | 505) {
            error.retryable = false;
        }
        error
    }

    pub fn with_code(mut self, code: impl Into<String>) -> ToolError {
        self.code = Some(code.into());
        self
    }

    pub fn with_details(mut self, details: Value) -> ToolError {
        self.details = details;
        self
    }

    pub fn as_answer(mut self) -> ToolError {
        self.answered = true;
        self
    }

    /// As templates see it: `kind retryable code message`, and the details beside them.
    pub fn to_value(&self) -> Value {
        let mut map = self.details.as_map().cloned().unwrap_or_default();
        map.insert("kind".into(), self.kind.as_str().into());
        map.insert("retryable".into(), self.retryable.into());
        map.insert("code".into(), self.code.clone().into());
        map.insert("message".into(), self.message.as_str().into());
        map.into()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
