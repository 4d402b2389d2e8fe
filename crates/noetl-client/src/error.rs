//! Why a call failed.

use std::fmt;
use std::time::Duration;

use noetl_api::Diagnostic;
use serde::Deserialize;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server could not be reached: it has not seen the call.
    #[error("no connection to {url}")]
    Unreachable {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    /// The connection broke or the time was over, so that nobody knows whether the server has seen the call.
    #[error("no answer from {url}")]
    NoAnswer {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    /// A stream ended before it was over.
    #[error("the connection to {url} broke off")]
    BrokenOff { url: String },
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// The server answered with something that is not what its API says.
    #[error("the answer of {url} is not what was expected: {detail}")]
    Strange { url: String, detail: String },
}

/// The server's own words.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub status: u16,
    /// The stable name of the refusal; empty when something other than a NoETL server answered.
    pub code: String,
    pub message: String,
    pub help: Option<String>,
    /// What the checker found in a document that is refused.
    pub diagnostics: Vec<Diagnostic>,
    pub retry_after: Option<Duration>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// What every refusal says, whatever else is in its body.
#[derive(Deserialize)]
struct Said {
    error: String,
    code: String,
    #[serde(default)]
    help: Option<String>,
    #[serde(default)]
    diagnostics: Vec<Diagnostic>,
}

impl Refusal {
    pub(crate) fn new(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Refusal {
        match serde_json::from_slice::<Said>(body) {
            Ok(body) => Refusal {
                status,
                code: body.code,
                message: body.error,
                help: body.help,
                diagnostics: body.diagnostics,
                retry_after,
            },
            Err(_) => Refusal {
                status,
                code: String::new(),
                message: format!("the server answered with status {status}"),
                help: None,
                diagnostics: Vec::new(),
                retry_after,
            },
        }
    }
}

impl Error {
    /// The server, or something in front of it, says that trying again later may help.
    pub(crate) fn asks_to_try_again(&self) -> Option<Option<Duration>> {
        match self {
            Error::Refused(refusal) if matches!(refusal.status, 429 | 502 | 503 | 504) => {
                Some(refusal.retry_after)
            }
            _ => None,
        }
    }

    /// Whether the same call may succeed later without anybody changing it.
    pub fn is_transient(&self) -> bool {
        match self {
            Error::Unreachable { .. } | Error::NoAnswer { .. } | Error::BrokenOff { .. } => true,
            Error::Refused(refusal) => matches!(refusal.status, 408 | 429 | 502 | 503 | 504 | 507),
            Error::Strange { .. } => false,
        }
    }

    /// The stable name of a refusal.
    pub fn code(&self) -> Option<&str> {
        match self {
            Error::Refused(refusal) => Some(&refusal.code),
            _ => None,
        }
    }

    /// Whether what was asked for does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Refused(refusal) if refusal.status == 404)
    }
}
