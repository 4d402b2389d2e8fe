//! Credentials and the keychain.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::Timestamp;

use super::MemoryStore;
use crate::{CredentialFilter, CredentialRow, Credentials, Error, Keychain, KeychainRow};

fn matches(filter: &CredentialFilter, row: &CredentialRow) -> bool {
    filter.kind.as_ref().is_none_or(|kind| *row.kind == **kind)
        && filter.search.as_ref().is_none_or(|text| {
            let text = text.to_ascii_lowercase();
            row.name.to_ascii_lowercase().contains(&text)
                || row.description.as_ref().is_some_and(|line| line.to_ascii_lowercase().contains(&text))
        })
}

#[async_trait]
impl Credentials for MemoryStore {
    async fn put_credential(&self, credential: &CredentialRow) -> Result<CredentialRow, Error> {
        self.with(|state| {
            let mut row = credential.clone();
            match state.credentials.get(&row.name) {
                Some(known) => {
                    row.id = known.id;
                    row.created_at = known.created_at;
                }
                None if state.credentials.values().any(|known| known.id == row.id) => {
                    return Err(Error::Conflict { what: format!("credential {}", row.id) });
                }
                None => {}
            }
            state.credentials.insert(row.name.clone(), Arc::new(row.clone()));
            Ok(row)
        })?
    }

    async fn find_credential(&self, name: &str) -> Result<Option<CredentialRow>, Error> {
        self.with(|state| state.credentials.get(name).map(|row| (**row).clone()))
    }

    async fn find_credential_by_id(&self, id: i64) -> Result<Option<CredentialRow>, Error> {
        self.with(|state| state.credentials.values().find(|row| row.id == id).map(|row| (**row).clone()))
    }

    async fn list_credentials(
        &self,
        filter: &CredentialFilter,
        limit: usize,
    ) -> Result<Vec<CredentialRow>, Error> {
        let start = filter.after.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        self.with(|state| {
            let rows = state.credentials.range::<str, _>((start, Bound::Unbounded)).map(|(_, row)| row);
            rows.filter(|row| matches(filter, row)).take(limit).map(|row| (**row).clone()).collect()
        })
    }

    async fn delete_credential(&self, name: &str) -> Result<bool, Error> {
        self.with(|state| state.credentials.remove(name).is_some())
    }
}

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
