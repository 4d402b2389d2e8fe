//! Blobs.

use async_trait::async_trait;
use noetl_store::{Blob, Blobs, Error};
use rusqlite::{OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Iso};

fn blob(row: &Row<'_>) -> rusqlite::Result<Blob> {
    Ok(Blob {
        key: row.get("object_key")?,
        digest: row.get("digest")?,
        media_type: row.get("media_type")?,
        bytes: row.get::<_, Bytes>("bytes")?.0,
        created_at: row.get::<_, Iso>("created_at")?.0,
    })
}

/// In the words of the index that is made for it.
const HAS_TAIL: &str = "
    instr(object_key, '/execution=') > 0 AND substr(object_key, instr(object_key, '/execution=')) = ?1";

fn newest(condition: &str) -> String {
    format!(
        "SELECT object_key, digest, media_type, bytes, created_at FROM noetl.object_store
         WHERE {condition} ORDER BY created_at DESC LIMIT 1"
    )
}

impl SqliteStore {
    async fn find_one_blob(&self, condition: &'static str, value: String) -> Result<Option<Blob>, Error> {
        self.read(move |connection| {
            let found = connection.prepare_cached(&newest(condition))?.query_row([value], blob);
            Ok(found.optional()?.map(Blob::verified).transpose()?)
        })
        .await
    }
}

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
        self.find_one_blob("object_key = ?1", key.to_owned()).await
    }

    async fn find_blob_by_tail(&self, tail: &str) -> Result<Option<Blob>, Error> {
        self.find_one_blob(HAS_TAIL, tail.to_owned()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    #[test]
    fn blobs_are_found_by_indexes() {
        assert_plan(&newest(HAS_TAIL), "object_by_tail");
    }
}
