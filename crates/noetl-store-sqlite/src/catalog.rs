//! The catalog.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use noetl_store::{Catalog, CatalogEntry, CatalogFilter, Deletion, Error, NewCatalogEntry};
use noetl_types::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use crate::SqliteStore;
use crate::columns::{Iso, Json, JsonRef, int};
use crate::error::{Fault, Outcome};
use crate::filter::{Conditions, end_of_prefix};

const ENTRY: &str = "
    SELECT catalog_id, path, version, kind, content, layout, payload, meta, created_at, archived_at
    FROM noetl.catalog";

fn entry(row: &Row<'_>) -> rusqlite::Result<CatalogEntry> {
    Ok(CatalogEntry {
        entry: NewCatalogEntry {
            id: row.get("catalog_id")?,
            path: row.get("path")?,
            kind: row.get("kind")?,
            content: row.get("content")?,
            layout: row.get::<_, Json>("layout")?.0,
            payload: row.get::<_, Json>("payload")?.0,
            meta: row.get::<_, Json>("meta")?.0,
            created_at: row.get::<_, Iso>("created_at")?.0,
        },
        version: row.get("version")?,
        archived_at: row.get::<_, Option<Iso>>("archived_at")?.map(|at| at.0),
    })
}

/// Ids that were found by path and version, kept until the catalog changes. This process alone changes it.
#[derive(Debug, Default)]
pub struct KnownIds {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// How often the catalog has changed.
    changes: u64,
    /// For each path its versions, and under no version the newest.
    ids: HashMap<String, HashMap<Option<i64>, i64>>,
}

impl KnownIds {
    /// Paths that are kept. They are cheap to find again.
    const MOST: usize = 10_000;

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id if it is at hand, and the number of changes so far.
    fn get(&self, path: &str, version: Option<i64>) -> (Option<i64>, u64) {
        let known = self.known();
        (known.ids.get(path).and_then(|ids| ids.get(&version)).copied(), known.changes)
    }

    /// Keeps what was found when there had been so many changes, unless there was another since.
    fn keep(&self, path: String, version: Option<i64>, id: i64, changes: u64) {
        let mut known = self.known();
        if known.changes == changes {
            if known.ids.len() >= Self::MOST {
                known.ids.clear();
            }
            known.ids.entry(path).or_default().insert(version, id);
        }
    }

    fn forget(&self) {
        let mut known = self.known();
        known.changes += 1;
        known.ids.clear();
    }
}

impl SqliteStore {
    /// Changes the catalog for good.
    async fn write_catalog<T: Send + 'static>(
        &self,
        call: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        let written = self.write(call).await;
        // Also after an error: whether it was written may be unknown.
        self.inner.known_ids.forget();
        written
    }

    async fn find_one_entry(
        &self,
        condition: &'static str,
        values: impl rusqlite::Params + Send + 'static,
    ) -> Result<Option<CatalogEntry>, Error> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!("{ENTRY} WHERE {condition}"))?;
            Ok(statement.query_row(values, entry).optional()?)
        })
        .await
    }

    /// Runs a statement and says whether it changed a row.
    async fn change_entry(
        &self,
        sql: &'static str,
        values: impl ToSql + Send + Clone + 'static,
        id: i64,
    ) -> Result<bool, Error> {
        let call = move |connection: &Connection| {
            Ok(connection.prepare_cached(sql)?.execute(params![id, values])? > 0)
        };
        self.write_catalog(call).await
    }
}

#[async_trait]
impl Catalog for SqliteStore {
    async fn register(&self, new: &NewCatalogEntry) -> Result<CatalogEntry, Error> {
        let new = new.clone();
        self.write_catalog(move |connection| {
            let kind = "INSERT INTO noetl.resource (name) VALUES (?1) ON CONFLICT DO NOTHING";
            connection.prepare_cached(kind)?.execute([&*new.kind])?;
            let insert = "
                INSERT INTO noetl.catalog (
                    catalog_id, path, version, kind, content, layout, payload, meta, created_at
                ) VALUES (
                    ?1, ?2, (SELECT coalesce(max(version), 0) + 1 FROM noetl.catalog WHERE path = ?2),
                    ?3, ?4, ?5, ?6, ?7, ?8
                ) RETURNING version";
            let added = connection.prepare_cached(insert)?.query_row(
                params![
                    new.id,
                    &*new.path,
                    &*new.kind,
                    &*new.content,
                    JsonRef(&new.layout),
                    JsonRef(&new.payload),
                    JsonRef(&new.meta),
                    Iso(new.created_at),
                ],
                |row| row.get(0),
            );
            match added.map_err(Fault::from) {
                Ok(version) => Ok(CatalogEntry { entry: new.clone(), version, archived_at: None }),
                Err(fault) if fault.is_constraint_violation() => {
                    Err(Error::Conflict { what: format!("catalog entry {}", new.id) }.into())
                }
                Err(fault) => Err(fault),
            }
        })
        .await
    }

    async fn find_latest_entry(&self, path: &str) -> Result<Option<CatalogEntry>, Error> {
        let condition = "path = ?1 AND archived_at IS NULL ORDER BY version DESC LIMIT 1";
        self.find_one_entry(condition, (path.to_owned(),)).await
    }

    async fn find_entry_version(&self, path: &str, version: i64) -> Result<Option<CatalogEntry>, Error> {
        let condition = "path = ?1 AND version = ?2 AND archived_at IS NULL";
        self.find_one_entry(condition, (path.to_owned(), version)).await
    }

    async fn find_entry_id(&self, path: &str, version: Option<i64>) -> Result<Option<i64>, Error> {
        let (known, changes) = self.inner.known_ids.get(path, version);
        // A reader beside another process does not hear of its changes.
        if known.is_some() && self.inner.writer.is_some() {
            return Ok(known);
        }
        let path = path.to_owned();
        let wanted = path.clone();
        let found = self
            .read(move |connection| {
                let sql = "
                    SELECT catalog_id FROM noetl.catalog
                    WHERE path = ?1 AND archived_at IS NULL AND (?2 IS NULL OR version = ?2)
                    ORDER BY version DESC LIMIT 1";
                Ok(connection
                    .prepare_cached(sql)?
                    .query_row(params![wanted, version], |row| row.get(0))
                    .optional()?)
            })
            .await?;
        if let Some(id) = found {
            self.inner.known_ids.keep(path, version, id, changes);
        }
        Ok(found)
    }

    async fn find_entry(&self, id: i64) -> Result<Option<CatalogEntry>, Error> {
        self.find_one_entry("catalog_id = ?1", (id,)).await
    }

    async fn list_entries(&self, filter: &CatalogFilter, limit: usize) -> Result<Vec<CatalogEntry>, Error> {
        let mut conditions = Conditions::default();
        conditions.add_some("kind = ? COLLATE NOCASE", filter.kind.clone());
        conditions.add_some("path = ?", filter.path.clone());
        if let Some(prefix) = &filter.path_prefix {
            conditions.add("path >= ?", prefix.clone());
            conditions.add_some("path < ?", end_of_prefix(prefix));
        }
        if !filter.include_archived {
            conditions.add_plain("archived_at IS NULL");
        }
        if filter.latest_only {
            conditions.add_plain(&format!(
                "(path, version) IN (SELECT path, max(version) FROM noetl.catalog WHERE {} GROUP BY path)",
                conditions.sql()
            ));
        }
        if let Some((path, version)) = &filter.after {
            conditions.add_pair("(path > ?a OR (path = ?a AND version < ?b))", path.clone(), *version);
        }
        conditions.add_some("catalog_id < ?", filter.before);
        let order = if filter.newest_first { "catalog_id DESC" } else { "path, version DESC" };
        let limit = conditions.value(int(limit));
        let sql = format!("{ENTRY} WHERE {} ORDER BY {order} LIMIT {limit}", conditions.sql());
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let entries = statement.query_map(&*conditions.values(), entry)?;
            Ok(entries.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn count_paths(&self, kind: &str) -> Result<u64, Error> {
        let kind = kind.to_owned();
        self.read(move |connection| {
            let sql = "
                SELECT count(DISTINCT path) FROM noetl.catalog
                WHERE kind = ?1 COLLATE NOCASE AND archived_at IS NULL";
            Ok(connection.prepare_cached(sql)?.query_row([kind], |row| row.get::<_, i64>(0))? as u64)
        })
        .await
    }

    async fn archive_entry(&self, id: i64, now: Timestamp) -> Result<bool, Error> {
        let sql = "UPDATE noetl.catalog SET archived_at = ?2 WHERE catalog_id = ?1 AND archived_at IS NULL";
        self.change_entry(sql, Iso(now), id).await
    }

    async fn restore_entry(&self, id: i64) -> Result<bool, Error> {
        let sql =
            "UPDATE noetl.catalog SET archived_at = ?2 WHERE catalog_id = ?1 AND archived_at IS NOT NULL";
        self.change_entry(sql, rusqlite::types::Null, id).await
    }

    async fn delete_entry(&self, id: i64) -> Result<Deletion, Error> {
        self.write_catalog(move |connection| {
            let path = "SELECT path FROM noetl.catalog WHERE catalog_id = ?1";
            let path: Option<String> =
                connection.prepare_cached(path)?.query_row([id], |row| row.get(0)).optional()?;
            let Some(path) = path else {
                return Ok(Deletion::NotFound);
            };
            // Executions have the path of their entry, which is indexed.
            let used = "SELECT 1 FROM noetl.execution_record WHERE path = ?1 AND catalog_id = ?2";
            if connection.prepare_cached(used)?.exists(params![path, id])? {
                return Ok(Deletion::Referenced);
            }
            connection.prepare_cached("DELETE FROM noetl.catalog WHERE catalog_id = ?1")?.execute([id])?;
            Ok(Deletion::Deleted)
        })
        .await
    }
}
