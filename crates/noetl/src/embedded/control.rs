//! The control plane as the workers of the same process see it: no network, no copies.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use noetl_engine::Input;
use noetl_server::app::Code;
use noetl_server::app::credentials::find_stored;
use noetl_server::clock::Clock;
use noetl_server::drive::{Drive, DriveError, WorkQueue};
use noetl_server::ids::IdSource;
use noetl_server::vault::Vault;
use noetl_store::{LogLimit, LogStream, NewWorker, Store, WorkerKind};
use noetl_tools::{Credential, Stream};
use noetl_types::{ExecutionId, StoredValue, Value};
use noetl_worker::{
    Accepted, Assigned, AttemptId, CommandReport, ControlError, ControlPlane, LogChunk, Released, WorkerInfo,
};
use tokio::sync::Mutex;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{LocalCredentials, Trouble};

type Cancelled = Receiver<(ExecutionId, noetl_types::CommandKey, u16)>;

pub struct LocalControl {
    drive: Drive,
    queue: WorkQueue,
    clock: Arc<dyn Clock>,
    ids: Arc<IdSource>,
    lease: Duration,
    credentials: LocalCredentials,
    vault: Option<Vault>,
    cancelled: Mutex<Cancelled>,
    trouble: Trouble,
}

impl LocalControl {
    pub fn new(
        drive: Drive,
        queue: WorkQueue,
        clock: Arc<dyn Clock>,
        ids: Arc<IdSource>,
        lease: Duration,
        credentials: LocalCredentials,
    ) -> LocalControl {
        let cancelled = Mutex::new(queue.cancelled.subscribe());
        let trouble = Trouble::default();
        LocalControl { drive, queue, clock, ids, lease, credentials, vault: None, cancelled, trouble }
    }

    /// Credentials of the store are found too, before those of this machine.
    pub fn with_vault(self, vault: Option<Vault>) -> LocalControl {
        LocalControl { vault, ..self }
    }

    /// Where to hear of a store that takes no more.
    pub fn trouble(&self) -> Trouble {
        self.trouble.clone()
    }

    fn store(&self) -> &Arc<dyn Store> {
        self.drive.store()
    }
}

fn unavailable(error: impl std::fmt::Display) -> ControlError {
    ControlError::Unavailable { reason: error.to_string() }
}

fn refused(error: impl std::fmt::Display) -> ControlError {
    ControlError::Refused { reason: error.to_string() }
}

fn store_error(error: noetl_store::Error) -> ControlError {
    if error.is_retryable() { unavailable(error) } else { refused(error) }
}

#[async_trait]
impl ControlPlane for LocalControl {
    async fn register(&self, worker: &WorkerInfo) -> Result<(), ControlError> {
        let row = NewWorker {
            id: self.ids.next(),
            kind: WorkerKind::WorkerPool,
            name: worker.name.clone(),
            uri: None,
            status: "ready".into(),
            labels: worker.labels(),
            capabilities: worker.capabilities(),
            capacity: i64::try_from(worker.capacity).ok(),
            runtime: Value::map([("kind", Value::from("rust"))]),
        };
        self.store().register_worker(&row, self.clock.now()).await.map_err(store_error)?;
        Ok(())
    }

    async fn deregister(&self, worker: &str) -> Result<(), ControlError> {
        self.store().deregister_worker(WorkerKind::WorkerPool, worker).await.map_err(store_error)?;
        Ok(())
    }

    async fn take(
        &self,
        _worker: &str,
        pools: &[Arc<str>],
        room: usize,
    ) -> Result<Option<Vec<Assigned>>, ControlError> {
        let taken = self.queue.queue.take(pools, room).await;
        if taken.is_empty() {
            return Ok(None);
        }
        let assigned = taken.into_iter().map(|dispatched| Assigned {
            command: dispatched.command,
            plan: dispatched.plan,
            pool: dispatched.pool,
            lease: self.lease,
            trace: dispatched.trace,
        });
        Ok(Some(assigned.collect()))
    }

    async fn report(&self, reports: Vec<CommandReport>) -> Result<Vec<Accepted>, ControlError> {
        let mut inputs = Vec::with_capacity(reports.len() * 2);
        let mut last = Vec::with_capacity(reports.len());
        for report in reports {
            let AttemptId { execution, key, attempt } = report.attempt;
            if report.began_at.is_some() {
                inputs.push((execution, Input::Began { command: key, attempt, worker: report.worker }));
            }
            if let Some(outcome) = report.outcome {
                inputs.push((execution, Input::Ended { command: key, attempt, outcome }));
            }
            last.push(inputs.len());
        }
        let answers = self.drive.inputs(inputs).await;
        let mut accepted = Vec::with_capacity(last.len());
        let mut from = 0;
        for to in last {
            let mut counted = Accepted::Counted;
            for answer in &answers[from..to] {
                match answer {
                    Ok(_) => {}
                    Err(DriveError::NotFound(_)) => counted = Accepted::Ignored,
                    Err(error) => {
                        self.trouble.note(error);
                        return Err(unavailable(error));
                    }
                }
            }
            accepted.push(counted);
            from = to;
        }
        Ok(accepted)
    }

    async fn renew(&self, worker: &str, running: &[AttemptId]) -> Result<Vec<AttemptId>, ControlError> {
        let until = self.clock.now().after(self.lease);
        self.store().renew_leases(worker, until).await.map_err(store_error)?;
        self.store()
            .heartbeat(WorkerKind::WorkerPool, worker, self.clock.now())
            .await
            .map_err(store_error)?;
        let mut over = Vec::new();
        for &attempt in running {
            let AttemptId { execution, key, attempt: number } = attempt;
            let found = self.store().find_command(execution, key, number).await.map_err(store_error)?;
            if found.is_none_or(|command| !command.status.is_open()) {
                over.push(attempt);
            }
        }
        Ok(over)
    }

    async fn wait_for_stops(&self, _worker: &str) -> Vec<AttemptId> {
        let mut cancelled = self.cancelled.lock().await;
        match cancelled.recv().await {
            Ok((execution, key, attempt)) => vec![AttemptId { execution, key, attempt }],
            // What was missed is named by the next renewal.
            Err(RecvError::Lagged(_)) => Vec::new(),
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }

    /// What is given back at the end of the process is taken up by the next one on the same data.
    async fn release(&self, _worker: &str, _attempts: &[Released]) -> Result<(), ControlError> {
        Ok(())
    }

    async fn load_value(&self, _execution: ExecutionId, stored: &StoredValue) -> Result<Value, ControlError> {
        self.drive.values().load(&**self.store(), stored).await.map_err(store_error)
    }

    async fn store_value(
        &self,
        _execution: ExecutionId,
        _name: &str,
        _value: &Value,
    ) -> Result<StoredValue, ControlError> {
        Err(refused("the drive loop of this process puts large values aside itself"))
    }

    async fn find_credential(
        &self,
        alias: &str,
        _execution: ExecutionId,
    ) -> Result<Option<Credential>, ControlError> {
        if let Some(vault) = &self.vault {
            let stored = find_stored(&**self.store(), vault, alias).await;
            let stored = stored.map_err(|error| match error.code {
                Code::StoreUnavailable => unavailable(error),
                _ => refused(error),
            })?;
            if let Some((kind, data)) = stored {
                return Ok(Some(Credential { name: alias.to_owned(), kind: kind.to_string(), data }));
            }
        }
        self.credentials.find(alias).map_err(refused)
    }

    async fn append_logs(&self, chunks: Vec<LogChunk>) -> Result<(), ControlError> {
        let chunks: Vec<noetl_store::LogChunk> = chunks
            .into_iter()
            .map(|chunk| noetl_store::LogChunk {
                execution: chunk.attempt.execution,
                step: chunk.step,
                command: chunk.attempt.key,
                attempt: chunk.attempt.attempt,
                stream: match chunk.stream {
                    Stream::Stdout => LogStream::Stdout,
                    Stream::Stderr => LogStream::Stderr,
                },
                chunk: chunk.chunk,
                at: chunk.at,
                bytes: chunk.text.into_bytes().into(),
            })
            .collect();
        self.store().append_logs(&chunks, LogLimit::default()).await.map_err(store_error)
    }
}

#[cfg(test)]
mod tests;
