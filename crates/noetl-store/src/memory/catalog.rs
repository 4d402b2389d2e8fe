//! The catalog.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::Timestamp;

use super::MemoryStore;
use crate::{Catalog, CatalogEntry, CatalogFilter, Deletion, Error, NewCatalogEntry};

fn matches(filter: &CatalogFilter, entry: &CatalogEntry) -> bool {
    filter.kind.as_ref().is_none_or(|kind| entry.entry.kind.eq_ignore_ascii_case(kind))
        && filter.path.as_ref().is_none_or(|path| *entry.entry.path == **path)
        && filter.path_prefix.as_ref().is_none_or(|prefix| entry.entry.path.starts_with(prefix.as_str()))
        && (filter.include_archived || entry.archived_at.is_none())
}

/// Whether the entry comes after this path and version in the order of lists.
fn is_after(entry: &CatalogEntry, path: &str, version: i64) -> bool {
    match (*entry.entry.path).cmp(path) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => entry.version < version,
        std::cmp::Ordering::Greater => true,
    }
}

#[async_trait]
impl Catalog for MemoryStore {
    async fn register(&self, entry: &NewCatalogEntry) -> Result<CatalogEntry, Error> {
        self.with(|state| {
            if state.catalog.contains_key(&entry.id) {
                return Err(Error::Conflict { what: format!("catalog entry {}", entry.id) });
            }
            let versions = state.catalog.values().filter(|known| known.entry.path == entry.path);
            let version = versions.map(|known| known.version).max().unwrap_or(0) + 1;
            let stored = CatalogEntry { entry: entry.clone(), version, archived_at: None };
            state.catalog.insert(entry.id, Arc::new(stored.clone()));
            Ok(stored)
        })?
    }

    async fn find_latest_entry(&self, path: &str) -> Result<Option<CatalogEntry>, Error> {
        self.with(|state| {
            let visible = state.catalog.values().filter(|entry| entry.archived_at.is_none());
            let versions = visible.filter(|entry| *entry.entry.path == *path);
            versions.max_by_key(|entry| entry.version).map(|entry| (**entry).clone())
        })
    }

    async fn find_entry_version(&self, path: &str, version: i64) -> Result<Option<CatalogEntry>, Error> {
        self.with(|state| {
            let mut visible = state.catalog.values().filter(|entry| entry.archived_at.is_none());
            visible
                .find(|entry| *entry.entry.path == *path && entry.version == version)
                .map(|entry| (**entry).clone())
        })
    }

    async fn find_entry_id(&self, path: &str, version: Option<i64>) -> Result<Option<i64>, Error> {
        let found = match version {
            Some(version) => self.find_entry_version(path, version).await?,
            None => self.find_latest_entry(path).await?,
        };
        Ok(found.map(|found| found.entry.id))
    }

    async fn find_entry(&self, id: i64) -> Result<Option<CatalogEntry>, Error> {
        self.with(|state| state.catalog.get(&id).map(|entry| (**entry).clone()))
    }

    async fn list_entries(&self, filter: &CatalogFilter, limit: usize) -> Result<Vec<CatalogEntry>, Error> {
        self.with(|state| {
            let mut entries: Vec<_> = state.catalog.values().filter(|entry| matches(filter, entry)).collect();
            entries.sort_by(|a, b| (&a.entry.path, -a.version).cmp(&(&b.entry.path, -b.version)));
            let mut seen = BTreeSet::new();
            let mut listed: Vec<_> = entries
                .into_iter()
                .filter(|entry| !filter.latest_only || seen.insert(entry.entry.path.clone()))
                .filter(|entry| {
                    filter.after.as_ref().is_none_or(|(path, version)| is_after(entry, path, *version))
                })
                .filter(|entry| filter.before.is_none_or(|before| entry.entry.id < before))
                .collect();
            if filter.newest_first {
                listed.sort_by_key(|entry| std::cmp::Reverse(entry.entry.id));
            }
            listed.into_iter().take(limit).map(|entry| (**entry).clone()).collect()
        })
    }

    async fn count_paths(&self, kind: &str) -> Result<u64, Error> {
        self.with(|state| {
            let visible = state.catalog.values().filter(|entry| entry.archived_at.is_none());
            let of_kind = visible.filter(|entry| entry.entry.kind.eq_ignore_ascii_case(kind));
            of_kind.map(|entry| &entry.entry.path).collect::<BTreeSet<_>>().len() as u64
        })
    }

    async fn archive_entry(&self, id: i64, now: Timestamp) -> Result<bool, Error> {
        self.with(|state| match state.catalog.get_mut(&id) {
            Some(entry) if entry.archived_at.is_none() => {
                Arc::make_mut(entry).archived_at = Some(now);
                true
            }
            _ => false,
        })
    }

    async fn restore_entry(&self, id: i64) -> Result<bool, Error> {
        self.with(|state| match state.catalog.get_mut(&id) {
            Some(entry) if entry.archived_at.is_some() => {
                Arc::make_mut(entry).archived_at = None;
                true
            }
            _ => false,
        })
    }

    async fn delete_entry(&self, id: i64) -> Result<Deletion, Error> {
        self.with(|state| {
            if !state.catalog.contains_key(&id) {
                Deletion::NotFound
            } else if state.runs.values().any(|run| run.execution.row.catalog_id == id) {
                Deletion::Referenced
            } else {
                state.catalog.remove(&id);
                Deletion::Deleted
            }
        })
    }
}
