//! What steps print: kept in chunks, bounded, and not as events.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{CommandKey, ExecutionId, Timestamp, VisitId};

use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogStream {
    Stdout,
    Stderr,
}

impl LogStream {
    pub fn as_str(self) -> &'static str {
        match self {
            LogStream::Stdout => "stdout",
            LogStream::Stderr => "stderr",
        }
    }
}

/// Some bytes that an attempt printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    pub execution: ExecutionId,
    pub step: Arc<str>,
    pub command: CommandKey,
    pub attempt: u16,
    pub stream: LogStream,
    /// Counts the chunks of one attempt's stream from 0. One that is already stored is passed over.
    pub chunk: u32,
    pub at: Timestamp,
    pub bytes: Arc<[u8]>,
}

/// How much is kept of each attempt's stream. What comes beyond is dropped, and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLimit {
    pub bytes_per_stream: u64,
}

impl Default for LogLimit {
    fn default() -> LogLimit {
        LogLimit { bytes_per_stream: 16 * 1024 * 1024 }
    }
}

/// A place in the order in which the chunks of an execution were stored. The default is the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogCursor(pub i64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLogChunk {
    pub cursor: LogCursor,
    /// Where its bytes begin in the attempt's stream.
    pub offset: u64,
    /// How many bytes of the chunk were over the limit and are gone. Chunks that lost all are still listed.
    pub dropped: u64,
    pub chunk: LogChunk,
}

/// Which chunks of an execution to read. The default reads all from the beginning.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    pub step: Option<String>,
    pub visit: Option<VisitId>,
    pub command: Option<CommandKey>,
    pub attempt: Option<u16>,
    pub stream: Option<LogStream>,
    /// Only chunks stored after this place. To follow a log, ask again from the last place seen.
    pub after: LogCursor,
    /// Only chunks with a byte at or behind this offset of their stream. The first may begin before it.
    pub from_offset: u64,
}

#[async_trait]
pub trait StepLogs {
    /// Stores chunks. Losing the newest of them in a power failure is acceptable, a run does not depend on them.
    async fn append_logs(&self, chunks: &[LogChunk], limit: LogLimit) -> Result<(), Error>;

    /// In the order they were stored.
    async fn list_logs(
        &self,
        execution: ExecutionId,
        filter: &LogFilter,
        limit: usize,
    ) -> Result<Vec<StoredLogChunk>, Error>;

    /// Removes what an execution printed and says how many chunks that were.
    async fn delete_logs(&self, execution: ExecutionId) -> Result<u64, Error>;
}
