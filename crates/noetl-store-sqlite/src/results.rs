//! Values stored aside.

use async_trait::async_trait;
use noetl_store::{Error, ResultRef, ResultRow, Results};
use noetl_types::{ExecutionId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Content, Iso, int};
use crate::error::Outcome;

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

/// Expired values whose execution has ended, and all its ancestors too.
const EXPIRED: &str = "
    SELECT result_id, execution_id, name FROM noetl.result_store AS result
    WHERE expires_at IS NOT NULL AND expires_at <= ?1 AND NOT EXISTS (
        WITH RECURSIVE line (execution_id, status, parent_execution_id) AS (
            SELECT execution_id, status, parent_execution_id FROM noetl.execution_record
            WHERE execution_id = result.execution_id
            UNION
            SELECT parent.execution_id, parent.status, parent.parent_execution_id
            FROM noetl.execution_record AS parent
            JOIN line ON parent.execution_id = line.parent_execution_id
        )
        SELECT 1 FROM line WHERE status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')
    )
    ORDER BY expires_at, execution_id, result_id LIMIT ?2";

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

    async fn collect_expired(&self, now: Timestamp, limit: usize) -> Result<Vec<ResultRef>, Error> {
        self.write(move |connection| {
            let mut select = connection.prepare_cached(EXPIRED)?;
            let expired = select.query_map(params![Iso(now), int(limit)], reference)?;
            let expired: Vec<ResultRef> = expired.collect::<rusqlite::Result<_>>()?;
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

    #[test]
    fn expired_values_are_found_by_their_index() {
        crate::plan::assert_plan(
            &EXPIRED.replace("ORDER BY expires_at, execution_id, result_id", ""),
            "result_by_expiry",
        );
    }
}
