//! Lists of executions.

use noetl_store::{Execution, ExecutionFilter};
use noetl_types::ExecutionId;

use crate::app::{App, Error};

impl App {
    /// Newest first.
    pub async fn list_executions(
        &self,
        filter: &ExecutionFilter,
        limit: usize,
    ) -> Result<Vec<Execution>, Error> {
        Ok(self.store().list_executions(filter, limit).await?)
    }

    /// What an execution started itself, newest first, from behind `before` on.
    pub async fn children(
        &self,
        id: ExecutionId,
        before: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Execution>, Error> {
        self.execution(id).await?;
        let filter = ExecutionFilter { parent: Some(id), before, ..ExecutionFilter::default() };
        self.list_executions(&filter, limit).await
    }
}
