//! The worker's way to the drive loop within one process, with nothing between them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use noetl_engine::Input;
use noetl_server::drive::{Drive, DriveError, WorkQueue};
use noetl_tools::Credential;
use noetl_types::{ExecutionId, StoredValue, Value};
use noetl_worker::{
    Accepted, Assigned, AttemptId, CommandReport, ControlError, ControlPlane, LogChunk, Released, WorkerInfo,
};

pub struct DirectControl {
    pub drive: Drive,
    pub queue: WorkQueue,
    pub lease: Duration,
}

fn refused(reason: impl std::fmt::Display) -> ControlError {
    ControlError::Refused { reason: reason.to_string() }
}

#[async_trait]
impl ControlPlane for DirectControl {
    async fn register(&self, _: &WorkerInfo) -> Result<(), ControlError> {
        Ok(())
    }

    async fn deregister(&self, _: &str) -> Result<(), ControlError> {
        Ok(())
    }

    async fn take(
        &self,
        _: &str,
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
            trace: None,
        });
        Ok(Some(assigned.collect()))
    }

    async fn report(&self, reports: Vec<CommandReport>) -> Result<Vec<Accepted>, ControlError> {
        let mut inputs = Vec::with_capacity(reports.len() * 2);
        let count = reports.len();
        for report in reports {
            let AttemptId { execution, key, attempt } = report.attempt;
            if report.began_at.is_some() {
                inputs.push((execution, Input::Began { command: key, attempt, worker: report.worker }));
            }
            if let Some(outcome) = report.outcome {
                inputs.push((execution, Input::Ended { command: key, attempt, outcome }));
            }
        }
        for answer in self.drive.inputs(inputs).await {
            match answer {
                Ok(_) | Err(DriveError::NotFound(_)) => {}
                Err(error) => return Err(ControlError::Unavailable { reason: error.to_string() }),
            }
        }
        Ok(vec![Accepted::Counted; count])
    }

    async fn renew(&self, _: &str, _: &[AttemptId]) -> Result<Vec<AttemptId>, ControlError> {
        Ok(Vec::new())
    }

    async fn release(&self, _: &str, _: &[Released]) -> Result<(), ControlError> {
        Ok(())
    }

    async fn load_value(&self, _: ExecutionId, stored: &StoredValue) -> Result<Value, ControlError> {
        self.drive.values().load(&**self.drive.store(), stored).await.map_err(refused)
    }

    async fn store_value(&self, _: ExecutionId, name: &str, _: &Value) -> Result<StoredValue, ControlError> {
        Err(refused(format!("{name} is stored by the drive loop")))
    }

    async fn find_credential(&self, _: &str, _: ExecutionId) -> Result<Option<Credential>, ControlError> {
        Ok(None)
    }

    async fn append_logs(&self, _: Vec<LogChunk>) -> Result<(), ControlError> {
        Ok(())
    }
}
