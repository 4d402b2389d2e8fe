//! The keychain.

use async_trait::async_trait;
use noetl_store::{Error, Keychain, KeychainRow};
use noetl_types::{ExecutionId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Iso, Json, JsonRef, Scope, int};

fn entry(row: &Row<'_>) -> rusqlite::Result<KeychainRow> {
    Ok(KeychainRow {
        cache_key: row.get("cache_key")?,
        name: row.get("keychain_name")?,
        catalog_id: row.get("catalog_id")?,
        credential_type: row.get("credential_type")?,
        cache_type: row.get("cache_type")?,
        scope: row.get::<_, Scope>("scope_type")?.0,
        execution: row.get::<_, Option<i64>>("execution_id")?.map(ExecutionId),
        parent_execution: row.get::<_, Option<i64>>("parent_execution_id")?.map(ExecutionId),
        data_encrypted: row.get::<_, Bytes>("data_encrypted")?.0,
        expires_at: row.get::<_, Iso>("expires_at")?.0,
        auto_renew: row.get("auto_renew")?,
        renew_config: row.get::<_, Json>("renew_config")?.0,
        created_at: row.get::<_, Iso>("created_at")?.0,
        accessed_at: row.get::<_, Option<Iso>>("accessed_at")?.map(|at| at.0),
        access_count: row.get::<_, i64>("access_count")? as u64,
    })
}

#[async_trait]
impl Keychain for SqliteStore {
    async fn put_keychain(&self, new: &KeychainRow) -> Result<(), Error> {
        let new = new.clone();
        self.write(move |connection| {
            let sql = "
                INSERT OR REPLACE INTO noetl.keychain (
                    cache_key, keychain_name, catalog_id, credential_type, cache_type, scope_type, execution_id,
                    parent_execution_id, data_encrypted, expires_at, auto_renew, renew_config, created_at, accessed_at,
                    access_count
                ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
            connection.prepare_cached(sql)?.execute(params![
                &*new.cache_key,
                &*new.name,
                new.catalog_id,
                &*new.credential_type,
                &*new.cache_type,
                new.scope.as_str(),
                new.execution.map(|execution| execution.0),
                new.parent_execution.map(|execution| execution.0),
                &*new.data_encrypted,
                Iso(new.expires_at),
                new.auto_renew,
                JsonRef(&new.renew_config),
                Iso(new.created_at),
                new.accessed_at.map(Iso),
                int(new.access_count),
            ])?;
            Ok(())
        })
        .await
    }

    async fn find_keychain(&self, cache_key: &str, now: Timestamp) -> Result<Option<KeychainRow>, Error> {
        let cache_key = cache_key.to_owned();
        self.write_relaxed(move |connection| {
            let sql = "
                UPDATE noetl.keychain SET access_count = access_count + 1, accessed_at = ?2
                WHERE cache_key = ?1 RETURNING *";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_row(params![cache_key, Iso(now)], entry).optional()?)
        })
        .await
    }

    async fn list_keychain(&self, catalog_id: i64) -> Result<Vec<KeychainRow>, Error> {
        self.read(move |connection| {
            let sql = "SELECT * FROM noetl.keychain WHERE catalog_id = ?1 ORDER BY cache_key";
            let mut statement = connection.prepare_cached(sql)?;
            let entries = statement.query_map([catalog_id], entry)?;
            Ok(entries.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn delete_keychain(&self, cache_key: &str) -> Result<bool, Error> {
        let cache_key = cache_key.to_owned();
        self.write(move |connection| {
            let mut delete = connection.prepare_cached("DELETE FROM noetl.keychain WHERE cache_key = ?1")?;
            Ok(delete.execute([&cache_key])? > 0)
        })
        .await
    }

    async fn purge_keychain(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        self.write(move |connection| {
            let sql = "
                DELETE FROM noetl.keychain WHERE cache_key IN (
                    SELECT cache_key FROM noetl.keychain WHERE expires_at <= ?1 AND NOT auto_renew LIMIT ?2
                )";
            Ok(connection.prepare_cached(sql)?.execute(params![Iso(now), int(limit)])? as u64)
        })
        .await
    }
}
