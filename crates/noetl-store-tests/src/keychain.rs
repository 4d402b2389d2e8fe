//! The keychain: secrets kept for a while.

use std::sync::Arc;

use noetl_store::{KeychainRow, KeychainScope, Store};
use noetl_types::{ExecutionId, Value};

use crate::given::*;

fn key(cache_key: &str, expires: i64) -> KeychainRow {
    KeychainRow {
        cache_key: cache_key.into(),
        name: "token".into(),
        catalog_id: 5,
        credential_type: "oauth2".into(),
        cache_type: "token".into(),
        scope: KeychainScope::Shared,
        execution: Some(ExecutionId(7)),
        parent_execution: None,
        data_encrypted: Arc::from(&[1, 0, 254][..]),
        expires_at: at(expires),
        auto_renew: false,
        renew_config: Value::Null,
        created_at: at(0),
        accessed_at: None,
        access_count: 0,
    }
}

pub async fn a_keychain_entry_is_found_and_its_accesses_counted(store: Arc<dyn Store>) {
    let mut row = key("token:5:shared", 10);
    row.renew_config = Value::map([("url", Value::text("x"))]);
    store.put_keychain(&row).await.unwrap();
    let found = store.find_keychain("token:5:shared", at(1)).await.unwrap();
    row.accessed_at = Some(at(1));
    row.access_count = 1;
    assert_eq!(found, Some(row.clone()));
    row.accessed_at = Some(at(20));
    row.access_count = 2;
    let found = store.find_keychain("token:5:shared", at(20)).await.unwrap();
    assert_eq!(found, Some(row), "an expired entry is still found");
    assert_eq!(store.find_keychain("other", at(1)).await.unwrap(), None);
}

pub async fn a_keychain_entry_is_replaced_by_its_key(store: Arc<dyn Store>) {
    store.put_keychain(&key("k", 10)).await.unwrap();
    store.find_keychain("k", at(1)).await.unwrap();
    let newer = KeychainRow { scope: KeychainScope::Global, execution: None, ..key("k", 99) };
    store.put_keychain(&newer).await.unwrap();
    assert_eq!(store.list_keychain(5).await.unwrap(), [newer]);
}

pub async fn keychain_entries_are_listed_by_catalog_entry(store: Arc<dyn Store>) {
    let other = KeychainRow { catalog_id: 6, ..key("c", 10) };
    for row in [key("b", 10), other, key("a", 10)] {
        store.put_keychain(&row).await.unwrap();
    }
    assert_eq!(store.list_keychain(5).await.unwrap(), [key("a", 10), key("b", 10)]);
    assert!(store.delete_keychain("a").await.unwrap());
    assert!(!store.delete_keychain("a").await.unwrap());
    assert_eq!(store.list_keychain(5).await.unwrap(), [key("b", 10)]);
}

pub async fn expired_keychain_entries_are_purged_unless_renewed(store: Arc<dyn Store>) {
    let renewed = KeychainRow { auto_renew: true, ..key("renewed", 5) };
    for row in [key("old", 5), key("older", 4), renewed.clone(), key("fresh", 11)] {
        store.put_keychain(&row).await.unwrap();
    }
    assert_eq!(store.purge_keychain(at(10), 1).await.unwrap(), 1);
    assert_eq!(store.purge_keychain(at(10), 10).await.unwrap(), 1);
    assert_eq!(store.list_keychain(5).await.unwrap(), [key("fresh", 11), renewed]);
}
