//! Step logs.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::ExecutionId;

use super::MemoryStore;
use super::state::State;
use crate::{Error, LogChunk, LogCursor, LogFilter, LogLimit, StepLogs, StoredLogChunk};

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
