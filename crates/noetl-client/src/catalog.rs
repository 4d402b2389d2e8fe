//! The catalog.

use noetl_api::Id;
use noetl_api::catalog::{
    Deleted, Diff, Entries, Entry, ListRequest, PathRequest, RegisterBatchRequest, RegisterRequest,
    Registered, RegisteredBatch, ResourceRequest, Restored, Versions,
};
use serde::Serialize;

use crate::address::{question, segments};
use crate::call::Repeat;
use crate::{Client, Error};

/// Which versions of a path to compare; the newest with the one before it when nothing is said.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Range {
    pub from: Option<i64>,
    pub to: Option<i64>,
}

impl Client {
    /// Registers a document as the next version of its path.
    pub async fn register(&self, request: &RegisterRequest) -> Result<Registered, Error> {
        self.post("/api/catalog/register", request, Repeat::Harmful).await
    }

    /// Registers documents, each for itself.
    pub async fn register_batch(&self, request: &RegisterBatchRequest) -> Result<RegisteredBatch, Error> {
        self.post("/api/catalog/register/batch", request, Repeat::Harmful).await
    }

    /// An entry by its id.
    pub async fn entry(&self, catalog_id: i64) -> Result<Entry, Error> {
        let request = ResourceRequest { catalog_id: Some(Id(catalog_id)), ..ResourceRequest::default() };
        self.resource(&request).await
    }

    /// An entry by its id, or by path and version.
    pub async fn resource(&self, request: &ResourceRequest) -> Result<Entry, Error> {
        self.post("/api/catalog/resource", request, Repeat::Harmless).await
    }

    pub async fn list_catalog(&self, request: &ListRequest) -> Result<Entries, Error> {
        self.post("/api/catalog/list", request, Repeat::Harmless).await
    }

    /// The paths of all documents of a kind.
    pub async fn catalog_paths(&self, kind: &str) -> Result<Vec<String>, Error> {
        self.get(&format!("/api/catalog/list/{}", segments(kind))).await
    }

    pub async fn versions(&self, path: &str) -> Result<Versions, Error> {
        self.get(&format!("/api/catalog/{}/versions", segments(path))).await
    }

    pub async fn diff(&self, path: &str, range: Range) -> Result<Diff, Error> {
        self.get(&format!("/api/catalog/{}/diff{}", segments(path), question(&range))).await
    }

    /// Deletes a path, or one version of it. What executions need is only hidden.
    pub async fn delete_from_catalog(&self, request: &PathRequest) -> Result<Deleted, Error> {
        self.post("/api/catalog/delete", request, Repeat::Harmful).await
    }

    /// Shows again what was hidden.
    pub async fn restore_to_catalog(&self, request: &PathRequest) -> Result<Restored, Error> {
        self.post("/api/catalog/restore", request, Repeat::Harmful).await
    }
}
