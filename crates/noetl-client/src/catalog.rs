//! The catalog.

use noetl_api::Id;
use noetl_api::catalog::{Entry, RegisterRequest, Registered, ResourceRequest};

use crate::call::Repeat;
use crate::{Client, Error};

impl Client {
    /// Registers a document as the next version of its path.
    pub async fn register(&self, request: &RegisterRequest) -> Result<Registered, Error> {
        self.post("/api/catalog/register", request, Repeat::Harmful).await
    }

    /// An entry by its id.
    pub async fn entry(&self, catalog_id: i64) -> Result<Entry, Error> {
        let request = ResourceRequest { catalog_id: Some(Id(catalog_id)), ..ResourceRequest::default() };
        self.post("/api/catalog/resource", &request, Repeat::Harmless).await
    }
}
