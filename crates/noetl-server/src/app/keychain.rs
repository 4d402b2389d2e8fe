//! The keychain: secrets and tokens of a playbook, kept for a while, encrypted at rest.

use std::time::Duration;

use noetl_store::{KeychainRow, KeychainScope};
use noetl_types::{ExecutionId, Timestamp, Value};

use super::credentials::{seal, unreadable, word};
use super::{App, Error};
use crate::catalog::Reference;
use crate::vault::VaultError;

/// When an entry that never expires does so: the last instant that every store can hold.
const NEVER: Timestamp = Timestamp(253_402_300_799_999_999);

/// Names an entry.
#[derive(Clone, Debug)]
pub struct KeychainKey {
    pub catalog_id: i64,
    pub name: String,
    pub scope: KeychainScope,
    pub execution: Option<ExecutionId>,
}

impl KeychainKey {
    /// The key under which it is stored.
    pub fn cache_key(&self) -> String {
        let KeychainKey { catalog_id, name, .. } = self;
        match (self.scope, self.execution) {
            (KeychainScope::Local, Some(execution)) => format!("{name}:{catalog_id}:{execution}"),
            (KeychainScope::Local, None) => format!("{name}:{catalog_id}:local"),
            (KeychainScope::Shared, Some(execution)) => format!("{name}:{catalog_id}:shared:{execution}"),
            (KeychainScope::Shared, None) => format!("{name}:{catalog_id}:shared"),
            (KeychainScope::Global, _) => format!("{name}:{catalog_id}:global"),
        }
    }
}

/// When an entry expires.
#[derive(Clone, Copy, Debug)]
pub enum Expiry {
    Never,
    At(Timestamp),
    In(Duration),
}

/// How an entry renews itself; what does so is up to the one who uses it.
#[derive(Clone, Debug, Default)]
pub struct Renewal {
    pub auto: bool,
    pub config: Value,
}

/// What came of looking for an entry.
#[derive(Clone)]
pub enum Looked {
    Missing,
    Expired(KeychainRow),
    Found(KeychainRow, Value),
}

/// Leaves the data out.
impl std::fmt::Debug for Looked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Looked::Missing => f.write_str("Missing"),
            Looked::Expired(row) => f.debug_tuple("Expired").field(row).finish(),
            Looked::Found(row, _) => f.debug_tuple("Found").field(row).finish_non_exhaustive(),
        }
    }
}

impl App {
    /// Adds an entry, or replaces the one of the same key.
    pub async fn put_keychain(
        &self,
        key: &KeychainKey,
        data: &Value,
        expiry: Expiry,
        renewal: Renewal,
    ) -> Result<KeychainRow, Error> {
        let vault = self.get_vault()?;
        word("name", &key.name)?;
        self.entry(&Reference::Id(key.catalog_id)).await?;
        let cache_key = key.cache_key();
        let now = self.now();
        let row = KeychainRow {
            data_encrypted: seal(vault, data, &purpose(&cache_key))?.into(),
            cache_key: cache_key.into(),
            name: key.name.as_str().into(),
            catalog_id: key.catalog_id,
            credential_type: "keychain".into(),
            cache_type: if renewal.auto { "token" } else { "secret" }.into(),
            scope: key.scope,
            execution: key.execution,
            parent_execution: None,
            expires_at: match expiry {
                Expiry::Never => NEVER,
                Expiry::At(at) => at.min(NEVER),
                Expiry::In(delay) => now.after(delay).min(NEVER),
            },
            auto_renew: renewal.auto,
            renew_config: renewal.config,
            created_at: now,
            accessed_at: None,
            access_count: 0,
        };
        self.store().put_keychain(&row).await?;
        Ok(row)
    }

    /// Looks an entry up and counts that it was.
    pub async fn find_keychain(&self, key: &KeychainKey) -> Result<Looked, Error> {
        let vault = self.get_vault()?;
        let now = self.now();
        let cache_key = key.cache_key();
        let Some(row) = self.store().find_keychain(&cache_key, now).await? else {
            return Ok(Looked::Missing);
        };
        if row.expires_at <= now {
            return Ok(Looked::Expired(row));
        }
        let opened = vault
            .open(&row.data_encrypted, &purpose(&cache_key))
            .and_then(|plain| serde_json::from_slice(&plain).map_err(|_| VaultError::Damaged));
        let data = opened.map_err(|error| unreadable(&format!("keychain entry '{cache_key}'"), error))?;
        Ok(Looked::Found(row, data))
    }

    pub async fn list_keychain(&self, catalog_id: i64) -> Result<Vec<KeychainRow>, Error> {
        Ok(self.store().list_keychain(catalog_id).await?)
    }

    /// Whether there was one.
    pub async fn delete_keychain(&self, key: &KeychainKey) -> Result<bool, Error> {
        Ok(self.store().delete_keychain(&key.cache_key()).await?)
    }
}

/// The instant at which a row expires, unless it never does.
pub fn expires_at(row: &KeychainRow) -> Option<Timestamp> {
    (row.expires_at < NEVER).then_some(row.expires_at)
}

fn purpose(cache_key: &str) -> String {
    format!("keychain:{cache_key}")
}
