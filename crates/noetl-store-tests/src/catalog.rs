//! The catalog: versions without holes or doubles, archiving, deleting.

use std::sync::Arc;

use noetl_store::{CatalogEntry, CatalogFilter, Deletion, Error, ExecutionRow, NewCatalogEntry, Store};

use crate::given::*;

async fn register(store: &dyn Store, id: i64, path: &str) -> i64 {
    store.register(&playbook(id, path)).await.unwrap().version
}

async fn listed(store: &dyn Store, filter: CatalogFilter) -> Vec<(String, i64)> {
    let entries = store.list_entries(&filter, 100).await.unwrap();
    entries.iter().map(|entry| (entry.entry.path.to_string(), entry.version)).collect()
}

fn places(places: &[(&str, i64)]) -> Vec<(String, i64)> {
    places.iter().map(|(path, version)| ((*path).to_owned(), *version)).collect()
}

pub async fn each_registration_of_a_path_is_one_version_more(store: Arc<dyn Store>) {
    assert_eq!(register(&*store, 1, "a").await, 1);
    assert_eq!(register(&*store, 2, "a").await, 2);
    assert_eq!(register(&*store, 3, "b").await, 1);
    assert_eq!(register(&*store, 4, "a").await, 3);
}

pub async fn concurrent_registrations_get_versions_of_their_own(store: Arc<dyn Store>) {
    let tasks: Vec<_> = (1..=16)
        .map(|id| {
            let store = store.clone();
            tokio::spawn(async move { register(&*store, id, "a").await })
        })
        .collect();
    let mut versions = Vec::new();
    for task in tasks {
        versions.push(task.await.unwrap());
    }
    versions.sort();
    assert_eq!(versions, Vec::from_iter(1..=16));
}

pub async fn an_entry_is_found_as_it_was_registered(store: Arc<dyn Store>) {
    let entry = playbook(5, "a/b");
    let stored = store.register(&entry).await.unwrap();
    assert_eq!(stored, CatalogEntry { entry, version: 1, archived_at: None });
    assert_eq!(store.find_entry(5).await.unwrap(), Some(stored.clone()));
    assert_eq!(store.find_latest_entry("a/b").await.unwrap(), Some(stored.clone()));
    assert_eq!(store.find_entry_version("a/b", 1).await.unwrap(), Some(stored));
}

pub async fn an_id_is_found_by_path_as_the_catalog_changes(store: Arc<dyn Store>) {
    let newest = async || store.find_entry_id("a", None).await.unwrap();
    let first = async || store.find_entry_id("a", Some(1)).await.unwrap();
    assert_eq!((newest().await, first().await), (None, None));
    register(&*store, 1, "a").await;
    assert_eq!((newest().await, first().await), (Some(1), Some(1)));
    register(&*store, 2, "a").await;
    register(&*store, 3, "b").await;
    assert_eq!((newest().await, first().await), (Some(2), Some(1)));
    assert_eq!((newest().await, first().await), (Some(2), Some(1)), "asked again");
    assert!(store.archive_entry(2, at(9)).await.unwrap());
    assert!(store.archive_entry(1, at(9)).await.unwrap());
    assert_eq!((newest().await, first().await), (None, None));
    assert!(store.restore_entry(2).await.unwrap());
    assert_eq!((newest().await, first().await), (Some(2), None));
    assert_eq!(store.delete_entry(2).await.unwrap(), Deletion::Deleted);
    assert_eq!(newest().await, None);
}

pub async fn unknown_entries_are_not_found(store: Arc<dyn Store>) {
    register(&*store, 1, "a").await;
    assert_eq!(store.find_entry(2).await.unwrap(), None);
    assert_eq!(store.find_latest_entry("A").await.unwrap(), None);
    assert_eq!(store.find_entry_version("a", 2).await.unwrap(), None);
}

pub async fn the_latest_version_is_found(store: Arc<dyn Store>) {
    for id in 1..=12 {
        register(&*store, id, "a").await;
    }
    assert_eq!(store.find_latest_entry("a").await.unwrap().unwrap().version, 12);
}

pub async fn an_id_that_is_taken_is_a_conflict(store: Arc<dyn Store>) {
    register(&*store, 1, "a").await;
    let error = store.register(&playbook(1, "b")).await.expect_err("the id is taken");
    assert!(matches!(error, Error::Conflict { .. }), "{error}");
    assert_eq!(store.find_latest_entry("b").await.unwrap(), None);
}

pub async fn an_archived_entry_is_found_by_id_only(store: Arc<dyn Store>) {
    register(&*store, 1, "a").await;
    register(&*store, 2, "a").await;
    assert!(store.archive_entry(2, at(9)).await.unwrap());
    assert!(!store.archive_entry(2, at(10)).await.unwrap(), "it is archived already");
    assert!(!store.archive_entry(404, at(9)).await.unwrap());
    assert_eq!(store.find_entry(2).await.unwrap().unwrap().archived_at, Some(at(9)));
    assert_eq!(store.find_latest_entry("a").await.unwrap().unwrap().version, 1);
    assert_eq!(store.find_entry_version("a", 2).await.unwrap(), None);
    assert_eq!(register(&*store, 3, "a").await, 3, "its version stays taken");
}

pub async fn a_restored_entry_is_back(store: Arc<dyn Store>) {
    register(&*store, 1, "a").await;
    assert!(!store.restore_entry(1).await.unwrap(), "it is not archived");
    store.archive_entry(1, at(9)).await.unwrap();
    assert!(store.restore_entry(1).await.unwrap());
    assert_eq!(store.find_latest_entry("a").await.unwrap().unwrap().archived_at, None);
}

pub async fn an_entry_without_executions_can_be_deleted(store: Arc<dyn Store>) {
    register(&*store, 1, "a").await;
    assert_eq!(store.delete_entry(1).await.unwrap(), Deletion::Deleted);
    assert_eq!(store.find_entry(1).await.unwrap(), None);
    assert_eq!(store.delete_entry(1).await.unwrap(), Deletion::NotFound);
}

pub async fn an_entry_with_executions_cannot_be_deleted(store: Arc<dyn Store>) {
    register(&*store, 1, "a").await;
    commit(&*store, begin_at(7, ExecutionRow { catalog_id: 1, ..row("a") })).await;
    assert_eq!(store.delete_entry(1).await.unwrap(), Deletion::Referenced);
    assert!(store.find_entry(1).await.unwrap().is_some());
}

pub async fn entries_are_listed_by_path_and_newest_version(store: Arc<dyn Store>) {
    for (id, path) in [(1, "b"), (2, "a"), (3, "b"), (4, "B")] {
        register(&*store, id, path).await;
    }
    assert_eq!(
        listed(&*store, CatalogFilter::default()).await,
        places(&[("B", 1), ("a", 1), ("b", 2), ("b", 1)])
    );
    let latest = CatalogFilter { latest_only: true, ..Default::default() };
    assert_eq!(listed(&*store, latest).await, places(&[("B", 1), ("a", 1), ("b", 2)]));
}

pub async fn entries_are_filtered(store: Arc<dyn Store>) {
    register(&*store, 1, "etl/a").await;
    let subscription = NewCatalogEntry { kind: "subscription".into(), ..playbook(2, "etl/b") };
    store.register(&subscription).await.unwrap();
    register(&*store, 3, "web").await;
    store.archive_entry(3, at(9)).await.unwrap();
    let kind = CatalogFilter { kind: Some("Subscription".to_owned()), ..Default::default() };
    assert_eq!(listed(&*store, kind).await, places(&[("etl/b", 1)]));
    let prefix = CatalogFilter { path_prefix: Some("etl/".to_owned()), ..Default::default() };
    assert_eq!(listed(&*store, prefix).await, places(&[("etl/a", 1), ("etl/b", 1)]));
    let archived = CatalogFilter { include_archived: true, ..Default::default() };
    assert_eq!(listed(&*store, archived).await, places(&[("etl/a", 1), ("etl/b", 1), ("web", 1)]));
}

pub async fn the_latest_visible_version_is_listed(store: Arc<dyn Store>) {
    register(&*store, 1, "a").await;
    register(&*store, 2, "a").await;
    store.archive_entry(2, at(9)).await.unwrap();
    let latest = CatalogFilter { latest_only: true, ..Default::default() };
    assert_eq!(listed(&*store, latest).await, places(&[("a", 1)]));
}

pub async fn entries_page_by_path_and_version(store: Arc<dyn Store>) {
    for (id, path) in [(1, "a"), (2, "a"), (3, "b"), (4, "c")] {
        register(&*store, id, path).await;
    }
    let mut seen = Vec::new();
    let mut filter = CatalogFilter::default();
    loop {
        let page = store.list_entries(&filter, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        filter.after = Some((last.entry.path.to_string(), last.version));
        seen.extend(page.iter().map(|entry| (entry.entry.path.to_string(), entry.version)));
    }
    assert_eq!(seen, places(&[("a", 2), ("a", 1), ("b", 1), ("c", 1)]));
}

pub async fn entries_of_one_path_are_listed(store: Arc<dyn Store>) {
    for (id, path) in [(1, "a"), (2, "a/b"), (3, "a")] {
        register(&*store, id, path).await;
    }
    let path = CatalogFilter { path: Some("a".to_owned()), ..Default::default() };
    assert_eq!(listed(&*store, path).await, places(&[("a", 2), ("a", 1)]));
}

pub async fn the_newest_entries_can_come_first(store: Arc<dyn Store>) {
    for (id, path) in [(1, "b"), (2, "a"), (3, "b"), (4, "c")] {
        register(&*store, id, path).await;
    }
    let newest = CatalogFilter { newest_first: true, ..Default::default() };
    assert_eq!(listed(&*store, newest.clone()).await, places(&[("c", 1), ("b", 2), ("a", 1), ("b", 1)]));
    let page = CatalogFilter { before: Some(3), ..newest.clone() };
    assert_eq!(listed(&*store, page).await, places(&[("a", 1), ("b", 1)]));
    let latest = CatalogFilter { latest_only: true, ..newest };
    assert_eq!(listed(&*store, latest).await, places(&[("c", 1), ("b", 2), ("a", 1)]));
}

pub async fn visible_paths_of_a_kind_are_counted(store: Arc<dyn Store>) {
    assert_eq!(store.count_paths("playbook").await.unwrap(), 0);
    for (id, path) in [(1, "b"), (2, "a"), (3, "b"), (4, "c")] {
        register(&*store, id, path).await;
    }
    let other = noetl_store::NewCatalogEntry { kind: "subscription".into(), ..playbook(5, "d") };
    store.register(&other).await.unwrap();
    assert_eq!(store.count_paths("Playbook").await.unwrap(), 3);
    store.archive_entry(1, at(9)).await.unwrap();
    assert_eq!(store.count_paths("playbook").await.unwrap(), 3, "the other version of b is visible");
    store.archive_entry(3, at(9)).await.unwrap();
    assert_eq!(store.count_paths("playbook").await.unwrap(), 2);
}
