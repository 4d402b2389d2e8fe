//! The server's own database.

use noetl_api::database::{DatabaseState, SqlAnswer, SqlRequest};

use crate::call::Repeat;
use crate::{Client, Error};

impl Client {
    pub async fn sql(&self, request: &SqlRequest) -> Result<SqlAnswer, Error> {
        let repeat = if request.write { Repeat::Harmful } else { Repeat::Harmless };
        self.post("/api/postgres/execute", request, repeat).await
    }

    /// Sees to it that the tables are there.
    pub async fn init_database(&self) -> Result<DatabaseState, Error> {
        self.post("/api/db/init", &serde_json::Map::new(), Repeat::Harmless).await
    }

    /// Whether the tables are there.
    pub async fn validate_database(&self) -> Result<DatabaseState, Error> {
        self.get("/api/db/validate").await
    }
}
