//! Waiting for an execution to end.

use std::time::Duration;

use noetl_store::ExecutionRow;
use noetl_types::ExecutionId;
use tokio::time::Instant;

use crate::app::{App, Error};
use crate::drive::End;

/// The store is looked at after this long even if nothing was told: another server may drive the execution.
const NAP: Duration = Duration::from_secs(2);

impl App {
    /// The row of an execution once it has ended. Nothing if that takes longer than this.
    pub async fn wait_for_end(&self, id: ExecutionId, wait: Duration) -> Result<Option<ExecutionRow>, Error> {
        let end = self.drive().ends().expect(id);
        let row = self.execution(id).await?.row;
        if row.status.is_terminal() { Ok(Some(row)) } else { self.wait_on(end, wait).await }
    }

    /// As [`App::wait_for_end`], when the waiting began before the execution could end.
    pub(in crate::app) async fn wait_on(
        &self,
        mut end: End<'_>,
        wait: Duration,
    ) -> Result<Option<ExecutionRow>, Error> {
        let until = Instant::now() + wait;
        loop {
            let nap = until.min(Instant::now() + NAP);
            if let Ok(row) = tokio::time::timeout_at(nap, end.told()).await {
                return Ok(Some(row));
            }
            let row = self.execution(end.execution()).await?.row;
            if row.status.is_terminal() {
                return Ok(Some(row));
            }
            if Instant::now() >= until {
                return Ok(None);
            }
        }
    }
}
