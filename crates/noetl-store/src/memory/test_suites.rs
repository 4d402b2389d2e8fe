//! Test suites of playbooks.

use std::sync::Arc;

use async_trait::async_trait;

use super::MemoryStore;
use crate::{Error, TestSuite, TestSuites};

#[async_trait]
impl TestSuites for MemoryStore {
    async fn put_test_suite(&self, suite: &TestSuite) -> Result<(), Error> {
        self.with(|state| {
            state.test_suites.insert(suite.id.clone(), Arc::new(suite.clone()));
        })
    }

    async fn find_test_suite(&self, id: &str) -> Result<Option<TestSuite>, Error> {
        self.with(|state| state.test_suites.get(id).map(|suite| (**suite).clone()))
    }

    async fn list_test_suites(&self, playbook_path: Option<&str>) -> Result<Vec<TestSuite>, Error> {
        self.with(|state| {
            let all = state.test_suites.values();
            let wanted = all.filter(|suite| playbook_path.is_none_or(|path| *suite.playbook_path == *path));
            wanted.map(|suite| (**suite).clone()).collect()
        })
    }

    async fn delete_test_suite(&self, id: &str) -> Result<bool, Error> {
        self.with(|state| state.test_suites.remove(id).is_some())
    }
}
