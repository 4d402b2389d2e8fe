//! There is no SQL here.

use async_trait::async_trait;

use super::MemoryStore;
use crate::{Error, Queries, Query, QueryAnswer};

fn no_sql() -> Error {
    Error::invalid("the store in memory knows no SQL")
}

#[async_trait]
impl Queries for MemoryStore {
    async fn query(&self, _: &Query) -> Result<QueryAnswer, Error> {
        Err(no_sql())
    }

    async fn execute(&self, _: &Query) -> Result<QueryAnswer, Error> {
        Err(no_sql())
    }

    async fn list_tables(&self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }
}
