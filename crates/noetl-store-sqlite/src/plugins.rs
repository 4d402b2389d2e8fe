//! Plug-in modules.

use async_trait::async_trait;
use noetl_store::{Error, PluginInfo, PluginModule, Plugins};
use rusqlite::{OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Iso};

const INFO: &str = "path, version, digest, media_type, length(bytes) AS size, created_at";

fn info(row: &Row<'_>) -> rusqlite::Result<PluginInfo> {
    Ok(PluginInfo {
        path: row.get("path")?,
        version: row.get("version")?,
        digest: row.get("digest")?,
        media_type: row.get("media_type")?,
        size: row.get::<_, i64>("size")? as u64,
        created_at: row.get::<_, Iso>("created_at")?.0,
    })
}

#[async_trait]
impl Plugins for SqliteStore {
    async fn register_plugin(&self, module: &PluginModule) -> Result<PluginInfo, Error> {
        let module = module.clone();
        self.write(move |connection| {
            let new = &module.info;
            let insert = "
                INSERT INTO noetl.plugin_module (path, version, digest, media_type, bytes, created_at)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                ON CONFLICT DO NOTHING";
            let values = params![
                &*new.path,
                new.version,
                new.digest,
                &*new.media_type,
                &*module.bytes,
                Iso(new.created_at)
            ];
            connection.prepare_cached(insert)?.execute(values)?;
            let stored = format!("SELECT {INFO} FROM noetl.plugin_module WHERE path = ?1 AND version = ?2");
            let stored =
                connection.prepare_cached(&stored)?.query_row(params![&*new.path, new.version], info)?;
            if stored.digest == new.digest { Ok(stored) } else { Err(stored.conflict(&new.digest).into()) }
        })
        .await
    }

    async fn find_plugin(&self, path: &str, version: Option<i64>) -> Result<Option<PluginModule>, Error> {
        let path = path.to_owned();
        self.read(move |connection| {
            let sql = format!(
                "SELECT {INFO}, bytes FROM noetl.plugin_module
                 WHERE path = ?1 AND version BETWEEN ?2 AND ?3 ORDER BY version DESC LIMIT 1"
            );
            let (lowest, highest) = version.map_or((i64::MIN, i64::MAX), |version| (version, version));
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_row(params![path, lowest, highest], |row| {
                Ok(PluginModule { info: info(row)?, bytes: row.get::<_, Bytes>("bytes")?.0 })
            });
            Ok(found.optional()?.map(PluginModule::verified).transpose()?)
        })
        .await
    }

    async fn list_plugins(&self) -> Result<Vec<PluginInfo>, Error> {
        self.read(|connection| {
            let sql = format!("SELECT {INFO} FROM noetl.plugin_module ORDER BY path, version DESC");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], info)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn delete_plugin(&self, path: &str, version: i64) -> Result<bool, Error> {
        let path = path.to_owned();
        self.write(move |connection| {
            let sql = "DELETE FROM noetl.plugin_module WHERE path = ?1 AND version = ?2";
            Ok(connection.prepare_cached(sql)?.execute(params![path, version])? > 0)
        })
        .await
    }
}
