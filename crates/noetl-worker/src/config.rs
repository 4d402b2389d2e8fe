//! What operators choose about a worker.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const MEBIBYTE: usize = 1024 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct WorkerConfig {
    /// Unique among all workers.
    pub name: Arc<str>,
    /// The pools whose commands it takes.
    pub pools: Vec<Arc<str>>,
    /// How many commands it works on at once. Those that need nothing but the interpreter are not counted.
    pub concurrency: usize,
    /// How many calls of a kind of tool may be under way at once. Kinds that are not named have no limit of their own.
    pub kind_limits: BTreeMap<Arc<str>, usize>,
    /// Delays up to this long are waited out in place; before a longer one the command is put down.
    pub longest_wait: Duration,
    /// A command that runs longer than this is reported as begun before its end.
    pub announce_after: Duration,
    /// How long running commands may go on after the request to shut down.
    pub drain: Duration,
    /// How long a tool may take to stop when it is told to.
    pub stop_grace: Duration,
    /// How many bytes of stored values are kept at hand for further commands.
    pub value_cache: usize,
    /// The address of the server, for templates that name `server_url`.
    pub server_url: Option<Arc<str>>,
    pub logs: LogConfig,
}

/// How the output of steps is passed on.
#[derive(Clone, Debug, PartialEq)]
pub struct LogConfig {
    /// How much of each attempt's stream is passed on; what comes beyond is counted and left out.
    pub bytes_per_stream: usize,
    /// The largest chunk.
    pub chunk: usize,
    /// How long output waits for more of it before it is passed on.
    pub delay: Duration,
    /// How much output of one attempt waits when it can't be passed on; what comes beyond is counted and left out.
    pub backlog: usize,
}

impl Default for WorkerConfig {
    fn default() -> WorkerConfig {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        WorkerConfig {
            name: "worker".into(),
            pools: vec!["shared".into()],
            concurrency: 256,
            kind_limits: BTreeMap::from([("python".into(), cores)]),
            longest_wait: Duration::from_secs(1),
            announce_after: Duration::from_millis(50),
            drain: Duration::from_secs(30),
            stop_grace: Duration::from_secs(5),
            value_cache: 64 * MEBIBYTE,
            server_url: None,
            logs: LogConfig::default(),
        }
    }
}

impl Default for LogConfig {
    fn default() -> LogConfig {
        LogConfig {
            bytes_per_stream: 16 * MEBIBYTE,
            chunk: 8 * 1024,
            delay: Duration::from_millis(200),
            backlog: MEBIBYTE,
        }
    }
}
