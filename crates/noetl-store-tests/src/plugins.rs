//! Plug-in modules: a version is one piece of code for good.

use std::sync::Arc;

use noetl_store::{Error, PluginModule, Store};

use crate::given::*;

fn module(path: &str, version: i64, code: &[u8]) -> PluginModule {
    PluginModule::new(path, version, "application/wasm", code, at(version))
}

pub async fn a_module_is_found_as_it_was_registered(store: Arc<dyn Store>) {
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let first = module("system/orchestrate", 1, &bytes);
    assert_eq!(store.register_plugin(&first).await.unwrap(), first.info);
    assert_eq!(first.info.size, 70_000);
    assert_eq!(store.find_plugin("system/orchestrate", Some(1)).await.unwrap(), Some(first));
    assert_eq!(store.find_plugin("system/orchestrate", Some(2)).await.unwrap(), None);
    assert_eq!(store.find_plugin("system", None).await.unwrap(), None);
}

pub async fn the_highest_version_of_a_module_is_the_latest(store: Arc<dyn Store>) {
    for version in [2, 10, 3] {
        store.register_plugin(&module("a", version, &[version as u8])).await.unwrap();
    }
    store.register_plugin(&module("a/b", 99, b"other")).await.unwrap();
    assert_eq!(store.find_plugin("a", None).await.unwrap().expect("it is there").info.version, 10);
}

pub async fn registering_the_same_code_again_changes_nothing(store: Arc<dyn Store>) {
    let first = module("a", 1, b"code");
    store.register_plugin(&first).await.unwrap();
    let again = PluginModule::new("a", 1, "application/other", &b"code"[..], at(500));
    assert_eq!(store.register_plugin(&again).await.unwrap(), first.info);
    assert_eq!(store.list_plugins().await.unwrap(), [first.info]);
}

pub async fn other_code_for_a_taken_version_is_a_conflict_with_both_digests(store: Arc<dyn Store>) {
    let (first, other) = (module("a", 1, b"code"), module("a", 1, b"other code"));
    store.register_plugin(&first).await.unwrap();
    let error = store.register_plugin(&other).await.expect_err("the version is taken");
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains(&first.info.digest) && text.contains(&other.info.digest), "{text}");
    assert_eq!(store.find_plugin("a", Some(1)).await.unwrap(), Some(first));
}

pub async fn code_that_changed_is_an_error(store: Arc<dyn Store>) {
    let mut broken = module("a", 1, b"code");
    broken.info.digest = module("a", 1, b"other code").info.digest;
    store.register_plugin(&broken).await.unwrap();
    let error = store.find_plugin("a", None).await.expect_err("the code does not match its digest");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

pub async fn modules_are_listed_by_path_and_highest_version(store: Arc<dyn Store>) {
    for (path, version) in [("b", 1), ("a", 1), ("a", 2)] {
        store.register_plugin(&module(path, version, path.as_bytes())).await.unwrap();
    }
    let listed = store.list_plugins().await.unwrap();
    let listed: Vec<_> = listed.iter().map(|info| (&*info.path, info.version)).collect();
    assert_eq!(listed, [("a", 2), ("a", 1), ("b", 1)]);
}

pub async fn a_deleted_module_is_gone(store: Arc<dyn Store>) {
    store.register_plugin(&module("a", 1, b"code")).await.unwrap();
    assert!(store.delete_plugin("a", 1).await.unwrap());
    assert!(!store.delete_plugin("a", 1).await.unwrap());
    assert_eq!(store.find_plugin("a", None).await.unwrap(), None);
    store.register_plugin(&module("a", 1, b"other code")).await.unwrap();
}
