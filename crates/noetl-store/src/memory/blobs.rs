//! Blobs.

use std::sync::Arc;

use async_trait::async_trait;

use super::MemoryStore;
use crate::{Blob, Blobs, Error};

#[async_trait]
impl Blobs for MemoryStore {
    async fn put_blob(&self, blob: &Blob) -> Result<(), Error> {
        self.with(|state| {
            state.blobs.insert(blob.key.clone(), Arc::new(blob.clone()));
        })
    }

    async fn find_blob(&self, key: &str) -> Result<Option<Blob>, Error> {
        let found = self.with(|state| state.blobs.get(key).cloned())?;
        found.map(|blob| (*blob).clone().verified()).transpose()
    }

    async fn find_blob_by_tail(&self, tail: &str) -> Result<Option<Blob>, Error> {
        let found = self.with(|state| {
            let same_tail =
                |blob: &&Arc<Blob>| blob.key.find("/execution=").is_some_and(|at| blob.key[at..] == *tail);
            state.blobs.values().filter(same_tail).max_by_key(|blob| blob.created_at).cloned()
        })?;
        found.map(|blob| (*blob).clone().verified()).transpose()
    }
}
