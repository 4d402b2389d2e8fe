//! Values stored aside.

use async_trait::async_trait;
use noetl_store::{
    Error, ResultInfo, ResultRef, ResultRow, Results, ResultsDeletion, described, object_of, owner_of,
    resolve,
};
use noetl_types::{ExecutionId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Content, Iso, int};
use crate::error::Outcome;
use crate::family::{Families, find_borrower};

const RESULT: &str = "
    SELECT result_id, execution_id, name, scope, source_step, data, sha256, media_type, created_at, expires_at
    FROM noetl.result_store";

fn reference(row: &Row<'_>) -> rusqlite::Result<ResultRef> {
    Ok(ResultRef {
        execution: ExecutionId(row.get("execution_id")?),
        name: row.get("name")?,
        id: row.get("result_id")?,
    })
}

fn result(row: &Row<'_>) -> rusqlite::Result<ResultRow> {
    Ok(ResultRow {
        at: reference(row)?,
        scope: row.get("scope")?,
        source_step: row.get("source_step")?,
        content: row.get::<_, Bytes>("data")?.0,
        sha256: row.get("sha256")?,
        media_type: row.get("media_type")?,
        created_at: row.get::<_, Iso>("created_at")?.0,
        expires_at: row.get::<_, Option<Iso>>("expires_at")?.map(|at| at.0),
    })
}

/// Adds a value. False when its place is taken.
pub fn insert_result(connection: &Connection, row: &ResultRow) -> Outcome<bool> {
    let sql = "
        INSERT INTO noetl.result_store (
            result_id, execution_id, name, scope, source_step, data, bytes, sha256, media_type, created_at, expires_at
        ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        ON CONFLICT DO NOTHING";
    let added = connection.prepare_cached(sql)?.execute(params![
        row.at.id,
        row.at.execution.0,
        &*row.at.name,
        &*row.scope,
        row.source_step.as_deref(),
        Content(&row.content),
        int(row.content.len()),
        row.sha256,
        &*row.media_type,
        Iso(row.created_at),
        row.expires_at.map(Iso),
    ])?;
    Ok(added > 0)
}

const EXPIRED: &str = "
    SELECT result_id, execution_id, name FROM noetl.result_store
    WHERE expires_at IS NOT NULL AND expires_at <= ?1 ORDER BY expires_at, execution_id, result_id";

/// Only the content of pointers is short enough to be read along.
const INFO: &str = "
    SELECT result_id, execution_id, name, scope, source_step, bytes, sha256, media_type, created_at, expires_at,
        iif(bytes < 1024, data, '') AS pointer
    FROM noetl.result_store WHERE execution_id = ?1 AND result_id > ?2 ORDER BY result_id LIMIT ?3";

fn info(row: &Row<'_>) -> rusqlite::Result<ResultInfo> {
    let info = ResultInfo {
        at: reference(row)?,
        scope: row.get("scope")?,
        source_step: row.get("source_step")?,
        size: row.get::<_, i64>("bytes")? as u64,
        sha256: row.get("sha256")?,
        media_type: row.get("media_type")?,
        created_at: row.get::<_, Iso>("created_at")?.0,
        expires_at: row.get::<_, Option<Iso>>("expires_at")?.map(|at| at.0),
    };
    Ok(described(info, &row.get::<_, Bytes>("pointer")?.0))
}

/// Objects that are looked up in one go.
const OBJECTS_PAGE: usize = 500;

impl SqliteStore {
    /// The value itself, if it is kept as an object.
    async fn whole(&self, found: Option<ResultRow>) -> Result<Option<ResultRow>, Error> {
        match found {
            Some(row) => resolve(self.inner.shelf.as_ref(), row).await.map(Some),
            None => Ok(None),
        }
    }

    /// Those of the objects that no row points to. Keys of others' making are left alone.
    async fn without_a_row(&self, objects: Vec<String>) -> Result<Vec<String>, Error> {
        self.read(move |connection| {
            let sql =
                "SELECT media_type, data FROM noetl.result_store WHERE execution_id = ?1 AND result_id = ?2";
            let mut select = connection.prepare_cached(sql)?;
            let mut loose = Vec::new();
            for object in objects {
                let Some((execution, id)) = owner_of(&object) else {
                    continue;
                };
                let row = select.query_row([execution, id], |row| {
                    Ok((row.get::<_, String>("media_type")?, row.get::<_, Bytes>("data")?.0))
                });
                let pointed_at = row.optional()?.and_then(|(kind, content)| object_of(&kind, &content));
                if pointed_at.as_ref() != Some(&object) {
                    loose.push(object);
                }
            }
            Ok(loose)
        })
        .await
    }
}

#[async_trait]
impl Results for SqliteStore {
    async fn put_result(&self, row: &ResultRow) -> Result<(), Error> {
        let row = match &self.inner.shelf {
            Some(shelf) => shelf.put(row).await?.into_owned(),
            None => row.clone(),
        };
        self.write(move |connection| {
            if insert_result(connection, &row)? {
                return Ok(());
            }
            let sql = "
                SELECT 1 FROM noetl.result_store
                WHERE execution_id = ?1 AND result_id = ?2 AND name = ?3 AND sha256 = ?4";
            let values = params![row.at.execution.0, row.at.id, &*row.at.name, row.sha256];
            if connection.prepare_cached(sql)?.exists(values)? {
                Ok(())
            } else {
                Err(Error::Conflict { what: row.at.to_string() }.into())
            }
        })
        .await
    }

    async fn find_result(&self, at: &ResultRef) -> Result<Option<ResultRow>, Error> {
        let at = at.clone();
        let found = self.read(move |connection| {
            let sql = format!("{RESULT} WHERE execution_id = ?1 AND result_id = ?2 AND name = ?3");
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_row(params![at.execution.0, at.id, &*at.name], result).optional()?;
            Ok(found.map(ResultRow::verified).transpose()?)
        });
        self.whole(found.await?).await
    }

    async fn find_latest_result(
        &self,
        execution: ExecutionId,
        name: &str,
    ) -> Result<Option<ResultRow>, Error> {
        let name = name.to_owned();
        let found = self.read(move |connection| {
            let sql =
                format!("{RESULT} WHERE execution_id = ?1 AND name = ?2 ORDER BY result_id DESC LIMIT 1");
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_row(params![execution.0, name], result).optional()?;
            Ok(found.map(ResultRow::verified).transpose()?)
        });
        self.whole(found.await?).await
    }

    async fn list_results(
        &self,
        execution: ExecutionId,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<ResultInfo>, Error> {
        self.read(move |connection| {
            let values = params![execution.0, after.unwrap_or(i64::MIN), int(limit)];
            let mut statement = connection.prepare_cached(INFO)?;
            let results = statement.query_map(values, info)?;
            Ok(results.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn delete_results(&self, execution: ExecutionId) -> Result<ResultsDeletion, Error> {
        self.write(move |connection| {
            if let Some(by) = find_borrower(connection, execution)? {
                return Ok(ResultsDeletion::Needed { by });
            }
            let sql = "DELETE FROM noetl.result_store WHERE execution_id = ?1";
            let values = connection.prepare_cached(sql)?.execute([execution.0])? as u64;
            Ok(ResultsDeletion::Deleted { values })
        })
        .await
    }

    async fn collect_expired(&self, now: Timestamp, limit: usize) -> Result<Vec<ResultRef>, Error> {
        self.write(move |connection| {
            let mut expired = Vec::new();
            {
                let mut families = Families::new(connection);
                let mut statement = connection.prepare_cached(EXPIRED)?;
                let mut rows = statement.query([Iso(now)])?;
                while expired.len() < limit
                    && let Some(row) = rows.next()?
                {
                    let at = reference(row)?;
                    if !families.is_alive(at.execution)? {
                        expired.push(at);
                    }
                }
            }
            let sql = "DELETE FROM noetl.result_store WHERE execution_id = ?1 AND result_id = ?2";
            let mut delete = connection.prepare_cached(sql)?;
            for at in &expired {
                delete.execute([at.execution.0, at.id])?;
            }
            Ok(expired)
        })
        .await
    }

    async fn collect_objects(&self, before: Timestamp) -> Result<u64, Error> {
        let Some(shelf) = &self.inner.shelf else {
            return Ok(0);
        };
        let mut removed = 0;
        for page in shelf.objects().list_older(before).await?.chunks(OBJECTS_PAGE) {
            for object in self.without_a_row(page.to_vec()).await? {
                shelf.objects().delete(&object).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    #[test]
    fn values_are_found_by_their_indexes() {
        assert_plan(
            &EXPIRED.replace(", execution_id, result_id", ""),
            "result_by_expiry (expires_at>? AND expires_at<?)",
        );
        assert_plan(INFO, "(execution_id=? AND result_id>?)");
    }
}
