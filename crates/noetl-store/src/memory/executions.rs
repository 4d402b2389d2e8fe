//! Reading executions.

use std::collections::BTreeSet;
use std::ops::Bound;

use async_trait::async_trait;
use noetl_types::{Event, EventId, ExecutionId, RunStatus, VisitId};

use super::MemoryStore;
use super::state::Run;
use crate::{Error, Execution, ExecutionFilter, Executions, LoopResult, PathFilter, Snapshot};

fn matches(filter: &ExecutionFilter, execution: &Execution) -> bool {
    let row = &execution.row;
    (filter.statuses.is_empty() || filter.statuses.contains(&row.status))
        && filter.path.as_ref().is_none_or(|path| match path {
            PathFilter::Is(path) => *row.path == **path,
            PathFilter::StartsWith(prefix) => row.path.starts_with(prefix.as_str()),
        })
        && filter.parent.is_none_or(|parent| row.parent == Some(parent))
        && filter.started_from.is_none_or(|from| row.started_at >= from)
        && filter.started_before.is_none_or(|before| row.started_at < before)
        && filter.labels.iter().all(|(key, value)| row.labels.get(key) == Some(value))
        && filter.search.as_ref().is_none_or(|text| {
            let text = text.to_ascii_lowercase();
            row.path.to_ascii_lowercase().contains(&text)
                || execution.id.to_string().contains(&text)
                || row.error.as_ref().is_some_and(|error| error.to_ascii_lowercase().contains(&text))
        })
}

impl MemoryStore {
    /// Reads one execution; an unknown one has nothing of anything.
    fn of_run<T: Default>(&self, execution: ExecutionId, read: impl FnOnce(&Run) -> T) -> Result<T, Error> {
        self.with(|state| state.runs.get(&execution).map(|run| read(run)).unwrap_or_default())
    }
}

#[async_trait]
impl Executions for MemoryStore {
    async fn find_execution(&self, execution: ExecutionId) -> Result<Option<Execution>, Error> {
        self.of_run(execution, |run| Some(run.execution.clone()))
    }

    async fn list_executions(&self, filter: &ExecutionFilter, limit: usize) -> Result<Vec<Execution>, Error> {
        let end = filter.before.map_or(Bound::Unbounded, Bound::Excluded);
        self.with(|state| {
            let newest_first = state.runs.range((Bound::Unbounded, end)).rev().map(|(_, run)| &run.execution);
            newest_first.filter(|execution| matches(filter, execution)).take(limit).cloned().collect()
        })
    }

    async fn count_executions(&self) -> Result<Vec<(RunStatus, u64)>, Error> {
        self.with(|state| {
            let mut counts: Vec<(RunStatus, u64)> = Vec::new();
            for run in state.runs.values() {
                let status = run.execution.row.status;
                match counts.iter_mut().find(|(known, _)| *known == status) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((status, 1)),
                }
            }
            counts
        })
    }

    async fn load_events(
        &self,
        execution: ExecutionId,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>, Error> {
        self.of_run(execution, |run| {
            let skipped = usize::try_from(after_seq).unwrap_or(usize::MAX);
            run.events.iter().skip(skipped).take(limit).map(|event| (**event).clone()).collect()
        })
    }

    async fn load_events_back(
        &self,
        execution: ExecutionId,
        before_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>, Error> {
        self.of_run(execution, |run| {
            let end =
                usize::try_from(before_seq.saturating_sub(1)).unwrap_or(usize::MAX).min(run.events.len());
            run.events[..end].iter().rev().take(limit).map(|event| (**event).clone()).collect()
        })
    }

    async fn find_event(&self, execution: ExecutionId, event: EventId) -> Result<Option<Event>, Error> {
        self.of_run(execution, |run| run.event_ids.get(&event).map(|seq| run.event(*seq)))
    }

    async fn known_event_ids(
        &self,
        execution: ExecutionId,
        ids: &[EventId],
    ) -> Result<BTreeSet<EventId>, Error> {
        self.of_run(execution, |run| {
            ids.iter().copied().filter(|id| run.event_ids.contains_key(id)).collect()
        })
    }

    async fn load_snapshot(&self, execution: ExecutionId) -> Result<Option<Snapshot>, Error> {
        self.of_run(execution, |run| run.snapshot.clone())
    }

    async fn load_loop_results(
        &self,
        execution: ExecutionId,
        visit: VisitId,
        after: Option<u32>,
        limit: usize,
    ) -> Result<Vec<LoopResult>, Error> {
        let start = after.map_or(Bound::Included((visit, 0)), |index| Bound::Excluded((visit, index)));
        self.of_run(execution, |run| {
            let items = run.loop_results.range((start, Bound::Included((visit, u32::MAX))));
            items.take(limit).filter_map(|(_, seq)| LoopResult::from_event(run.event(*seq))).collect()
        })
    }
}

impl Run {
    fn event(&self, seq: u64) -> Event {
        (*self.events[seq as usize - 1]).clone()
    }
}
