//! What is kept beside runs: step logs, the audit trail, variables.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use super::MemoryStore;
use super::state::State;
use crate::{
    Audit, AuditFilter, AuditRow, Error, LogChunk, LogCursor, LogFilter, LogLimit, NewVariable, StepLogs,
    StoredLogChunk, Variable, Variables,
};

impl State {
    fn append_log(&mut self, chunk: &LogChunk, limit: LogLimit) {
        let place = (chunk.execution, chunk.command, chunk.attempt, chunk.stream);
        let stream = self.log_streams.entry(place).or_default();
        if chunk.chunk < stream.next_chunk {
            return;
        }
        let room = limit.bytes_per_stream.saturating_sub(stream.bytes);
        let kept = (chunk.bytes.len() as u64).min(room);
        let offset = stream.bytes;
        stream.next_chunk = chunk.chunk + 1;
        stream.bytes += kept;
        self.last_log += 1;
        let cursor = LogCursor(self.last_log);
        let stored = StoredLogChunk {
            cursor,
            offset,
            dropped: chunk.bytes.len() as u64 - kept,
            chunk: LogChunk { bytes: chunk.bytes[..kept as usize].into(), ..chunk.clone() },
        };
        self.logs.insert((chunk.execution, cursor), Arc::new(stored));
    }
}

fn matches(filter: &LogFilter, stored: &StoredLogChunk) -> bool {
    let chunk = &stored.chunk;
    filter.step.as_ref().is_none_or(|step| *chunk.step == **step)
        && filter.visit.is_none_or(|visit| chunk.command.visit == visit)
        && filter.command.is_none_or(|command| chunk.command == command)
        && filter.attempt.is_none_or(|attempt| chunk.attempt == attempt)
        && filter.stream.is_none_or(|stream| chunk.stream == stream)
        && (filter.from_offset == 0 || stored.offset + chunk.bytes.len() as u64 > filter.from_offset)
}

#[async_trait]
impl StepLogs for MemoryStore {
    async fn append_logs(&self, chunks: &[LogChunk], limit: LogLimit) -> Result<(), Error> {
        self.with(|state| chunks.iter().for_each(|chunk| state.append_log(chunk, limit)))
    }

    async fn list_logs(
        &self,
        execution: ExecutionId,
        filter: &LogFilter,
        limit: usize,
    ) -> Result<Vec<StoredLogChunk>, Error> {
        let range =
            (Bound::Excluded((execution, filter.after)), Bound::Included((execution, LogCursor(i64::MAX))));
        self.with(|state| {
            let chunks = state.logs.range(range).map(|(_, stored)| stored);
            chunks
                .filter(|stored| matches(filter, stored))
                .take(limit)
                .map(|stored| (**stored).clone())
                .collect()
        })
    }

    async fn delete_logs(&self, execution: ExecutionId) -> Result<u64, Error> {
        self.with(|state| {
            let all = state.logs.len();
            state.logs.retain(|(owner, _), _| *owner != execution);
            state.log_streams.retain(|(owner, ..), _| *owner != execution);
            (all - state.logs.len()) as u64
        })
    }
}

#[async_trait]
impl Audit for MemoryStore {
    async fn append_audit(&self, rows: &[AuditRow]) -> Result<(), Error> {
        self.with(|state| {
            for row in rows {
                state.audit.entry(row.id).or_insert_with(|| Arc::new(row.clone()));
            }
        })
    }

    async fn list_audit(&self, filter: &AuditFilter, limit: usize) -> Result<Vec<AuditRow>, Error> {
        let end = filter.before.map_or(Bound::Unbounded, Bound::Excluded);
        self.with(|state| {
            let newest_first = state.audit.range((Bound::Unbounded, end)).rev().map(|(_, row)| row);
            let matching = newest_first.filter(|row| {
                filter.actor.as_ref().is_none_or(|actor| *row.actor == **actor)
                    && filter.action.as_ref().is_none_or(|action| *row.action == **action)
                    && filter.target.as_ref().is_none_or(|target| *row.target == **target)
                    && filter.execution.is_none_or(|execution| row.execution == Some(execution))
                    && filter.from.is_none_or(|from| row.at >= from)
                    && filter.until.is_none_or(|until| row.at < until)
            });
            matching.take(limit).map(|row| (**row).clone()).collect()
        })
    }
}

#[async_trait]
impl Variables for MemoryStore {
    async fn set_variables(
        &self,
        execution: ExecutionId,
        variables: &[NewVariable],
        now: Timestamp,
    ) -> Result<(), Error> {
        self.with(|state| {
            for variable in variables {
                state
                    .variables
                    .entry((execution, variable.name.clone()))
                    .and_modify(|known| known.variable = variable.clone())
                    .or_insert_with(|| Variable {
                        variable: variable.clone(),
                        created_at: now,
                        accessed_at: None,
                        access_count: 0,
                    });
            }
        })
    }

    async fn read_variable(
        &self,
        execution: ExecutionId,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Variable>, Error> {
        self.with(|state| {
            let variable = state.variables.get_mut(&(execution, Arc::from(name)))?;
            variable.access_count += 1;
            variable.accessed_at = Some(now);
            Some(variable.clone())
        })
    }

    async fn list_variables(&self, execution: ExecutionId) -> Result<Vec<Variable>, Error> {
        self.with(|state| {
            let all = state.variables.iter().filter(|((owner, _), _)| *owner == execution);
            all.map(|(_, variable)| variable.clone()).collect()
        })
    }

    async fn delete_variable(&self, execution: ExecutionId, name: &str) -> Result<bool, Error> {
        self.with(|state| state.variables.remove(&(execution, Arc::from(name))).is_some())
    }

    async fn delete_variables(&self, execution: ExecutionId) -> Result<u64, Error> {
        self.with(|state| {
            let all = state.variables.len();
            state.variables.retain(|(owner, _), _| *owner != execution);
            (all - state.variables.len()) as u64
        })
    }
}
