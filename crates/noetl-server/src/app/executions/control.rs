//! Steering executions.

use std::sync::Arc;
use std::time::Duration;

use noetl_engine::Input;
use noetl_store::{Execution, ExecutionFilter};
use noetl_types::{ErrorKind, ExecutionId, RunStatus, Slot, ToolError, Value};

use crate::app::{App, Code, Error};

/// What came of steering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steered {
    pub before: RunStatus,
    pub now: RunStatus,
}

/// Executions looked at at a time.
const PAGE: usize = 200;

impl App {
    /// Stops an execution and says which ones are stopped by that, itself first. With `cascade` everything that it
    /// started, directly or not, is stopped too.
    pub async fn cancel(
        &self,
        id: ExecutionId,
        reason: &str,
        cascade: bool,
    ) -> Result<Vec<ExecutionId>, Error> {
        let execution = self.execution(id).await?;
        refuse_when_over(id, execution.row.status)?;
        let mut cancelled = vec![id];
        // Who depends on it is read before, because those that a step waits for end together with it.
        let mut generation = self.live_children(id).await?;
        let applied = self.drive().input(id, Input::Cancel { reason: reason.into() }).await?;
        if applied.status != RunStatus::Cancelled {
            return Err(ended(id, applied.status));
        }
        while cascade && !generation.is_empty() {
            let mut next = Vec::new();
            for child in generation {
                next.extend(self.live_children(child.id).await?);
                if child.row.status.is_terminal() {
                    continue;
                }
                let reason = format!("execution {id} that it belongs to was cancelled: {reason}");
                let applied = self.drive().input(child.id, Input::Cancel { reason: reason.into() }).await?;
                if applied.status == RunStatus::Cancelled {
                    cancelled.push(child.id);
                }
            }
            generation = next;
        }
        Ok(cancelled)
    }

    /// What an execution started. One that is over is among them: it may have left others running.
    async fn live_children(&self, id: ExecutionId) -> Result<Vec<Execution>, Error> {
        let mut filter = ExecutionFilter { parent: Some(id), ..ExecutionFilter::default() };
        let mut children = Vec::new();
        loop {
            let page = self.store().list_executions(&filter, PAGE).await?;
            let is_last = page.len() < PAGE;
            filter.before = page.last().map(|execution| execution.id);
            children.extend(page);
            if is_last {
                return Ok(children);
            }
        }
    }

    /// Lets work under way go on and begins nothing new.
    pub async fn pause(&self, id: ExecutionId, reason: &str) -> Result<Steered, Error> {
        self.steer(id, Input::Pause { reason: reason.into() }).await
    }

    pub async fn resume(&self, id: ExecutionId) -> Result<Steered, Error> {
        self.steer(id, Input::Resume).await
    }

    /// Gives a step the signal that it waits for, now or later.
    pub async fn signal(&self, id: ExecutionId, name: &str, payload: Value) -> Result<Steered, Error> {
        let name: Arc<str> = name.into();
        self.steer(id, Input::Signal { name, payload: Slot::Inline(payload) }).await
    }

    /// Ends an execution where it stands, as failed for this reason or as completed. False when it was over before.
    pub async fn finalize(
        &self,
        id: ExecutionId,
        failure: Option<String>,
    ) -> Result<(bool, RunStatus), Error> {
        let before = self.execution(id).await?.row.status;
        if before.is_terminal() {
            return Ok((false, before));
        }
        let error = failure.map(|message| ToolError::new(ErrorKind::Cancelled, message));
        let applied = self.drive().input(id, Input::Finalize { error }).await?;
        Ok((true, applied.status))
    }

    /// An input that an execution takes only while it is not over.
    async fn steer(&self, id: ExecutionId, input: Input) -> Result<Steered, Error> {
        let before = self.execution(id).await?.row.status;
        refuse_when_over(id, before)?;
        let applied = self.drive().input(id, input).await?;
        if applied.events == 0 {
            // It ended in between. One that ended by this very input took it.
            refuse_when_over(id, applied.status)?;
        }
        Ok(Steered { before, now: applied.status })
    }

    /// Cancels executions that have not moved for so long, or only says which. They come oldest first.
    pub async fn clean_up(&self, idle: Duration, dry_run: bool) -> Result<Vec<ExecutionId>, Error> {
        let now = self.now();
        let mut filter = ExecutionFilter {
            statuses: vec![RunStatus::Pending, RunStatus::Running, RunStatus::Paused],
            ..ExecutionFilter::default()
        };
        let mut idle_ones = Vec::new();
        loop {
            let page = self.store().list_executions(&filter, PAGE).await?;
            let is_last = page.len() < PAGE;
            filter.before = page.last().map(|execution| execution.id);
            let still = page.iter().filter(|execution| now.since(execution.last.at) >= idle);
            idle_ones.extend(still.map(|execution| execution.id));
            if is_last {
                break;
            }
        }
        idle_ones.reverse();
        if dry_run {
            return Ok(idle_ones);
        }
        let mut cancelled = Vec::new();
        for id in idle_ones {
            let reason = format!("nothing happened in it for {} minutes", idle.as_secs() / 60);
            match self.cancel(id, &reason, true).await {
                Ok(_) => cancelled.push(id),
                // It ended meanwhile, maybe with the one that started it.
                Err(error) if error.code == Code::ExecutionEnded => {
                    let status = self.execution(id).await?.row.status;
                    cancelled.extend((status == RunStatus::Cancelled).then_some(id));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(cancelled)
    }
}

fn refuse_when_over(id: ExecutionId, status: RunStatus) -> Result<(), Error> {
    if status.is_terminal() { Err(ended(id, status)) } else { Ok(()) }
}

fn ended(id: ExecutionId, status: RunStatus) -> Error {
    Error::new(Code::ExecutionEnded, format!("execution {id} is over: it is {status}"))
}
