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
}
