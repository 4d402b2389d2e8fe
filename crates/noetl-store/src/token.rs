//! API tokens: who may call the server, known by the digest of a secret that is not stored.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::Timestamp;

use crate::Error;

#[derive(Clone, PartialEq, Eq)]
pub struct ApiToken {
    pub id: i64,
    /// For people.
    pub name: Arc<str>,
    /// The SHA-256 of the secret in hexadecimal. Unique.
    pub hash: String,
    /// What it is good for: `viewer`, `operator`, `admin`, `worker`.
    pub scopes: Vec<String>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

impl ApiToken {
    /// Whether it still opens anything at `now`.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }
}

/// Leaves the digest out.
impl fmt::Debug for ApiToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiToken")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("scopes", &self.scopes)
            .field("expires_at", &self.expires_at)
            .field("revoked_at", &self.revoked_at)
            .finish_non_exhaustive()
    }
}

#[async_trait]
pub trait ApiTokens {
    /// Adds a token. An id or a digest that is taken is an [`Error::Conflict`].
    async fn add_token(&self, token: &ApiToken) -> Result<(), Error>;

    /// A token by the digest of its secret, whether it is still valid or not.
    async fn find_token_by_hash(&self, hash: &str) -> Result<Option<ApiToken>, Error>;

    /// By id, that is in the order they were made.
    async fn list_tokens(&self) -> Result<Vec<ApiToken>, Error>;

    /// Notes that a token was used. A power failure may undo it.
    async fn touch_token(&self, id: i64, now: Timestamp) -> Result<(), Error>;

    /// Ends a token for good. False when there is none that could be ended.
    async fn revoke_token(&self, id: i64, now: Timestamp) -> Result<bool, Error>;
}
