//! Committing a batch: encoded by the caller, so that the writing thread only writes.

use std::collections::HashMap;
use std::ops::Range;

use noetl_store::{
    AuditRow, Batch, CommandClose, CommandRow, CommandStatus, Committed, Duplicate, Error, ExecutionRow,
    ExecutionWrite, LastEvent, LoopResult, OutboxRow, Reservation, ResultRow, Snapshot, TimerRow, sha256_hex,
};
use noetl_types::{ExecutionId, Timestamp};
use rusqlite::{CachedStatement, Connection, ToSql, params};

use crate::audit::{INSERT_AUDIT, insert_audit};
use crate::columns::{Content, Iso, JsonRef, Micros, int};
use crate::error::{Fault, Outcome};
use crate::reservations::{reserve, reserved_by};
use crate::results::insert_result;
use crate::search::{self, Text};

/// What snapshots are called in `noetl.projection_snapshot`.
pub const SNAPSHOT_TYPE: &str = "orchestrator_workflow_state";

/// A batch as it will be written.
pub struct Encoded {
    writes: Vec<Write>,
    /// The bodies of all events, one after the other.
    bodies: Vec<u8>,
    /// Executions with an event that is already recorded. They are left out from the beginning in the next run.
    repeated: Vec<ExecutionId>,
}

struct Write {
    execution: ExecutionId,
    expected_seq: u64,
    last_seq: u64,
    row: ExecutionRow,
    labels: Option<String>,
    last: Option<LastEvent>,
    events: Vec<EncodedEvent>,
    issue: Vec<Issue>,
    close: Vec<(String, CommandClose)>,
    start_timers: Vec<(String, TimerRow)>,
    cancel_timers: Vec<String>,
    outbox: Vec<OutboxRow>,
    snapshot: Option<(String, Snapshot)>,
    results: Vec<ResultRow>,
    reserve: Option<Reservation>,
    borrows_from: Vec<ExecutionId>,
    audit: Option<AuditRow>,
    /// What the execution is found by from now on.
    texts: Vec<Text>,
}

struct Issue {
    key: String,
    row: CommandRow,
    /// How it ended, when it ended in the same commit.
    closed: Option<CommandClose>,
}

struct EncodedEvent {
    id: i64,
    seq: i64,
    at: Timestamp,
    loop_place: Option<(u32, u32)>,
    body: Range<usize>,
}

impl Encoded {
    pub fn new(batch: &Batch) -> Result<Encoded, Error> {
        let mut bodies = Vec::with_capacity(256 * batch.executions.len());
        let mut writes = Vec::with_capacity(batch.executions.len());
        for write in &batch.executions {
            let mut events = Vec::with_capacity(write.events.len());
            for event in &write.events {
                let start = bodies.len();
                serde_json::to_writer(&mut bodies, &event.body).map_err(|error| {
                    Error::invalid(format!("event {} cannot be written: {error}", event.id))
                })?;
                events.push(EncodedEvent {
                    id: event.id.0,
                    seq: int(event.seq),
                    at: event.at,
                    loop_place: LoopResult::place(&event.body).map(|(visit, index)| (visit.0, index)),
                    body: start..bodies.len(),
                });
            }
            let (issue, close) = attempts(write);
            let labels = &write.row.labels;
            writes.push(Write {
                execution: write.execution,
                expected_seq: write.expected_seq,
                last_seq: write.last_seq(),
                row: write.row.clone(),
                labels: (!labels.is_empty())
                    .then(|| serde_json::to_string(labels).expect("a map of text is always valid JSON")),
                last: LastEvent::after(&write.events, None),
                events,
                issue,
                close,
                start_timers: write
                    .start_timers
                    .iter()
                    .map(|timer| (timer.key.to_string(), *timer))
                    .collect(),
                cancel_timers: write.cancel_timers.iter().map(ToString::to_string).collect(),
                outbox: write.outbox.clone(),
                snapshot: write.snapshot.clone().map(|snapshot| (sha256_hex(&snapshot.state), snapshot)),
                results: write.results.clone(),
                reserve: write.reserve.clone(),
                borrows_from: write.borrows_from.clone(),
                audit: write.audit.clone(),
                texts: texts(write),
            });
        }
        Ok(Encoded { writes, bodies, repeated: Vec::new() })
    }

    /// Writes the batch inside a transaction of the caller. Each statement goes over all executions before the next one
    /// begins, so that it is looked up once.
    pub fn apply(&mut self, connection: &Connection) -> Outcome<Committed> {
        let mut committed = Committed::default();
        let mut kept = Vec::with_capacity(self.writes.len());
        {
            let mut rows = ExecutionStatements::new(connection)?;
            for write in &self.writes {
                if self.repeated.contains(&write.execution) {
                    committed.lost.push(write.execution);
                } else if let Some(duplicate) = duplicate(connection, write)? {
                    committed.duplicates.push(duplicate);
                } else if rows.write(write)? {
                    take_key(connection, write)?;
                    kept.push(write);
                } else {
                    committed.lost.push(write.execution);
                }
            }
        }
        if let Err((execution, fault)) = insert_events(connection, &kept, &self.bodies) {
            return Err(match execution {
                Some(execution) if fault.is_constraint_violation() => {
                    self.repeated.push(execution);
                    Fault::Again
                }
                _ => fault,
            });
        }
        for_each(connection, INSERT_COMMAND, &kept, |write| &write.issue, insert_command)?;
        for_each(connection, CLOSE_COMMAND, &kept, |write| &write.close, close_command)?;
        for_each(
            connection,
            DELETE_TIMER,
            &kept,
            |write| &write.cancel_timers,
            |statement, write, key| statement.execute(params![write.execution.0, key]),
        )?;
        for_each(
            connection,
            INSERT_TIMER,
            &kept,
            |write| &write.start_timers,
            |statement, write, (key, timer)| {
                statement.execute(params![write.execution.0, key, Micros(timer.due)])
            },
        )?;
        for_each(
            connection,
            INSERT_BORROW,
            &kept,
            |write| &write.borrows_from,
            |statement, write, lender| statement.execute([write.execution.0, lender.0]),
        )?;
        for_each(
            connection,
            INSERT_AUDIT,
            &kept,
            |write| &write.audit,
            |statement, _, row| insert_audit(statement, row),
        )?;
        for_each(connection, INSERT_MESSAGE, &kept, |write| &write.outbox, insert_message)?;
        for_each(connection, UPSERT_SNAPSHOT, &kept, |write| &write.snapshot, upsert_snapshot)?;
        let texts = kept.iter().flat_map(|write| write.texts.iter().map(|text| (write.execution, text)));
        search::note(connection, texts)?;
        for write in kept {
            for result in &write.results {
                insert_result(connection, result)?;
            }
        }
        Ok(committed)
    }
}

/// What a write adds to the texts that its execution is found by: path and labels when it begins, the error when it ends.
fn texts(write: &ExecutionWrite) -> Vec<Text> {
    let mut texts = Vec::new();
    if write.expected_seq == 0 {
        texts.push(Text::path(&write.row.path));
        texts.extend(write.row.labels.iter().map(|(key, value)| Text::label(key, value)));
    }
    if write.row.status.is_terminal() {
        texts.extend(write.row.error.as_deref().map(Text::error));
    }
    texts
}

/// Whether another execution has the key of one that would begin. An execution that exists is no duplicate of itself.
fn duplicate(connection: &Connection, write: &Write) -> rusqlite::Result<Option<Duplicate>> {
    let Some(wanted) = &write.reserve else {
        return Ok(None);
    };
    let holder = reserved_by(connection, wanted.scope, &wanted.key, wanted.seen_at)?;
    let other = holder.filter(|holder| *holder != write.execution);
    Ok(other.map(|original| Duplicate { execution: write.execution, original }))
}

fn take_key(connection: &Connection, write: &Write) -> rusqlite::Result<()> {
    write.reserve.as_ref().map_or(Ok(()), |wanted| reserve(connection, wanted, write.execution))
}

/// Runs one statement for the rows that the writes have of one kind, if they have any.
fn for_each<'a, Rows, Row: 'a>(
    connection: &Connection,
    sql: &str,
    writes: &[&'a Write],
    rows: impl Fn(&'a Write) -> &'a Rows,
    mut execute: impl FnMut(&mut CachedStatement<'_>, &Write, &'a Row) -> rusqlite::Result<usize>,
) -> Outcome<()>
where
    Rows: 'a,
    &'a Rows: IntoIterator<Item = &'a Row>,
{
    let mut statement = None;
    for write in writes {
        for row in rows(write) {
            let statement = match &mut statement {
                Some(statement) => statement,
                None => statement.insert(connection.prepare_cached(sql)?),
            };
            execute(statement, write, row)?;
        }
    }
    Ok(())
}

const INSERT_EXECUTION: &str = "
    INSERT INTO noetl.execution_record (
        execution_id, seq, status, catalog_id, version, path, parent_execution_id, started_at, ended_at,
        last_event_id, last_event_at, last_event_type, last_node_name, labels, meta, error, result, pool
    ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
    ON CONFLICT DO NOTHING";

/// Goes on with an execution whose status stays. Leaves the index on statuses alone, unlike the statement below, for
/// which SQLite rewrites the entry even when the value is the same.
const CONTINUE_EXECUTION: &str = "
    UPDATE noetl.execution_record SET
        seq = ?3, ended_at = ?5, meta = ?6, error = ?7, result = ?8,
        last_event_id = coalesce(?9, last_event_id), last_event_at = coalesce(?10, last_event_at),
        last_event_type = coalesce(?11, last_event_type), last_node_name = coalesce(?12, last_node_name)
    WHERE execution_id = ?1 AND seq = ?2 AND status = ?4";

const CHANGE_EXECUTION: &str = "
    UPDATE noetl.execution_record SET
        seq = ?3, status = ?4, ended_at = ?5, meta = ?6, error = ?7, result = ?8,
        last_event_id = coalesce(?9, last_event_id), last_event_at = coalesce(?10, last_event_at),
        last_event_type = coalesce(?11, last_event_type), last_node_name = coalesce(?12, last_node_name)
    WHERE execution_id = ?1 AND seq = ?2";

/// The statements that write the rows of executions.
struct ExecutionStatements<'a> {
    insert: CachedStatement<'a>,
    same: CachedStatement<'a>,
    change: CachedStatement<'a>,
}

impl<'a> ExecutionStatements<'a> {
    fn new(connection: &'a Connection) -> rusqlite::Result<ExecutionStatements<'a>> {
        Ok(ExecutionStatements {
            insert: connection.prepare_cached(INSERT_EXECUTION)?,
            same: connection.prepare_cached(CONTINUE_EXECUTION)?,
            change: connection.prepare_cached(CHANGE_EXECUTION)?,
        })
    }

    /// Writes a row. False when the execution is not where the writer thinks.
    fn write(&mut self, write: &Write) -> rusqlite::Result<bool> {
        let changed = if write.expected_seq == 0 {
            self.insert(write)?
        } else if write.row.status.is_terminal() {
            self.update(write, false)?
        } else {
            match self.update(write, true)? {
                0 => self.update(write, false)?,
                changed => changed,
            }
        };
        Ok(changed > 0)
    }

    fn insert(&mut self, write: &Write) -> rusqlite::Result<usize> {
        let row = &write.row;
        let last = write.last.as_ref();
        self.insert.execute(params![
            write.execution.0,
            int(write.last_seq),
            row.status.as_str(),
            row.catalog_id,
            row.version,
            &*row.path,
            row.parent.map(|parent| parent.0),
            Micros(row.started_at),
            row.ended_at.map(Micros),
            last.map(|last| last.id.0),
            last.map(|last| Micros(last.at)),
            last.map(|last| &*last.event_type),
            last.and_then(|last| last.step.as_deref()),
            write.labels,
            JsonRef(&row.meta),
            row.error,
            row.result.as_ref().map(ToString::to_string),
            &*row.pool,
        ])
    }

    fn update(&mut self, write: &Write, same_status: bool) -> rusqlite::Result<usize> {
        let statement = if same_status { &mut self.same } else { &mut self.change };
        let row = &write.row;
        let last = write.last.as_ref();
        statement.execute(params![
            write.execution.0,
            int(write.expected_seq),
            int(write.last_seq),
            row.status.as_str(),
            row.ended_at.map(Micros),
            JsonRef(&row.meta),
            row.error,
            row.result.as_ref().map(ToString::to_string),
            last.map(|last| last.id.0),
            last.map(|last| Micros(last.at)),
            last.map(|last| &*last.event_type),
            last.and_then(|last| last.step.as_deref()),
        ])
    }
}

const INSERT_EVENT: &str = "
    INSERT INTO noetl.event_record (execution_id, seq, event_id, at, loop_visit, loop_index, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// On failure says whose event it was, if it was one's.
fn insert_events(
    connection: &Connection,
    writes: &[&Write],
    bodies: &[u8],
) -> Result<(), (Option<ExecutionId>, Fault)> {
    let mut statement = connection.prepare_cached(INSERT_EVENT).map_err(|error| (None, error.into()))?;
    for write in writes {
        for event in &write.events {
            let row = params![
                write.execution.0,
                event.seq,
                event.id,
                Micros(event.at),
                event.loop_place.map(|(visit, _)| visit),
                event.loop_place.map(|(_, index)| index),
                Utf8(&bodies[event.body.clone()]),
            ];
            statement.execute(row).map_err(|error| (Some(write.execution), error.into()))?;
        }
    }
    Ok(())
}

/// Bytes that are known to be UTF-8, for they were written as JSON.
struct Utf8<'a>(&'a [u8]);

impl ToSql for Utf8<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(rusqlite::types::ValueRef::Text(self.0)))
    }
}

/// The attempts that begin, and the ends of those that began before.
fn attempts(write: &ExecutionWrite) -> (Vec<Issue>, Vec<(String, CommandClose)>) {
    let issue = |row: &CommandRow| Issue { key: row.key.to_string(), row: row.clone(), closed: None };
    let mut issue: Vec<Issue> = write.issue.iter().map(issue).collect();
    let mut places = HashMap::new();
    if !write.close.is_empty() {
        places.extend(write.issue.iter().enumerate().map(|(at, row)| ((row.key, row.attempt), at)));
    }
    let mut close = Vec::new();
    for end in &write.close {
        match places.remove(&(end.key, end.attempt)) {
            Some(at) => issue[at].closed = Some(end.clone()),
            None => close.push((end.key.to_string(), end.clone())),
        }
    }
    (issue, close)
}

const INSERT_COMMAND: &str = "
    INSERT OR REPLACE INTO noetl.command_record (
        execution_id, command_key, attempt, event_id, status, lease_until, worker_id, step_name, tool_kind, pool,
        priority, issued_at, claimed_at, closed_at, body
    ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

fn insert_command(
    statement: &mut CachedStatement<'_>,
    write: &Write,
    Issue { key, row, closed }: &Issue,
) -> rusqlite::Result<usize> {
    let lease = row.lease.as_ref();
    let open = if lease.is_some() { CommandStatus::Claimed } else { CommandStatus::Pending };
    let until = lease.map_or(Timestamp(0), |lease| lease.until);
    statement.execute(params![
        write.execution.0,
        key,
        row.attempt,
        row.event.0,
        closed.as_ref().map_or(open, |closed| closed.status).as_str(),
        closed.is_none().then_some(Micros(until)),
        lease.map(|lease| &*lease.worker),
        &*row.step,
        &*row.tool,
        &*row.pool,
        row.priority,
        Micros(row.issued_at),
        lease.map(|_| Micros(row.issued_at)),
        closed.as_ref().map(|closed| Micros(closed.at)),
        closed.is_none().then_some(Content(&row.body)),
    ])
}

const CLOSE_COMMAND: &str = "
    UPDATE noetl.command_record SET status = ?4, closed_at = ?5, lease_until = NULL, body = NULL
    WHERE execution_id = ?1 AND command_key = ?2 AND attempt = ?3 AND lease_until IS NOT NULL";

fn close_command(
    statement: &mut CachedStatement<'_>,
    write: &Write,
    (key, close): &(String, CommandClose),
) -> rusqlite::Result<usize> {
    statement.execute(params![write.execution.0, key, close.attempt, close.status.as_str(), Micros(close.at)])
}

const DELETE_TIMER: &str = "DELETE FROM noetl.timer WHERE execution_id = ?1 AND timer_key = ?2";

const INSERT_TIMER: &str = "
    INSERT OR REPLACE INTO noetl.timer (execution_id, timer_key, due_at, visible_at) VALUES (?1, ?2, ?3, ?3)";

const INSERT_BORROW: &str = "
    INSERT INTO noetl.execution_borrow (execution_id, lender_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";

const INSERT_MESSAGE: &str = "
    INSERT INTO noetl.outbox (execution_id, event_id, subject, payload, available_at, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
    ON CONFLICT DO NOTHING";

fn insert_message(
    statement: &mut CachedStatement<'_>,
    write: &Write,
    row: &OutboxRow,
) -> rusqlite::Result<usize> {
    let now = write.last.as_ref().map_or(row.available_at, |last| last.at);
    statement.execute(params![
        write.execution.0,
        row.event.0,
        &*row.subject,
        row.payload.to_string(),
        Iso(row.available_at),
        Iso(now),
    ])
}

const UPSERT_SNAPSHOT: &str = "
    INSERT INTO noetl.projection_snapshot (
        aggregate_id, aggregate_type, version, snapshot, checksum, meta, created_at, updated_at
    ) VALUES (?1, ?2, ?3, ?4, ?5, json_object('applied_count', ?6), ?7, ?7)
    ON CONFLICT (tenant_id, organization_id, aggregate_type, aggregate_id) DO UPDATE SET
        version = excluded.version, snapshot = excluded.snapshot, checksum = excluded.checksum,
        meta = excluded.meta, updated_at = excluded.updated_at";

fn upsert_snapshot(
    statement: &mut CachedStatement<'_>,
    write: &Write,
    (checksum, snapshot): &(String, Snapshot),
) -> rusqlite::Result<usize> {
    let now = write.last.as_ref().map_or(write.row.started_at, |last| last.at);
    statement.execute(params![
        write.execution.to_string(),
        SNAPSHOT_TYPE,
        snapshot.last_event.0,
        Content(&snapshot.state),
        checksum,
        int(snapshot.seq),
        Iso(now),
    ])
}
