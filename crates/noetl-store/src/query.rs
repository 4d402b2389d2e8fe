//! SQL by people over what is stored, for stores that know SQL.

use std::time::Duration;

use async_trait::async_trait;
use noetl_types::Value;

use crate::Error;

/// One statement with its bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub sql: String,
    /// Values for `?1`, `?2` and so on. Lists and maps are passed as JSON text.
    pub parameters: Vec<Value>,
    /// No more rows than these are given.
    pub max_rows: usize,
    /// A statement that takes longer is stopped.
    pub max_time: Duration,
}

impl Query {
    /// A statement without parameters and with usual bounds.
    pub fn new(sql: impl Into<String>) -> Query {
        Query { sql: sql.into(), parameters: Vec::new(), max_rows: 1000, max_time: Duration::from_secs(5) }
    }
}

/// What a statement gave.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryAnswer {
    /// Empty for a statement that gives no rows.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
    /// There would have been more rows.
    pub is_cut: bool,
    /// How many rows the statement has changed.
    pub changed: u64,
}

/// What is wrong with the statement is an [`Error::Invalid`]: several statements in one, a mistake in it, too much time, or
/// something that is not allowed.
#[async_trait]
pub trait Queries {
    /// Runs a statement that reads.
    async fn query(&self, query: &Query) -> Result<QueryAnswer, Error>;

    /// Runs a statement that may change anything in the store. For its administrators: nothing looks after the meaning of
    /// what they change.
    async fn execute(&self, query: &Query) -> Result<QueryAnswer, Error>;

    /// The documented tables and views that can be asked, by name.
    async fn list_tables(&self) -> Result<Vec<String>, Error>;
}
