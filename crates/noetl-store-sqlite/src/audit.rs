//! The audit trail.

use async_trait::async_trait;
use noetl_store::{Audit, AuditFilter, AuditRow, Error};
use noetl_types::ExecutionId;
use rusqlite::{CachedStatement, Row, params};

use crate::SqliteStore;
use crate::columns::{Iso, Json, JsonRef, int};
use crate::filter::Conditions;

/// Adds an entry; one that is there already stays as it is.
pub const INSERT_AUDIT: &str = "
    INSERT INTO noetl.audit (
        audit_id, occurred_at, actor, action, target, outcome, execution_id, details
    ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT DO NOTHING";

pub fn insert_audit(statement: &mut CachedStatement<'_>, row: &AuditRow) -> rusqlite::Result<usize> {
    statement.execute(params![
        row.id,
        Iso(row.at),
        &*row.actor,
        &*row.action,
        &*row.target,
        &*row.outcome,
        row.execution.map(|execution| execution.0),
        JsonRef(&row.details),
    ])
}

fn audit(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    Ok(AuditRow {
        id: row.get("audit_id")?,
        at: row.get::<_, Iso>("occurred_at")?.0,
        actor: row.get("actor")?,
        action: row.get("action")?,
        target: row.get("target")?,
        outcome: row.get("outcome")?,
        execution: row.get::<_, Option<i64>>("execution_id")?.map(ExecutionId),
        details: row.get::<_, Json>("details")?.0,
    })
}

#[async_trait]
impl Audit for SqliteStore {
    async fn append_audit(&self, rows: &[AuditRow]) -> Result<(), Error> {
        let rows = rows.to_vec();
        self.write(move |connection| {
            let mut insert = connection.prepare_cached(INSERT_AUDIT)?;
            for row in &rows {
                insert_audit(&mut insert, row)?;
            }
            Ok(())
        })
        .await
    }

    async fn list_audit(&self, filter: &AuditFilter, limit: usize) -> Result<Vec<AuditRow>, Error> {
        let mut conditions = Conditions::default();
        conditions.add_some("audit_id < ?", filter.before);
        conditions.add_some("actor = ?", filter.actor.clone());
        conditions.add_some("action = ?", filter.action.clone());
        conditions.add_some("target = ?", filter.target.clone());
        conditions.add_some("execution_id = ?", filter.execution.map(|execution| execution.0));
        conditions.add_some("occurred_at >= ?", filter.from.map(Iso));
        conditions.add_some("occurred_at < ?", filter.until.map(Iso));
        let limit = conditions.value(int(limit));
        let sql = format!(
            "SELECT * FROM noetl.audit WHERE {} ORDER BY audit_id DESC LIMIT {limit}",
            conditions.sql()
        );
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(&*conditions.values(), audit)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}
