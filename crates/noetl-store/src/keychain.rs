//! The keychain: secrets and tokens fetched from elsewhere, kept for a while, encrypted before they come here.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp, Value};

use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeychainScope {
    Local,
    Shared,
    Global,
}

impl KeychainScope {
    pub fn as_str(self) -> &'static str {
        match self {
            KeychainScope::Local => "local",
            KeychainScope::Shared => "shared",
            KeychainScope::Global => "global",
        }
    }
}

#[derive(Clone, PartialEq)]
pub struct KeychainRow {
    /// Unique.
    pub cache_key: Arc<str>,
    pub name: Arc<str>,
    pub catalog_id: i64,
    pub credential_type: Arc<str>,
    /// `secret` or `token`.
    pub cache_type: Arc<str>,
    pub scope: KeychainScope,
    pub execution: Option<ExecutionId>,
    pub parent_execution: Option<ExecutionId>,
    /// The sealed envelope, opaque to the store.
    pub data_encrypted: Arc<[u8]>,
    pub expires_at: Timestamp,
    pub auto_renew: bool,
    pub renew_config: Value,
    pub created_at: Timestamp,
    pub accessed_at: Option<Timestamp>,
    pub access_count: u64,
}

/// Leaves the data out.
impl fmt::Debug for KeychainRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeychainRow")
            .field("cache_key", &self.cache_key)
            .field("scope", &self.scope)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

#[async_trait]
pub trait Keychain {
    /// Adds an entry or replaces the one of the same key.
    async fn put_keychain(&self, entry: &KeychainRow) -> Result<(), Error>;

    /// Finds an entry, expired or not, and counts the access.
    async fn find_keychain(&self, cache_key: &str, now: Timestamp) -> Result<Option<KeychainRow>, Error>;

    /// The entries of a catalog entry, by key.
    async fn list_keychain(&self, catalog_id: i64) -> Result<Vec<KeychainRow>, Error>;

    async fn delete_keychain(&self, cache_key: &str) -> Result<bool, Error>;

    /// Removes entries that expired at `now` or before and are not to be renewed, at most `limit`, and says how many.
    async fn purge_keychain(&self, now: Timestamp, limit: usize) -> Result<u64, Error>;
}
