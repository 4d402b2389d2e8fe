//! Numbers for an overview.

use noetl_store::{CatalogFilter, Execution, ExecutionFilter, WorkerFilter};
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

/// Playbooks are counted up to this many.
const PLAYBOOKS: usize = 10_000;

/// Entries read at a time.
const PAGE: usize = 500;

impl App {
    pub async fn overview(&self) -> Result<Overview, Error> {
        let store = self.store();
        let failed = ExecutionFilter { statuses: vec![RunStatus::Failed], ..ExecutionFilter::default() };
        Ok(Overview {
            counts: store.count_executions().await?,
            playbooks: self.count_playbooks().await?,
            workers: store.list_workers(&WorkerFilter::default()).await?.len() as u64,
            recent: store.list_executions(&ExecutionFilter::default(), LISTED).await?,
            recent_failures: store.list_executions(&failed, LISTED).await?,
        })
    }

    async fn count_playbooks(&self) -> Result<u64, Error> {
        let mut filter = CatalogFilter {
            kind: Some("playbook".to_owned()),
            latest_only: true,
            ..CatalogFilter::default()
        };
        let mut count = 0;
        while count < PLAYBOOKS {
            let page = self.store().list_entries(&filter, PAGE).await?;
            count += page.len();
            match page.last() {
                Some(last) if page.len() == PAGE => {
                    filter.after = Some((last.entry.path.to_string(), last.version));
                }
                _ => break,
            }
        }
        Ok(count as u64)
    }
}
