//! Values stored aside.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use super::MemoryStore;
use super::state::State;
use crate::{Error, ResultRef, ResultRow, Results};

impl State {
    /// Whether the execution or an ancestor of it runs.
    fn is_live(&self, execution: ExecutionId) -> bool {
        let mut next = Some(execution);
        while let Some(run) = next.and_then(|id| self.runs.get(&id)) {
            if !run.execution.row.status.is_terminal() {
                return true;
            }
            next = run.execution.row.parent;
        }
        false
    }
}

#[async_trait]
impl Results for MemoryStore {
    async fn put_result(&self, result: &ResultRow) -> Result<(), Error> {
        self.with(|state| {
            let place = (result.at.execution, result.at.id);
            match state.results.get(&place) {
                Some(stored) if stored.sha256 != result.sha256 || stored.at != result.at => {
                    Err(Error::Conflict { what: result.at.to_string() })
                }
                Some(_) => Ok(()),
                None => {
                    state.results.insert(place, Arc::new(result.clone()));
                    Ok(())
                }
            }
        })?
    }

    async fn find_result(&self, at: &ResultRef) -> Result<Option<ResultRow>, Error> {
        let found = self.with(|state| state.results.get(&(at.execution, at.id)).cloned())?;
        found.filter(|result| result.at == *at).map(|result| (*result).clone().verified()).transpose()
    }

    async fn find_latest_result(
        &self,
        execution: ExecutionId,
        name: &str,
    ) -> Result<Option<ResultRow>, Error> {
        let found = self.with(|state| {
            let all = state.results.range((execution, i64::MIN)..=(execution, i64::MAX)).rev();
            all.map(|(_, result)| result).find(|result| *result.at.name == *name).cloned()
        })?;
        found.map(|result| (*result).clone().verified()).transpose()
    }

    async fn collect_expired(&self, now: Timestamp, limit: usize) -> Result<Vec<ResultRef>, Error> {
        self.with(|state| {
            let mut expired: Vec<&ResultRow> = state
                .results
                .values()
                .map(|result| &**result)
                .filter(|result| result.expires_at.is_some_and(|at| at <= now))
                .filter(|result| !state.is_live(result.at.execution))
                .collect();
            expired.sort_by_key(|result| (result.expires_at, result.at.execution, result.at.id));
            let expired: Vec<ResultRef> =
                expired.into_iter().take(limit).map(|result| result.at.clone()).collect();
            for at in &expired {
                state.results.remove(&(at.execution, at.id));
            }
            expired
        })
    }
}
