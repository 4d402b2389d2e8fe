//! Test suites of playbooks, as the user interface keeps them.

use noetl_store::TestSuite;

use super::{App, Code, Error};

impl App {
    pub async fn get_test_suite(&self, id: &str) -> Result<TestSuite, Error> {
        self.store().find_test_suite(id).await?.ok_or_else(|| not_found(id))
    }

    pub async fn put_test_suite(&self, suite: TestSuite) -> Result<TestSuite, Error> {
        self.store().put_test_suite(&suite).await?;
        Ok(suite)
    }

    pub async fn delete_test_suite(&self, id: &str) -> Result<(), Error> {
        if self.store().delete_test_suite(id).await? { Ok(()) } else { Err(not_found(id)) }
    }
}

fn not_found(id: &str) -> Error {
    Error::new(Code::TestSuiteNotFound, format!("there is no test suite '{id}'"))
}
