//! The registry of running parts, and what their coming and going means for the commands they hold.

use std::sync::Arc;

use noetl_engine::Input;
use noetl_store::{CommandFilter, NewWorker, WorkerFilter, WorkerKind, WorkerRow};
use noetl_types::Value;

use super::{App, Code, Error};

/// Commands looked at at a time.
const PAGE: usize = 500;

/// Parts are listed up to this many.
const LISTED: usize = 10_000;

/// What a part says of itself.
#[derive(Clone, Debug)]
pub struct Registration {
    pub kind: WorkerKind,
    pub name: Arc<str>,
    pub uri: Option<String>,
    pub status: Arc<str>,
    pub labels: Value,
    pub capabilities: Value,
    pub capacity: Option<i64>,
    pub runtime: Value,
}

impl Registration {
    /// A part of which only the name is known.
    pub fn bare(kind: WorkerKind, name: Arc<str>) -> Registration {
        Registration {
            kind,
            name,
            uri: None,
            status: "ready".into(),
            labels: Value::Null,
            capabilities: Value::Null,
            capacity: None,
            runtime: Value::Null,
        }
    }
}

/// The kind that a word stands for; worker pools without one.
pub fn part_kind(word: Option<&str>) -> Result<WorkerKind, Error> {
    match word.map(str::to_lowercase).as_deref() {
        None | Some("" | "worker_pool" | "worker") => Ok(WorkerKind::WorkerPool),
        Some("server_api" | "server") => Ok(WorkerKind::ServerApi),
        Some("broker") => Ok(WorkerKind::Broker),
        Some(word) => Err(Error::new(Code::BodyInvalid, format!("'{word}' is no kind of part"))
            .help("use worker_pool, server_api or broker")),
    }
}

/// A name that can stand in logs and lists.
pub fn part_name(name: &str) -> Result<Arc<str>, Error> {
    if name.is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
        let message = "a worker's name has 1 to 200 bytes and no control characters";
        return Err(Error::new(Code::BodyInvalid, message));
    }
    Ok(name.into())
}

impl App {
    /// Adds a part, or renews what is known of it. A worker registers when it starts, so whatever an earlier process of
    /// the same name had is free now.
    pub async fn register_part(&self, part: Registration) -> Result<WorkerRow, Error> {
        if part.kind == WorkerKind::WorkerPool {
            self.free_commands_of(&part.name).await?;
        }
        self.store_part(part).await
    }

    async fn store_part(&self, part: Registration) -> Result<WorkerRow, Error> {
        let worker = NewWorker {
            id: self.ids().next(),
            kind: part.kind,
            name: part.name,
            uri: part.uri,
            status: part.status,
            labels: part.labels,
            capabilities: part.capabilities,
            capacity: part.capacity,
            runtime: part.runtime,
        };
        Ok(self.store().register_worker(&worker, self.now()).await?)
    }

    /// A part is alive. One that is unknown is added. Workers of other makes have no heartbeat per command, so this one
    /// extends all their leases.
    pub async fn hear_from(&self, kind: WorkerKind, name: Arc<str>) -> Result<(), Error> {
        if !self.store().heartbeat(kind, &name, self.now()).await? {
            self.store_part(Registration::bare(kind, name.clone())).await?;
        }
        if kind == WorkerKind::WorkerPool {
            self.store().renew_leases(&name, self.now().after(self.lease())).await?;
        }
        Ok(())
    }

    /// A part is gone, and what it still held is free for others. Says whether it was known.
    pub async fn deregister_part(&self, kind: WorkerKind, name: &str) -> Result<bool, Error> {
        let known = self.store().deregister_worker(kind, name).await?;
        if kind == WorkerKind::WorkerPool {
            self.free_commands_of(name).await?;
        }
        Ok(known)
    }

    pub async fn list_parts(
        &self,
        kind: Option<WorkerKind>,
        status: Option<String>,
        name: Option<String>,
    ) -> Result<Vec<WorkerRow>, Error> {
        let filter = WorkerFilter { kind, status, name, ..WorkerFilter::default() };
        let mut parts = self.store().list_workers(&filter).await?;
        parts.truncate(LISTED);
        Ok(parts)
    }

    /// Takes all commands away from a worker that is gone; they are taken up as new attempts.
    async fn free_commands_of(&self, worker: &str) -> Result<(), Error> {
        let mut filter = CommandFilter { held_by: Some(worker.to_owned()), ..CommandFilter::default() };
        loop {
            let held = self.store().list_open_commands(&filter, PAGE).await?;
            let Some(last) = held.last() else {
                return Ok(());
            };
            filter.after = Some((last.row.event, last.execution));
            let inputs = held.iter().map(|command| {
                let (key, attempt) = (command.row.key, command.row.attempt);
                (command.execution, Input::LeaseExpired { command: key, attempt })
            });
            for answer in self.drive().inputs(inputs.collect()).await {
                answer?;
            }
        }
    }
}
