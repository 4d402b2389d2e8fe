//! Claiming timers.

use std::time::Duration;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use super::MemoryStore;
use crate::{DueTimer, Error, TimerRow, Timers};

#[async_trait]
impl Timers for MemoryStore {
    async fn claim_due_timers(
        &self,
        now: Timestamp,
        limit: usize,
        visibility: Duration,
    ) -> Result<Vec<DueTimer>, Error> {
        self.with(|state| {
            let mut due: Vec<_> = state
                .timers
                .iter_mut()
                .filter(|(_, timer)| timer.visible_at <= now)
                .map(|(place, timer)| (timer.visible_at, *place, timer))
                .collect();
            due.sort_by_key(|(visible_at, place, _)| (*visible_at, *place));
            let claimed = due.into_iter().take(limit).map(|(_, (execution, key), timer)| {
                timer.visible_at = now.after(visibility);
                DueTimer { execution, row: TimerRow { key, due: timer.due } }
            });
            claimed.collect()
        })
    }

    async fn next_timer(&self) -> Result<Option<Timestamp>, Error> {
        self.with(|state| state.timers.values().map(|timer| timer.visible_at).min())
    }

    async fn list_timers(&self, execution: ExecutionId) -> Result<Vec<TimerRow>, Error> {
        self.with(|state| {
            let all = state.timers.iter().filter(|((owner, _), _)| *owner == execution);
            let mut rows: Vec<_> =
                all.map(|((_, key), timer)| TimerRow { key: *key, due: timer.due }).collect();
            rows.sort_by_key(|row| (row.due, row.key));
            rows
        })
    }
}
