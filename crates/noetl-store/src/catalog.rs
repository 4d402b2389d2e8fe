//! The catalog: playbooks and other documents by path and version.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{Timestamp, Value};

use crate::Error;

/// A document to register. The store gives the version.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCatalogEntry {
    pub id: i64,
    pub path: Arc<str>,
    /// Lower case: `playbook`, `subscription`, `mcp`…
    pub kind: Arc<str>,
    pub content: Arc<str>,
    pub layout: Value,
    pub payload: Value,
    pub meta: Value,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CatalogEntry {
    pub entry: NewCatalogEntry,
    /// From 1, one more with each registration of the path.
    pub version: i64,
    pub archived_at: Option<Timestamp>,
}

/// Which entries to list. The default lists all versions that are not archived.
#[derive(Clone, Debug, Default)]
pub struct CatalogFilter {
    /// Case does not matter.
    pub kind: Option<String>,
    pub path: Option<String>,
    pub path_prefix: Option<String>,
    pub include_archived: bool,
    /// Only the newest version of each path among those that match otherwise.
    pub latest_only: bool,
    /// By descending id instead of by path.
    pub newest_first: bool,
    /// Only entries after this path and version: the last of the page before.
    pub after: Option<(String, i64)>,
    /// Only entries with a lower id: that of the last of the page before, in a list of the newest first.
    pub before: Option<i64>,
}

/// What came of deleting an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    Deleted,
    /// Executions of it exist, so that it can only be archived.
    Referenced,
    NotFound,
}

#[async_trait]
pub trait Catalog {
    /// Adds a version: one more than the highest of the path. An id that is taken is an [`Error::Conflict`].
    async fn register(&self, entry: &NewCatalogEntry) -> Result<CatalogEntry, Error>;

    /// The newest version of a path that is not archived.
    async fn find_latest_entry(&self, path: &str) -> Result<Option<CatalogEntry>, Error>;

    /// A version of a path, unless it is archived.
    async fn find_entry_version(&self, path: &str, version: i64) -> Result<Option<CatalogEntry>, Error>;

    /// The id of a version of a path, or of the newest, unless it is archived: for those who have the rest at hand.
    async fn find_entry_id(&self, path: &str, version: Option<i64>) -> Result<Option<i64>, Error>;

    /// An entry by id, archived or not.
    async fn find_entry(&self, id: i64) -> Result<Option<CatalogEntry>, Error>;

    /// By path, and for each path the newest version first; or the newest of all first.
    async fn list_entries(&self, filter: &CatalogFilter, limit: usize) -> Result<Vec<CatalogEntry>, Error>;

    /// How many paths have an entry of this kind that is not archived.
    async fn count_paths(&self, kind: &str) -> Result<u64, Error>;

    /// Hides an entry from lookup by path. False when there is none that is visible.
    async fn archive_entry(&self, id: i64, now: Timestamp) -> Result<bool, Error>;

    /// Undoes archiving. False when there is none that is archived.
    async fn restore_entry(&self, id: i64) -> Result<bool, Error>;

    /// Removes an entry that no execution was started from.
    async fn delete_entry(&self, id: i64) -> Result<Deletion, Error>;
}
