//! Step logs.

use async_trait::async_trait;
use noetl_store::{Error, LogChunk, LogCursor, LogFilter, LogLimit, StepLogs, StoredLogChunk};
use noetl_types::ExecutionId;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Bytes, Command, Micros, Stream, int};
use crate::error::Outcome;
use crate::filter::Conditions;

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredLogChunk> {
    Ok(StoredLogChunk {
        cursor: LogCursor(row.get("log_id")?),
        offset: row.get::<_, i64>("byte_offset")? as u64,
        dropped: row.get::<_, i64>("dropped")? as u64,
        chunk: LogChunk {
            execution: ExecutionId(row.get("execution_id")?),
            step: row.get("step_name")?,
            command: row.get::<_, Command>("command_key")?.0,
            attempt: row.get("attempt")?,
            stream: row.get::<_, Stream>("stream")?.0,
            chunk: row.get("chunk")?,
            at: row.get::<_, Micros>("at")?.0,
            bytes: row.get::<_, Bytes>("bytes")?.0,
        },
    })
}

/// The number of the newest chunk of a stream, and where it ends.
const NEWEST: &str = "
    SELECT chunk, byte_offset + length(bytes) FROM noetl.step_log
    WHERE execution_id = ?1 AND command_key = ?2 AND attempt = ?3 AND stream = ?4
    ORDER BY chunk DESC LIMIT 1";

const INSERT: &str = "
    INSERT INTO noetl.step_log (
        execution_id, step_name, visit, command_key, attempt, stream, chunk, byte_offset, dropped, at, bytes
    ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

fn append(connection: &Connection, chunk: &LogChunk, limit: LogLimit) -> Outcome<()> {
    let key = chunk.command.to_string();
    let stream = params![chunk.execution.0, key, chunk.attempt, chunk.stream.as_str()];
    let newest: Option<(u32, i64)> = connection
        .prepare_cached(NEWEST)?
        .query_row(stream, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if newest.is_some_and(|(number, _)| chunk.chunk <= number) {
        return Ok(());
    }
    let offset = newest.map_or(0, |(_, end)| end as u64);
    let room = usize::try_from(limit.bytes_per_stream.saturating_sub(offset)).unwrap_or(usize::MAX);
    let (kept, dropped) = chunk.bytes.split_at(chunk.bytes.len().min(room));
    connection.prepare_cached(INSERT)?.execute(params![
        chunk.execution.0,
        &*chunk.step,
        chunk.command.visit.0,
        key,
        chunk.attempt,
        chunk.stream.as_str(),
        chunk.chunk,
        int(offset),
        int(dropped.len()),
        Micros(chunk.at),
        kept,
    ])?;
    Ok(())
}

#[async_trait]
impl StepLogs for SqliteStore {
    async fn append_logs(&self, chunks: &[LogChunk], limit: LogLimit) -> Result<(), Error> {
        let chunks = chunks.to_vec();
        self.write_relaxed(move |connection| {
            chunks.iter().try_for_each(|chunk| append(connection, chunk, limit))
        })
        .await
    }

    async fn list_logs(
        &self,
        execution: ExecutionId,
        filter: &LogFilter,
        limit: usize,
    ) -> Result<Vec<StoredLogChunk>, Error> {
        let mut conditions = Conditions::default();
        conditions.add("execution_id = ?", execution.0);
        conditions.add("log_id > ?", filter.after.0);
        conditions.add_some("step_name = ?", filter.step.clone());
        conditions.add_some("visit = ?", filter.visit.map(|visit| visit.0));
        conditions.add_some("command_key = ?", filter.command.map(|command| command.to_string()));
        conditions.add_some("attempt = ?", filter.attempt);
        conditions.add_some("stream = ?", filter.stream.map(|stream| stream.as_str()));
        if filter.from_offset > 0 {
            conditions.add("byte_offset + length(bytes) > ?", int(filter.from_offset));
        }
        let limit = conditions.value(int(limit));
        let sql =
            format!("SELECT * FROM noetl.step_log WHERE {} ORDER BY log_id LIMIT {limit}", conditions.sql());
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let chunks = statement.query_map(&*conditions.values(), stored)?;
            Ok(chunks.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn delete_logs(&self, execution: ExecutionId) -> Result<u64, Error> {
        self.write(move |connection| {
            let mut delete =
                connection.prepare_cached("DELETE FROM noetl.step_log WHERE execution_id = ?1")?;
            Ok(delete.execute([execution.0])? as u64)
        })
        .await
    }
}
