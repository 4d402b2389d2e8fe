//! SQL over the server's own database, and whether that is as it should be.

use noetl_store::{Query, QueryAnswer};

use super::{App, Code, Error};

/// What people's SQL and the official tools expect.
const EXPECTED: [&str; 8] =
    ["resource", "catalog", "transient", "event", "credential", "runtime", "schedule", "keychain"];

/// The tables and views of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    pub found: Vec<String>,
    pub missing: Vec<String>,
}

impl App {
    /// Runs a statement that reads, or one that may write.
    pub async fn sql(&self, query: &Query, may_write: bool) -> Result<QueryAnswer, Error> {
        let answer =
            if may_write { self.store().execute(query).await } else { self.store().query(query).await };
        answer.map_err(|error| match error {
            noetl_store::Error::Invalid { reason } => Error::new(Code::QueryInvalid, reason),
            error => error.into(),
        })
    }

    pub async fn tables(&self) -> Result<Tables, Error> {
        let found = self.store().list_tables().await?;
        let is_there = |name: &&str| found.iter().any(|known| known == *name);
        let missing = EXPECTED.iter().filter(|name| !is_there(name)).map(|name| (*name).to_owned()).collect();
        Ok(Tables { found, missing })
    }
}
