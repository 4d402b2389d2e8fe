//! Takes up, after a start, what the process before left lying.

use noetl_store::ExecutionFilter;
use noetl_types::RunStatus;

use crate::drive::{Drive, DriveError};

/// Executions looked at at a time.
const PAGE: usize = 200;

/// Takes up every run that is not over: what workers of the process before had, and what nobody had, is given out again.
/// Workers elsewhere go on with theirs. Returns how many runs there are.
pub async fn recover(drive: &Drive) -> Result<usize, DriveError> {
    let shared = drive.shared();
    if let Some(holder) = shared.dispatcher.holder() {
        // The commands are given out again under the same name, so their leases go on.
        let until = shared.clock.now().after(shared.config.lease);
        drive.store().renew_leases(&holder, until).await?;
    }
    let mut filter = ExecutionFilter {
        statuses: vec![RunStatus::Running, RunStatus::Paused, RunStatus::Pending],
        ..ExecutionFilter::default()
    };
    let mut count = 0;
    loop {
        let page = drive.store().list_executions(&filter, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(count);
        };
        filter.before = Some(last.id);
        for execution in &page {
            drive.recover(execution.id).await?;
            count += 1;
        }
    }
}
