//! The control plane at the other end of a network.
//!
//! Commands and stops come as answers to questions that the server lets wait. A server that is away costs time: running
//! tools go on, and outcomes are sent until they have arrived.

mod batches;
mod plans;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use noetl_client::api::NumericId;
use noetl_client::api::registry::RegisterRequest;
use noetl_client::api::worker as wire;
use noetl_client::{Client, Retry};
use noetl_tools::{Credential, CredentialError, Credentials, Stream};
use noetl_types::{ErrorKind, ExecutionId, Outcome, Report, StoredValue, ToolError, Value};

use crate::{
    Accepted, Assigned, AttemptId, CommandReport, ControlError, ControlPlane, LogChunk, Released, WorkerInfo,
};
use plans::{PlanError, Plans};

/// How long the server may let a question wait.
const WAIT: Duration = Duration::from_secs(20);

/// The pause after a question about stops that failed.
const STOPS_PAUSE: Duration = Duration::from_secs(1);

/// A server, seen by one worker.
pub struct RemoteControl {
    client: Client,
    plans: Plans,
    /// Credentials that this machine has itself. They count before those of the server.
    own_credentials: Arc<dyn Credentials>,
    /// What the worker said of itself, to say it again to a server that does not know it.
    registration: Mutex<Option<RegisterRequest>>,
    /// Up to where stops were heard.
    heard: tokio::sync::Mutex<Option<String>>,
}

impl fmt::Debug for RemoteControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteControl").field("client", &self.client).finish_non_exhaustive()
    }
}

impl RemoteControl {
    pub fn new(client: Client, own_credentials: Arc<dyn Credentials>) -> RemoteControl {
        // The worker tries again by itself, for as long as it takes.
        let client = client.with_retry(Retry::NEVER);
        RemoteControl {
            plans: Plans::new(client.clone()),
            client,
            own_credentials,
            registration: Mutex::default(),
            heard: tokio::sync::Mutex::default(),
        }
    }

    async fn register_again(&self) -> Result<(), ControlError> {
        let known = self.registration.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(registration) = known {
            tracing::info!(worker = %registration.name, "the server did not know this worker; registering again");
            self.client.register_worker(&registration).await.map_err(control_error)?;
        }
        Ok(())
    }

    /// Finds the plans of commands. A command whose plan can't be had ends with an error; while the server does not answer,
    /// commands are given back.
    async fn assign(
        &self,
        worker: &str,
        commands: Vec<wire::Assignment>,
    ) -> Result<Vec<Assigned>, ControlError> {
        let mut assigned = Vec::with_capacity(commands.len());
        let mut commands = commands.into_iter();
        while let Some(assignment) = commands.next() {
            match self.plans.get(assignment.catalog_id.0).await {
                Ok(plan) => assigned.push(Assigned {
                    command: assignment.command,
                    plan,
                    pool: assignment.pool.into(),
                    lease: Duration::from_millis(assignment.lease_ms),
                    trace: assignment.trace,
                }),
                Err(PlanError::Unavailable(reason)) => {
                    let rest = std::iter::once(assignment).chain(commands);
                    let given_back = assigned
                        .iter()
                        .map(|assigned| AttemptId::of(&assigned.command))
                        .chain(rest.map(|assignment| AttemptId::of(&assignment.command)))
                        .map(|attempt| Released { attempt, began: false });
                    self.release(worker, &given_back.collect::<Vec<_>>()).await?;
                    return Err(ControlError::Unavailable { reason });
                }
                Err(PlanError::Unusable(reason)) => {
                    let error = ToolError::new(ErrorKind::Config, reason);
                    let report = CommandReport {
                        attempt: AttemptId::of(&assignment.command),
                        worker: worker.into(),
                        began_at: None,
                        outcome: Some(Outcome::finished(Report::failure(error))),
                    };
                    self.report(vec![report]).await?;
                }
            }
        }
        Ok(assigned)
    }
}

#[async_trait]
impl ControlPlane for RemoteControl {
    async fn register(&self, worker: &WorkerInfo) -> Result<(), ControlError> {
        let registration = RegisterRequest {
            name: worker.name.to_string(),
            kind: Some("worker_pool".to_owned()),
            status: Some("ready".to_owned()),
            labels: worker.labels(),
            capabilities: worker.capabilities(),
            capacity: i64::try_from(worker.capacity).ok(),
            runtime: Value::map([("kind", Value::from("rust"))]),
            ..RegisterRequest::default()
        };
        self.client.register_worker(&registration).await.map_err(control_error)?;
        *self.registration.lock().unwrap_or_else(PoisonError::into_inner) = Some(registration);
        Ok(())
    }

    async fn deregister(&self, worker: &str) -> Result<(), ControlError> {
        self.client.deregister_worker(worker).await.map_err(control_error)?;
        Ok(())
    }

    /// A call that is dropped may have taken commands all the same. They are free again when the worker says goodbye, or
    /// when their leases have run out.
    async fn take(
        &self,
        worker: &str,
        pools: &[Arc<str>],
        room: usize,
    ) -> Result<Option<Vec<Assigned>>, ControlError> {
        let request = wire::TakeRequest {
            worker: worker.to_owned(),
            pools: pools.iter().map(|pool| pool.to_string()).collect(),
            room,
            wait_ms: WAIT.as_millis() as u64,
        };
        loop {
            match self.client.take_commands(&request).await {
                Ok(taken) => {
                    let assigned = self.assign(worker, taken.commands).await?;
                    if !assigned.is_empty() {
                        return Ok(Some(assigned));
                    }
                }
                Err(error) if error.code() == Some("worker_unknown") => self.register_again().await?,
                Err(error) => return Err(control_error(error)),
            }
        }
    }

    async fn report(&self, reports: Vec<CommandReport>) -> Result<Vec<Accepted>, ControlError> {
        let mut accepted = Vec::with_capacity(reports.len());
        for batch in batches::split(reports) {
            let answer = self.client.report(&batch).await.map_err(control_error)?;
            accepted.extend(answer.accepted.into_iter().map(|acceptance| match acceptance {
                wire::Acceptance::Counted => Accepted::Counted,
                wire::Acceptance::Ignored => Accepted::Ignored,
            }));
        }
        Ok(accepted)
    }

    async fn renew(&self, worker: &str, running: &[AttemptId]) -> Result<Vec<AttemptId>, ControlError> {
        let running = running.iter().copied().map(on_the_wire).collect();
        let request = wire::RenewRequest { worker: worker.to_owned(), running };
        match self.client.renew_leases(&request).await {
            Ok(renewed) => Ok(renewed.stop.into_iter().map(attempt).collect()),
            Err(error) if error.code() == Some("worker_unknown") => {
                self.register_again().await?;
                Ok(Vec::new())
            }
            Err(error) => Err(control_error(error)),
        }
    }

    async fn wait_for_stops(&self, worker: &str) -> Vec<AttemptId> {
        let mut heard = self.heard.lock().await;
        loop {
            let request = wire::StopsRequest {
                worker: worker.to_owned(),
                after: heard.clone(),
                wait_ms: WAIT.as_millis() as u64,
            };
            match self.client.wait_for_stops(&request).await {
                Ok(answer) => {
                    // A server that shuts down answers at once, again and again.
                    let moved = heard.as_ref() != Some(&answer.next);
                    *heard = Some(answer.next);
                    if !answer.stops.is_empty() {
                        return answer.stops.into_iter().map(attempt).collect();
                    }
                    if !moved {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "stops can't be heard; asking again");
                    tokio::time::sleep(STOPS_PAUSE).await;
                }
            }
        }
    }

    async fn release(&self, worker: &str, attempts: &[Released]) -> Result<(), ControlError> {
        let attempts = attempts
            .iter()
            .map(|released| wire::Release { attempt: on_the_wire(released.attempt), began: released.began })
            .collect();
        let request = wire::ReleaseRequest { worker: worker.to_owned(), attempts };
        self.client.release_commands(&request).await.map_err(control_error)?;
        Ok(())
    }

    async fn load_value(&self, _execution: ExecutionId, stored: &StoredValue) -> Result<Value, ControlError> {
        let request = wire::LoadRequest { stored: stored.clone() };
        Ok(self.client.load_value(&request).await.map_err(control_error)?.value)
    }

    async fn store_value(
        &self,
        _execution: ExecutionId,
        _name: &str,
        _value: &Value,
    ) -> Result<StoredValue, ControlError> {
        let reason = "the server puts large values aside itself, together with the outcome".to_owned();
        Err(ControlError::Refused { reason })
    }

    async fn find_credential(
        &self,
        alias: &str,
        execution: ExecutionId,
    ) -> Result<Option<Credential>, ControlError> {
        match self.own_credentials.get(alias).await {
            Ok(own) => return Ok(Some(own)),
            Err(CredentialError::Unknown { .. }) => {}
            Err(CredentialError::Unavailable { reason, .. }) => {
                return Err(ControlError::Refused { reason });
            }
        }
        let found = self.client.find_credential(alias, execution.0).await.map_err(control_error)?;
        Ok(found.map(|found| Credential { name: found.name, kind: found.kind, data: found.data }))
    }

    async fn append_logs(&self, chunks: Vec<LogChunk>) -> Result<(), ControlError> {
        let chunks = chunks
            .into_iter()
            .map(|chunk| wire::LogChunk {
                attempt: on_the_wire(chunk.attempt),
                step: chunk.step.to_string(),
                stream: match chunk.stream {
                    Stream::Stdout => wire::LogStream::Stdout,
                    Stream::Stderr => wire::LogStream::Stderr,
                },
                chunk: chunk.chunk,
                at: chunk.at.0,
                text: chunk.text,
            })
            .collect();
        self.client.append_logs(&wire::LogsRequest { chunks }).await.map_err(control_error)?;
        Ok(())
    }
}

fn on_the_wire(attempt: AttemptId) -> wire::Attempt {
    let AttemptId { execution, key, attempt } = attempt;
    wire::Attempt { execution_id: NumericId(execution.0), command: key, number: attempt }
}

fn attempt(attempt: wire::Attempt) -> AttemptId {
    let wire::Attempt { execution_id, command, number } = attempt;
    AttemptId { execution: ExecutionId(execution_id.0), key: command, attempt: number }
}

fn control_error(error: noetl_client::Error) -> ControlError {
    let reason = chain(&error);
    if error.is_transient() { ControlError::Unavailable { reason } } else { ControlError::Refused { reason } }
}

/// The sentence and its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
