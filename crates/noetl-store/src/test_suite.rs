//! Test suites of playbooks that people keep with the server's user interface.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{Timestamp, Value};

use crate::Error;

#[derive(Clone, Debug, PartialEq)]
pub struct TestSuite {
    /// Unique; may contain `/`.
    pub id: Arc<str>,
    /// Where it was read from, if it came from a file.
    pub file_path: Option<String>,
    pub playbook_path: Arc<str>,
    /// A list; its form belongs to the user interface.
    pub tests: Value,
    pub metadata: Value,
    pub updated_at: Timestamp,
}

#[async_trait]
pub trait TestSuites {
    /// Adds a suite or replaces the one of the same id.
    async fn put_test_suite(&self, suite: &TestSuite) -> Result<(), Error>;

    async fn find_test_suite(&self, id: &str) -> Result<Option<TestSuite>, Error>;

    /// By id; those of one playbook, or all.
    async fn list_test_suites(&self, playbook_path: Option<&str>) -> Result<Vec<TestSuite>, Error>;

    async fn delete_test_suite(&self, id: &str) -> Result<bool, Error>;
}
