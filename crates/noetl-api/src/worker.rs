//! How workers in other processes get commands and say what came of them.

use noetl_types::{Command, CommandKey, Outcome, StoredValue, Value};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::NumericId;

/// Names one attempt at a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    pub execution_id: NumericId,
    /// The command within its run: `{"visit": 3, "item": "whole", "part": 0}`, with `{"at": 1}` for an item of a loop.
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub command: CommandKey,
    /// Which attempt at it, from 1.
    #[schema(minimum = 0, maximum = 65535)]
    pub number: u16,
}

/// A worker has room.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TakeRequest {
    /// The name under which it holds its leases.
    #[schema(min_length = 1, max_length = 200)]
    pub worker: String,
    /// The pools it serves, the preferred one first.
    #[schema(min_items = 1, max_items = 100)]
    pub pools: Vec<String>,
    /// How many commands it can take.
    #[schema(minimum = 1, maximum = 1024)]
    pub room: usize,
    /// How long to wait for work before answering with none.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 25000)]
    pub wait_ms: u64,
}

/// Commands that the worker now has the leases of. Empty when there was no work for as long as it wanted to wait.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Taken {
    pub commands: Vec<Assignment>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Assignment {
    /// The playbook it belongs to. The worker gets its text from the catalog; an entry never changes.
    pub catalog_id: NumericId,
    pub pool: String,
    /// How long the lease lasts from now on, and from each renewal.
    pub lease_ms: u64,
    /// The W3C trace context of the attempt, when its run is traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub trace: Option<Value>,
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub command: Command,
}

/// Asks which attempts are to be stopped.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StopsRequest {
    #[schema(min_length = 1, max_length = 200)]
    pub worker: String,
    /// Where the answer before ended; from now on without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(default)]
    #[schema(minimum = 0, maximum = 25000)]
    pub wait_ms: u64,
}

/// Attempts of any worker that nobody waits for any more.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Stops {
    pub stops: Vec<Attempt>,
    /// Where to go on asking.
    pub next: String,
}

/// News of some attempts. Sending it again does no harm.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReportsRequest {
    #[schema(min_length = 1, max_length = 200)]
    pub worker: String,
    #[schema(max_items = 4096)]
    pub reports: Vec<Report>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Report {
    pub attempt: Attempt,
    /// A tool was called.
    #[serde(default)]
    pub began: bool,
    /// Nothing while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Map<String, serde_json::Value>>)]
    pub outcome: Option<Outcome>,
}

/// Of each report, in order, what became of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Reported {
    pub accepted: Vec<Acceptance>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    Counted,
    /// The attempt is no longer open.
    Ignored,
}

/// The worker lives and works on these.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RenewRequest {
    #[schema(min_length = 1, max_length = 200)]
    pub worker: String,
    #[serde(default)]
    #[schema(max_items = 4096)]
    pub running: Vec<Attempt>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Renewed {
    /// Those that it should stop: cancelled, over, or somebody else's.
    pub stop: Vec<Attempt>,
}

/// The worker gives these back before they came to an end.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReleaseRequest {
    #[schema(min_length = 1, max_length = 200)]
    pub worker: String,
    #[schema(max_items = 4096)]
    pub attempts: Vec<Release>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Release {
    pub attempt: Attempt,
    /// A tool was called already, so the work may be half done. It is taken up as a new attempt then.
    #[serde(default)]
    pub began: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Done {
    /// Always `ok`.
    pub status: String,
}

/// Asks for the content of a value that is stored aside.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LoadRequest {
    /// The reference as it came with the command.
    #[schema(value_type = serde_json::Map<String, serde_json::Value>)]
    pub stored: StoredValue,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LoadedValue {
    #[schema(value_type = serde_json::Value)]
    pub value: Value,
}

/// Some of what steps printed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LogsRequest {
    #[schema(max_items = 4096)]
    pub chunks: Vec<LogChunk>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LogChunk {
    pub attempt: Attempt,
    pub step: String,
    pub stream: LogStream,
    /// Counts the chunks of one attempt's stream from 0. One that is already stored is passed over.
    #[schema(minimum = 0, maximum = 4_294_967_295_u64)]
    pub chunk: u32,
    /// When the first of it was printed, in microseconds since 1970.
    #[schema(minimum = 0)]
    pub at: i64,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogStream {
    Stdout,
    Stderr,
}
