//! Values stored aside.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use super::MemoryStore;
use crate::{Error, ResultInfo, ResultRef, ResultRow, Results, ResultsDeletion};

fn info(result: &ResultRow) -> ResultInfo {
    ResultInfo {
        at: result.at.clone(),
        scope: result.scope.clone(),
        source_step: result.source_step.clone(),
        size: result.content.len() as u64,
        sha256: result.sha256.clone(),
        media_type: result.media_type.clone(),
        created_at: result.created_at,
        expires_at: result.expires_at,
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

    async fn list_results(
        &self,
        execution: ExecutionId,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<ResultInfo>, Error> {
        let start =
            after.map_or(Bound::Included((execution, i64::MIN)), |id| Bound::Excluded((execution, id)));
        self.with(|state| {
            let all = state.results.range((start, Bound::Included((execution, i64::MAX))));
            all.take(limit).map(|(_, result)| info(result)).collect()
        })
    }

    async fn delete_results(&self, execution: ExecutionId) -> Result<ResultsDeletion, Error> {
        self.with(|state| {
            if let Some(by) = state.find_borrower(execution) {
                return ResultsDeletion::Needed { by };
            }
            let before = state.results.len();
            state.results.retain(|(owner, _), _| *owner != execution);
            ResultsDeletion::Deleted { values: (before - state.results.len()) as u64 }
        })
    }

    async fn collect_expired(&self, now: Timestamp, limit: usize) -> Result<Vec<ResultRef>, Error> {
        self.with(|state| {
            let mut expired: Vec<&ResultRow> = state
                .results
                .values()
                .map(|result| &**result)
                .filter(|result| result.expires_at.is_some_and(|at| at <= now))
                .filter(|result| !state.is_family_alive(result.at.execution))
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
