//! Values stored aside.

use async_trait::async_trait;
use noetl_store::{Error, ResultInfo, ResultRef, ResultRow, Results};
use noetl_types::{ExecutionId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Content, Iso, int};
use crate::error::Outcome;
use crate::family::Families;

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

const INFO: &str = "
    SELECT result_id, execution_id, name, scope, source_step, bytes, sha256, media_type, created_at, expires_at
    FROM noetl.result_store WHERE execution_id = ?1 AND result_id > ?2 ORDER BY result_id LIMIT ?3";

fn info(row: &Row<'_>) -> rusqlite::Result<ResultInfo> {
    Ok(ResultInfo {
        at: reference(row)?,
        scope: row.get("scope")?,
        source_step: row.get("source_step")?,
        size: row.get::<_, i64>("bytes")? as u64,
        sha256: row.get("sha256")?,
        media_type: row.get("media_type")?,
        created_at: row.get::<_, Iso>("created_at")?.0,
        expires_at: row.get::<_, Option<Iso>>("expires_at")?.map(|at| at.0),
    })
}

#[async_trait]
impl Results for SqliteStore {
    async fn put_result(&self, row: &ResultRow) -> Result<(), Error> {
        let row = row.clone();
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
        self.read(move |connection| {
            let sql = format!("{RESULT} WHERE execution_id = ?1 AND result_id = ?2 AND name = ?3");
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_row(params![at.execution.0, at.id, &*at.name], result).optional()?;
            Ok(found.map(ResultRow::verified).transpose()?)
        })
        .await
    }

    async fn find_latest_result(
        &self,
        execution: ExecutionId,
        name: &str,
    ) -> Result<Option<ResultRow>, Error> {
        let name = name.to_owned();
        self.read(move |connection| {
            let sql =
                format!("{RESULT} WHERE execution_id = ?1 AND name = ?2 ORDER BY result_id DESC LIMIT 1");
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_row(params![execution.0, name], result).optional()?;
            Ok(found.map(ResultRow::verified).transpose()?)
        })
        .await
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
