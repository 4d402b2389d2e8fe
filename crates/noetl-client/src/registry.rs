//! The registry of workers.

use noetl_api::registry::{Acknowledged, Part, PartName, PartQuery, Parts, RegisterRequest};

use crate::address::question;
use crate::call::Repeat;
use crate::{Client, Error};

impl Client {
    pub async fn register_worker(&self, worker: &RegisterRequest) -> Result<Part, Error> {
        self.post("/api/worker/pool/register", worker, Repeat::Harmless).await
    }

    pub async fn deregister_worker(&self, name: &str) -> Result<Acknowledged, Error> {
        let name = PartName { name: name.to_owned(), kind: Some("worker_pool".to_owned()) };
        self.post("/api/worker/pool/deregister", &name, Repeat::Harmless).await
    }

    /// Workers and other parts that have registered.
    pub async fn list_workers(&self, query: &PartQuery) -> Result<Parts, Error> {
        self.get(&format!("/api/worker/pools{}", question(query))).await
    }
}
