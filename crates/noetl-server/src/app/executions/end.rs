//! Waiting for an execution to end.

use std::time::Duration;

use noetl_store::ExecutionRow;
use noetl_types::ExecutionId;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::app::{App, Error};

/// The store is looked at after this long even if nothing was told: another server may drive the execution.
const NAP: Duration = Duration::from_secs(2);

impl App {
    /// The row of an execution once it has ended. Nothing if that takes longer than this.
    pub async fn wait_for_end(&self, id: ExecutionId, wait: Duration) -> Result<Option<ExecutionRow>, Error> {
        let end = self.drive().ends().expect(id);
        let execution = self.execution(id).await;
        if !matches!(&execution, Ok(execution) if !execution.row.status.is_terminal()) {
            drop(end);
            self.drive().ends().forget(id);
            return Ok(Some(execution?.row));
        }
        self.wait_on(end, id, wait).await
    }

    /// As [`App::wait_for_end`], for an execution whose end nobody can have missed.
    pub(in crate::app) async fn wait_on(
        &self,
        mut end: oneshot::Receiver<ExecutionRow>,
        id: ExecutionId,
        wait: Duration,
    ) -> Result<Option<ExecutionRow>, Error> {
        let until = Instant::now() + wait;
        let ended = loop {
            let nap = until.min(Instant::now() + NAP);
            if let Ok(told) = tokio::time::timeout_at(nap, &mut end).await {
                // Whoever tells of ends lives as long as the server.
                return Ok(told.ok());
            }
            let row = self.execution(id).await?.row;
            if row.status.is_terminal() {
                break Some(row);
            }
            if Instant::now() >= until {
                break None;
            }
        };
        drop(end);
        self.drive().ends().forget(id);
        Ok(ended)
    }
}
