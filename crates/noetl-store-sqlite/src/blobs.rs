//! Blobs.

use async_trait::async_trait;
use noetl_store::{Blob, Blobs, Error};
use rusqlite::{OptionalExtension, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Iso};

#[async_trait]
impl Blobs for SqliteStore {
    async fn put_blob(&self, blob: &Blob) -> Result<(), Error> {
        let blob = blob.clone();
        self.write(move |connection| {
            let sql = "
                INSERT OR REPLACE INTO noetl.object_store (object_key, digest, media_type, bytes, created_at)
                VALUES (?1, ?2, ?3, ?4, ?5)";
            let values =
                params![&*blob.key, blob.digest, &*blob.media_type, &*blob.bytes, Iso(blob.created_at)];
            connection.prepare_cached(sql)?.execute(values)?;
            Ok(())
        })
        .await
    }

    async fn find_blob(&self, key: &str) -> Result<Option<Blob>, Error> {
        let key = key.to_owned();
        self.read(move |connection| {
            let sql = "
                SELECT object_key, digest, media_type, bytes, created_at FROM noetl.object_store
                WHERE object_key = ?1";
            let found = connection.prepare_cached(sql)?.query_row([key], |row| {
                Ok(Blob {
                    key: row.get("object_key")?,
                    digest: row.get("digest")?,
                    media_type: row.get("media_type")?,
                    bytes: row.get::<_, Bytes>("bytes")?.0,
                    created_at: row.get::<_, Iso>("created_at")?.0,
                })
            });
            Ok(found.optional()?.map(Blob::verified).transpose()?)
        })
        .await
    }
}
