//! The audit trail.

use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;

use super::MemoryStore;
use super::state::State;
use crate::{Audit, AuditFilter, AuditRow, Error};

impl State {
    /// An entry that is there already stays as it is.
    pub fn append_audit(&mut self, row: &AuditRow) {
        self.audit.entry(row.id).or_insert_with(|| Arc::new(row.clone()));
    }
}

#[async_trait]
impl Audit for MemoryStore {
    async fn append_audit(&self, rows: &[AuditRow]) -> Result<(), Error> {
        self.with(|state| rows.iter().for_each(|row| state.append_audit(row)))
    }

    async fn list_audit(&self, filter: &AuditFilter, limit: usize) -> Result<Vec<AuditRow>, Error> {
        let end = filter.before.map_or(Bound::Unbounded, Bound::Excluded);
        self.with(|state| {
            let newest_first = state.audit.range((Bound::Unbounded, end)).rev().map(|(_, row)| row);
            let matching = newest_first.filter(|row| {
                filter.actor.as_ref().is_none_or(|actor| *row.actor == **actor)
                    && filter.action.as_ref().is_none_or(|action| *row.action == **action)
                    && filter.target.as_ref().is_none_or(|target| *row.target == **target)
                    && filter.execution.is_none_or(|execution| row.execution == Some(execution))
                    && filter.from.is_none_or(|from| row.at >= from)
                    && filter.until.is_none_or(|until| row.at < until)
            });
            matching.take(limit).map(|row| (**row).clone()).collect()
        })
    }
}
