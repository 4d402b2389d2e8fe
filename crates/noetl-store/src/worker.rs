//! The registry of running parts: worker pools, servers, brokers.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{Timestamp, Value};

use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkerKind {
    WorkerPool,
    ServerApi,
    Broker,
}

impl WorkerKind {
    pub fn as_str(self) -> &'static str {
        match self {
            WorkerKind::WorkerPool => "worker_pool",
            WorkerKind::ServerApi => "server_api",
            WorkerKind::Broker => "broker",
        }
    }
}

/// What a running part says of itself when it registers.
#[derive(Clone, Debug, PartialEq)]
pub struct NewWorker {
    /// Used when the part is new.
    pub id: i64,
    pub kind: WorkerKind,
    /// Unique among its kind.
    pub name: Arc<str>,
    pub uri: Option<String>,
    pub status: Arc<str>,
    pub labels: Value,
    pub capabilities: Value,
    pub capacity: Option<i64>,
    pub runtime: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WorkerRow {
    pub worker: NewWorker,
    pub heartbeat: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The status of a part that nobody has heard of for a while.
pub const OFFLINE: &str = "offline";

/// Which parts to list. The default lists all.
#[derive(Clone, Debug, Default)]
pub struct WorkerFilter {
    pub kind: Option<WorkerKind>,
    pub status: Option<String>,
    pub name: Option<String>,
    /// With a heartbeat then or later.
    pub alive_since: Option<Timestamp>,
}

#[async_trait]
pub trait Workers {
    /// Adds a part or renews what is known of it; its id and time of creation stay. Gives the row as stored.
    async fn register_worker(&self, worker: &NewWorker, now: Timestamp) -> Result<WorkerRow, Error>;

    /// False when the part is unknown and has to register. One that was thought to be offline is `active` again.
    async fn heartbeat(&self, kind: WorkerKind, name: &str, now: Timestamp) -> Result<bool, Error>;

    /// By kind and name.
    async fn list_workers(&self, filter: &WorkerFilter) -> Result<Vec<WorkerRow>, Error>;

    async fn deregister_worker(&self, kind: WorkerKind, name: &str) -> Result<bool, Error>;

    /// Takes parts without a heartbeat since `before` for [`OFFLINE`] and says which were not yet.
    async fn sweep_workers(&self, before: Timestamp, now: Timestamp) -> Result<Vec<WorkerRow>, Error>;

    /// Removes parts without a heartbeat since `before` and says how many.
    async fn purge_workers(&self, before: Timestamp) -> Result<u64, Error>;
}
