//! Letting go of what is over.

use async_trait::async_trait;
use noetl_store::{Error, ExecutionDeletion, Purged, Retention};
use noetl_types::{ExecutionId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use crate::SqliteStore;
use crate::columns::{Micros, Run};
use crate::commit::SNAPSHOT_TYPE;
use crate::error::Outcome;
use crate::family::{Families, find_borrower};
use crate::search;

/// Where an execution has rows of its own, beside its events, its snapshot and its record.
const OWNED: [&str; 9] = [
    "command_record",
    "timer",
    "outbox",
    "result_store",
    "transient",
    "step_log",
    "keychain",
    "projected_event",
    "execution_borrow",
];

/// Removes an execution with what it owns and says how many events it had.
fn remove(connection: &Connection, execution: ExecutionId) -> Outcome<u64> {
    for table in OWNED {
        let sql = format!("DELETE FROM noetl.{table} WHERE execution_id = ?1");
        connection.prepare_cached(&sql)?.execute([execution.0])?;
    }
    let sql = "
        DELETE FROM noetl.projection_snapshot
        WHERE tenant_id = 'default' AND organization_id = 'default' AND aggregate_type = ?1 AND aggregate_id = ?2";
    connection.prepare_cached(sql)?.execute(params![SNAPSHOT_TYPE, execution.to_string()])?;
    search::forget(connection, execution)?;
    let sql = "DELETE FROM noetl.event_record WHERE execution_id = ?1";
    let events = connection.prepare_cached(sql)?.execute([execution.0])?;
    let sql = "DELETE FROM noetl.execution_record WHERE execution_id = ?1";
    connection.prepare_cached(sql)?.execute([execution.0])?;
    Ok(events as u64)
}

/// What ended before an instant has also started before it, so that later ones need not be looked at.
const OVER: &str = "
    SELECT execution_id FROM noetl.execution_record
    WHERE started_at < ?1 AND ended_at < ?1 AND +status IN ('COMPLETED', 'FAILED', 'CANCELLED')
    ORDER BY started_at, execution_id";

/// In the order they were issued, which is nearly that of time.
const OLD_COMMANDS: &str = "
    SELECT execution_id, command_key, attempt, issued_at, closed_at
    FROM noetl.command_record INDEXED BY command_by_event ORDER BY event_id";

#[async_trait]
impl Retention for SqliteStore {
    async fn delete_execution(&self, execution: ExecutionId) -> Result<ExecutionDeletion, Error> {
        self.write(move |connection| {
            let sql = "SELECT status FROM noetl.execution_record WHERE execution_id = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let status = statement.query_row([execution.0], |row| row.get::<_, Run>(0)).optional()?;
            match status {
                None => Ok(ExecutionDeletion::NotFound),
                Some(status) if !status.0.is_terminal() => Ok(ExecutionDeletion::Running),
                Some(_) => match find_borrower(connection, execution)? {
                    Some(by) => Ok(ExecutionDeletion::Needed { by }),
                    None => Ok(ExecutionDeletion::Deleted { events: remove(connection, execution)? }),
                },
            }
        })
        .await
    }

    async fn purge_executions(&self, ended_before: Timestamp, limit: usize) -> Result<Purged, Error> {
        self.write(move |connection| {
            let mut over = Vec::new();
            {
                let mut families = Families::new(connection);
                let mut statement = connection.prepare_cached(OVER)?;
                let mut rows = statement.query([Micros(ended_before)])?;
                while over.len() < limit
                    && let Some(row) = rows.next()?
                {
                    let execution = ExecutionId(row.get(0)?);
                    if !families.is_alive(execution)? && !families.is_borrowed_from(execution)? {
                        over.push(execution);
                    }
                }
            }
            let mut purged = Purged { executions: over.len() as u64, events: 0 };
            for execution in over {
                purged.events += remove(connection, execution)?;
            }
            Ok(purged)
        })
        .await
    }

    async fn purge_commands(&self, closed_before: Timestamp, limit: usize) -> Result<u64, Error> {
        self.write(move |connection| {
            let mut over: Vec<(i64, String, i64)> = Vec::new();
            {
                let mut statement = connection.prepare_cached(OLD_COMMANDS)?;
                let mut rows = statement.query([])?;
                while over.len() < limit
                    && let Some(row) = rows.next()?
                {
                    // What comes from here on was issued later still, and so closed later.
                    if row.get::<_, Micros>(3)?.0 >= closed_before {
                        break;
                    }
                    if row.get::<_, Option<Micros>>(4)?.is_some_and(|closed| closed.0 < closed_before) {
                        over.push((row.get(0)?, row.get(1)?, row.get(2)?));
                    }
                }
            }
            let sql = "
                DELETE FROM noetl.command_record WHERE execution_id = ?1 AND command_key = ?2 AND attempt = ?3";
            let mut delete = connection.prepare_cached(sql)?;
            for (execution, key, attempt) in &over {
                delete.execute(params![execution, key, attempt])?;
            }
            Ok(over.len() as u64)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    #[test]
    fn what_is_over_is_found_in_the_order_of_an_index() {
        assert_plan(OVER, "execution_by_start (started_at<?)");
        assert_plan(OLD_COMMANDS, "command_by_event");
    }
}
