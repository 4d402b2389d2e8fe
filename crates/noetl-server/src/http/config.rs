//! Whom the server lets in, and how much it takes from them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::guard::Identities;

/// A text that is used and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    pub fn new(text: impl Into<String>) -> SecretText {
        SecretText(text.into())
    }

    /// The text itself, for the one place that compares it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(set)")
    }
}

/// How callers show who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// Everybody who reaches the server may do everything. For one machine and its user.
    #[default]
    None,
    /// Every caller needs an API token.
    Tokens,
}

/// The settings of the HTTP server.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    pub auth: Auth,
    /// A token with the scope `admin` besides those that are stored.
    pub admin_token: Option<SecretText>,
    /// What workers and other servers may show to call the internal routes.
    pub internal_token: Option<SecretText>,
    /// Who else is believed about who somebody is, where callers show tokens.
    pub identities: Option<Arc<dyn Identities>>,
    /// Names under which the server is reached, besides those of this machine and plain addresses.
    pub hosts: Vec<String>,
    /// Origins whose pages may call the API, such as `https://noetl.example.com`; `*` is every page.
    pub cors_origins: Vec<String>,
    /// The largest body of a request, in bytes.
    pub body_limit: usize,
    /// The largest body where results and modules are sent, in bytes.
    pub large_body_limit: usize,
    /// How long a request may take from its head to the beginning of its answer.
    pub request_timeout: Duration,
    /// How long a connection may take to send the head of its next request.
    pub head_timeout: Duration,
    /// How long a client may pause while it sends a body, and while it takes an answer.
    pub stall_timeout: Duration,
    /// The most bytes of a request's head.
    pub head_limit: usize,
    /// The most connections at a time.
    pub connections: usize,
    /// How many requests a second one client may send in the long run. Without it there is a generous limit where callers
    /// show tokens, and none where nobody logs in.
    pub rate: Option<u32>,
    /// How many requests one client may send at once after a pause.
    pub burst: u32,
    /// How long requests under way may take once the server is to stop.
    pub grace: Duration,
}

impl Default for HttpConfig {
    fn default() -> HttpConfig {
        HttpConfig {
            auth: Auth::None,
            admin_token: None,
            internal_token: None,
            identities: None,
            hosts: Vec::new(),
            cors_origins: Vec::new(),
            body_limit: 2 << 20,
            large_body_limit: 64 << 20,
            request_timeout: Duration::from_secs(120),
            head_timeout: Duration::from_secs(30),
            stall_timeout: Duration::from_secs(30),
            head_limit: 64 << 10,
            connections: 10_000,
            rate: None,
            burst: 5000,
            grace: Duration::from_secs(10),
        }
    }
}

/// What one client may send in a second where nothing else is said.
const GENEROUS: u32 = 1000;

impl HttpConfig {
    /// The limit that counts.
    pub fn effective_rate(&self) -> Option<u32> {
        self.rate.or((self.auth == Auth::Tokens).then_some(GENEROUS))
    }
}
