//! Events that others tell of.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{EventId, ExecutionId, Timestamp};

use super::MemoryStore;
use crate::{Error, ProjectedEvent, Projections};

#[async_trait]
impl Projections for MemoryStore {
    async fn project_events(&self, events: &[ProjectedEvent]) -> Result<Vec<bool>, Error> {
        self.with(|state| {
            let mut new = Vec::with_capacity(events.len());
            for event in events {
                let is_recorded =
                    state.runs.get(&event.execution).is_some_and(|run| run.event_ids.contains_key(&event.id));
                let place = (event.execution, event.id);
                let is_new = !is_recorded && !state.projected.contains_key(&place);
                if is_new {
                    state.projected.insert(place, Arc::new(event.clone()));
                }
                new.push(is_new);
            }
            new
        })
    }

    async fn list_projected(
        &self,
        execution: ExecutionId,
        limit: usize,
    ) -> Result<Vec<ProjectedEvent>, Error> {
        self.with(|state| {
            let all = state.projected.range((execution, EventId(i64::MIN))..=(execution, EventId(i64::MAX)));
            all.take(limit).map(|(_, event)| (**event).clone()).collect()
        })
    }

    async fn purge_projected(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        self.with(|state| {
            let old = state.projected.iter().filter(|(_, event)| event.at < before);
            let old: Vec<_> = old.take(limit).map(|(place, _)| *place).collect();
            for place in &old {
                state.projected.remove(place);
            }
            old.len() as u64
        })
    }
}
