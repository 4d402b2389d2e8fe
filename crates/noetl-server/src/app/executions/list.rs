//! Lists of executions.

use noetl_store::{Execution, ExecutionFilter};

use crate::app::{App, Error};

/// Which executions, and how many of them.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub filter: ExecutionFilter,
    /// Text within the path, whatever the case.
    pub path: Option<String>,
    pub catalog_id: Option<i64>,
    pub limit: usize,
    pub offset: usize,
}

impl App {
    /// Newest first.
    pub async fn list_executions(&self, listing: &Listing) -> Result<Vec<Execution>, Error> {
        let mut filter = listing.filter.clone();
        let path = listing.path.as_ref().map(|path| path.to_ascii_lowercase());
        if filter.search.is_none() {
            filter.search.clone_from(&path);
        }
        let matches = |execution: &Execution| {
            path.as_ref().is_none_or(|path| execution.row.path.to_ascii_lowercase().contains(path))
                && listing.catalog_id.is_none_or(|id| execution.row.catalog_id == id)
        };
        let mut passed = 0;
        let mut found = Vec::new();
        loop {
            let page = self.store().list_executions(&filter, PAGE).await?;
            let is_last = page.len() < PAGE;
            filter.before = page.last().map(|execution| execution.id);
            for execution in page.into_iter().filter(matches) {
                if passed < listing.offset {
                    passed += 1;
                } else if found.len() < listing.limit {
                    found.push(execution);
                }
            }
            if is_last || found.len() >= listing.limit {
                return Ok(found);
            }
        }
    }
}

/// Rows asked for at a time.
const PAGE: usize = 100;
