//! Numbers for an overview. The store keeps the counts with every change, so that asking for them reads no history.

use noetl_store::{Execution, ExecutionFilter, WorkerFilter};
use noetl_types::RunStatus;

use super::{App, Error};

#[derive(Clone, Debug)]
pub struct Overview {
    pub counts: Vec<(RunStatus, u64)>,
    pub playbooks: u64,
    pub workers: u64,
    /// Newest first.
    pub recent: Vec<Execution>,
    pub recent_failures: Vec<Execution>,
}

impl Overview {
    pub fn count(&self, status: RunStatus) -> u64 {
        self.counts.iter().find(|(known, _)| *known == status).map_or(0, |(_, count)| *count)
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }
}

/// Executions in each of the two lists.
const LISTED: usize = 10;

impl App {
    pub async fn overview(&self) -> Result<Overview, Error> {
        let store = self.store();
        let failed = ExecutionFilter { statuses: vec![RunStatus::Failed], ..ExecutionFilter::default() };
        Ok(Overview {
            counts: store.count_executions().await?,
            playbooks: store.count_paths("playbook").await?,
            workers: store.list_workers(&WorkerFilter::default()).await?.len() as u64,
            recent: store.list_executions(&ExecutionFilter::default(), LISTED).await?,
            recent_failures: store.list_executions(&failed, LISTED).await?,
        })
    }
}
