//! The keychain.

use async_trait::async_trait;
use noetl_types::Timestamp;

use super::MemoryStore;
use crate::{Error, Keychain, KeychainRow};

#[async_trait]
impl Keychain for MemoryStore {
    async fn put_keychain(&self, entry: &KeychainRow) -> Result<(), Error> {
        self.with(|state| {
            state.keychain.insert(entry.cache_key.clone(), entry.clone());
        })
    }

    async fn find_keychain(&self, cache_key: &str, now: Timestamp) -> Result<Option<KeychainRow>, Error> {
        self.with(|state| {
            let entry = state.keychain.get_mut(cache_key)?;
            entry.access_count += 1;
            entry.accessed_at = Some(now);
            Some(entry.clone())
        })
    }

    async fn list_keychain(&self, catalog_id: i64) -> Result<Vec<KeychainRow>, Error> {
        self.with(|state| {
            state.keychain.values().filter(|entry| entry.catalog_id == catalog_id).cloned().collect()
        })
    }

    async fn delete_keychain(&self, cache_key: &str) -> Result<bool, Error> {
        self.with(|state| state.keychain.remove(cache_key).is_some())
    }

    async fn purge_keychain(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        self.with(|state| {
            let expired = |entry: &KeychainRow| entry.expires_at <= now && !entry.auto_renew;
            let keys: Vec<_> = state
                .keychain
                .values()
                .filter(|entry| expired(entry))
                .map(|entry| entry.cache_key.clone())
                .collect();
            let removed = keys.len().min(limit);
            for key in &keys[..removed] {
                state.keychain.remove(key);
            }
            removed as u64
        })
    }
}
