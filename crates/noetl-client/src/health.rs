//! Health.

use noetl_api::health::Health;

use crate::{Client, Error};

impl Client {
    /// Whether the server can do its work.
    pub async fn health(&self) -> Result<Health, Error> {
        self.get("/api/health").await
    }
}
