//! Test suites of playbooks.

use std::sync::Arc;

use noetl_store::{Store, TestSuite};
use noetl_types::Value;

use crate::given::*;

fn suite(id: &str, playbook: &str) -> TestSuite {
    TestSuite {
        id: id.into(),
        file_path: None,
        playbook_path: playbook.into(),
        tests: Value::list([Value::map([("name", Value::text("it works"))])]),
        metadata: Value::map([("owner", Value::text("data"))]),
        updated_at: at(1),
    }
}

pub async fn a_suite_is_found_and_replaced_by_its_id(store: Arc<dyn Store>) {
    let first = suite("flows/one/smoke", "flows/one");
    store.put_test_suite(&first).await.unwrap();
    assert_eq!(store.find_test_suite("flows/one/smoke").await.unwrap(), Some(first.clone()));
    let file_path = Some("tests/one.yaml".to_owned());
    let second = TestSuite { tests: Value::list([]), file_path, updated_at: at(2), ..first };
    store.put_test_suite(&second).await.unwrap();
    assert_eq!(store.find_test_suite("flows/one/smoke").await.unwrap(), Some(second));
    assert_eq!(store.find_test_suite("flows/one").await.unwrap(), None);
}

pub async fn suites_are_listed_by_id_and_playbook(store: Arc<dyn Store>) {
    for (id, playbook) in [("c", "flows/one"), ("a", "flows/two"), ("b", "flows/one")] {
        store.put_test_suite(&suite(id, playbook)).await.unwrap();
    }
    let ids = |suites: Vec<TestSuite>| suites.iter().map(|suite| suite.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(store.list_test_suites(None).await.unwrap()), ["a", "b", "c"]);
    assert_eq!(ids(store.list_test_suites(Some("flows/one")).await.unwrap()), ["b", "c"]);
}

pub async fn a_deleted_suite_is_gone(store: Arc<dyn Store>) {
    store.put_test_suite(&suite("a", "flows/one")).await.unwrap();
    assert!(store.delete_test_suite("a").await.unwrap());
    assert!(!store.delete_test_suite("a").await.unwrap());
    assert_eq!(store.list_test_suites(None).await.unwrap(), []);
}
