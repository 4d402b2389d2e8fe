//! Talks to a NoETL server over HTTP, in the types of its API.
//!
//! A [`Client`] knows the address and the token, gives every call a time limit, and tries again where that may help and
//! can do no harm. The calls are grouped by resource, as in `noetl-api`.

mod address;
mod call;
mod catalog;
mod credentials;
mod database;
mod error;
mod execute;
mod executions;
mod health;
mod live;
mod plugins;
mod registry;
mod retry;
mod subscriptions;
mod tokens;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use catalog::Range;
pub use credentials::Credential;
pub use error::{Error, Refusal};
pub use live::Follow;
pub use noetl_api as api;
pub use retry::Retry;

/// How long a call may take, unless it asks the server to wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// One server, as one caller sees it. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    /// Without a slash at its end.
    base: Arc<str>,
    token: Option<Arc<str>>,
    retry: Retry,
}

impl Client {
    /// `http` brings the connections, with whatever is said about TLS and proxies; `base` is the address of the server,
    /// such as `http://127.0.0.1:8082`.
    pub fn new(http: reqwest::Client, base: &str, token: Option<&str>) -> Client {
        Client {
            http,
            base: base.trim_end_matches('/').into(),
            token: token.map(Into::into),
            retry: Retry::default(),
        }
    }

    /// The same server with another way of trying again.
    pub fn with_retry(self, retry: Retry) -> Client {
        Client { retry, ..self }
    }

    pub fn base(&self) -> &str {
        &self.base
    }
}

/// Leaves out the token.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.base).field("retry", &self.retry).finish_non_exhaustive()
    }
}
