//! Commands and their leases.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_store::{Claim, CommandFilter, CommandRow, CommandStatus, Commands, Error, Lease, StoredCommand};
use noetl_types::{CommandKey, EventId, ExecutionId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Command, CommandState, Micros, int};
use crate::error::Outcome;
use crate::filter::Conditions;

const COMMAND: &str = "
    SELECT execution_id, command_key, attempt, event_id, status, lease_until, worker_id, step_name, tool_kind, pool,
        priority, issued_at, claimed_at, closed_at, body
    FROM noetl.command_record";

fn command(row: &Row<'_>) -> rusqlite::Result<StoredCommand> {
    let closed_at = row.get::<_, Option<Micros>>("closed_at")?.map(|at| at.0);
    let worker: Option<Arc<str>> = row.get("worker_id")?;
    let until = row.get::<_, Option<Micros>>("lease_until")?.map(|until| until.0);
    let lease = worker.map(|worker| Lease { worker, until: until.or(closed_at).unwrap_or_default() });
    Ok(StoredCommand {
        execution: ExecutionId(row.get("execution_id")?),
        row: CommandRow {
            key: row.get::<_, Command>("command_key")?.0,
            attempt: row.get("attempt")?,
            event: EventId(row.get("event_id")?),
            step: row.get("step_name")?,
            tool: row.get("tool_kind")?,
            pool: row.get("pool")?,
            priority: row.get("priority")?,
            issued_at: row.get::<_, Micros>("issued_at")?.0,
            lease,
            body: row.get::<_, Bytes>("body")?.0,
        },
        status: row.get::<_, CommandState>("status")?.0,
        claimed_at: row.get::<_, Option<Micros>>("claimed_at")?.map(|at| at.0),
        closed_at,
    })
}

fn find(
    connection: &Connection,
    execution: ExecutionId,
    key: CommandKey,
    attempt: u16,
) -> Outcome<Option<StoredCommand>> {
    let sql = format!("{COMMAND} WHERE execution_id = ?1 AND command_key = ?2 AND attempt = ?3");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row(params![execution.0, key.to_string(), attempt], command).optional()?)
}

fn list(connection: &Connection, sql: &str, values: &[&dyn ToSql]) -> Outcome<Vec<StoredCommand>> {
    let mut statement = connection.prepare_cached(sql)?;
    let commands = statement.query_map(values, command)?.collect::<rusqlite::Result<_>>()?;
    Ok(commands)
}

/// What a claim would come to. A command that can be had is given with the lease in it.
fn consider(found: Option<StoredCommand>, lease: &Lease, now: Timestamp) -> Claim {
    let Some(mut command) = found else {
        return Claim::NotFound;
    };
    if !command.status.is_open() {
        return Claim::Closed(command.status);
    }
    match &command.row.lease {
        Some(held) if held.worker != lease.worker && held.until > now => {
            return Claim::Held { holder: held.worker.clone(), until: held.until };
        }
        Some(held) if held.worker == lease.worker => {}
        _ => command.claimed_at = Some(now),
    }
    command.status = CommandStatus::Claimed;
    command.row.lease = Some(lease.clone());
    Claim::Taken(Box::new(command))
}

fn open_commands(filter: &CommandFilter, limit: usize) -> (Conditions, String) {
    let mut conditions = Conditions::default();
    match filter.execution {
        Some(execution) => {
            conditions.add_plain("+lease_until IS NOT NULL");
            conditions.add("execution_id = ?", execution.0);
        }
        // Spelled as the index of open commands has it.
        None => conditions.add_plain("lease_until IS NOT NULL"),
    }
    conditions.add_some("lease_until <= ?", filter.free_at.map(Micros));
    conditions.add_some("pool = ?", filter.pool.clone());
    conditions.add_some("worker_id = ?", filter.held_by.clone());
    if let Some((event, execution)) = filter.after {
        // The sign keeps out the index that has closed commands too.
        conditions.add_pair("(+event_id, execution_id) > (?a, ?b)", event.0, execution.0);
    }
    let limit = conditions.value(int(limit));
    let sql = format!("{COMMAND} WHERE {} ORDER BY +event_id, execution_id LIMIT {limit}", conditions.sql());
    (conditions, sql)
}

/// Claimed attempts whose lease has run out.
const EXPIRED_LEASES: &str = "lease_until > 0 AND lease_until <= ?1 ORDER BY lease_until LIMIT ?2";

#[async_trait]
impl Commands for SqliteStore {
    async fn list_open_commands(
        &self,
        filter: &CommandFilter,
        limit: usize,
    ) -> Result<Vec<StoredCommand>, Error> {
        let (conditions, sql) = open_commands(filter, limit);
        self.read(move |connection| list(connection, &sql, &conditions.values())).await
    }

    async fn find_command(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
    ) -> Result<Option<StoredCommand>, Error> {
        self.read(move |connection| find(connection, execution, key, attempt)).await
    }

    async fn find_command_by_event(&self, event: EventId) -> Result<Option<StoredCommand>, Error> {
        self.read(move |connection| {
            let mut statement =
                connection.prepare_cached(&format!("{COMMAND} WHERE event_id = ?1 LIMIT 1"))?;
            Ok(statement.query_row([event.0], command).optional()?)
        })
        .await
    }

    async fn claim_command(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
        lease: Lease,
        now: Timestamp,
    ) -> Result<Claim, Error> {
        // A claim that a power failure undoes is given out again, as after a lease that ran out.
        self.write_relaxed(move |connection| {
            let claim = consider(find(connection, execution, key, attempt)?, &lease, now);
            if let Claim::Taken(command) = &claim {
                let sql = "
                    UPDATE noetl.command_record
                    SET status = ?4, worker_id = ?5, lease_until = ?6, claimed_at = ?7
                    WHERE execution_id = ?1 AND command_key = ?2 AND attempt = ?3";
                connection.prepare_cached(sql)?.execute(params![
                    execution.0,
                    key.to_string(),
                    attempt,
                    command.status.as_str(),
                    &*lease.worker,
                    Micros(lease.until),
                    command.claimed_at.map(Micros),
                ])?;
            }
            Ok(claim)
        })
        .await
    }

    async fn release_command(
        &self,
        execution: ExecutionId,
        key: CommandKey,
        attempt: u16,
        worker: &str,
    ) -> Result<bool, Error> {
        let worker = worker.to_owned();
        self.write_relaxed(move |connection| {
            let sql = "
                UPDATE noetl.command_record
                SET status = 'PENDING', worker_id = NULL, lease_until = 0, claimed_at = NULL
                WHERE execution_id = ?1 AND command_key = ?2 AND attempt = ?3
                    AND status = 'CLAIMED' AND worker_id = ?4";
            let values = params![execution.0, key.to_string(), attempt, worker];
            Ok(connection.prepare_cached(sql)?.execute(values)? > 0)
        })
        .await
    }

    async fn renew_leases(&self, worker: &str, until: Timestamp) -> Result<u64, Error> {
        let worker = worker.to_owned();
        self.write_relaxed(move |connection| {
            let sql = "
                UPDATE noetl.command_record SET lease_until = max(lease_until, ?2)
                WHERE lease_until > 0 AND worker_id = ?1";
            Ok(connection.prepare_cached(sql)?.execute(params![worker, Micros(until)])? as u64)
        })
        .await
    }

    async fn list_expired_leases(&self, now: Timestamp, limit: usize) -> Result<Vec<StoredCommand>, Error> {
        self.read(move |connection| {
            let sql = format!("{COMMAND} WHERE {EXPIRED_LEASES}");
            list(connection, &sql, params![Micros(now), int(limit)])
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    #[test]
    fn closed_commands_are_not_looked_at() {
        let after = CommandFilter { after: Some((EventId(1), ExecutionId(1))), ..Default::default() };
        let free = CommandFilter { free_at: Some(Timestamp(1)), ..Default::default() };
        for filter in [CommandFilter::default(), after, free] {
            assert_plan(
                &open_commands(&filter, 10).1.replace("ORDER BY +event_id, execution_id", ""),
                "command_by_lease",
            );
        }
        assert_plan(&format!("{COMMAND} WHERE {EXPIRED_LEASES}"), "command_by_lease");
    }

    #[test]
    fn commands_are_found_by_their_indexes() {
        assert_plan(&format!("{COMMAND} WHERE event_id = ?1 LIMIT 1"), "command_by_event");
        let one = CommandFilter { execution: Some(ExecutionId(1)), ..Default::default() };
        assert_plan(
            &open_commands(&one, 10).1.replace("ORDER BY +event_id, execution_id", ""),
            "USING PRIMARY KEY",
        );
    }
}
