//! Credentials.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;

use super::MemoryStore;
use crate::{CredentialFilter, CredentialRow, Credentials, Error};

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
