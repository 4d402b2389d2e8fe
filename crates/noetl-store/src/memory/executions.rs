//! Reading executions.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{Event, EventId, ExecutionId, RunStatus, VisitId};

use super::MemoryStore;
use super::state::{Run, State};
use crate::{
    Error, EventFilter, Execution, ExecutionFilter, Executions, LoopResult, MatchCount, PathFilter,
    ROUNDED_ID, SHORT_SEARCH_REACH, Snapshot, searched_part,
};

fn matches(filter: &ExecutionFilter, execution: &Execution) -> bool {
    let row = &execution.row;
    (filter.statuses.is_empty() || filter.statuses.contains(&row.status))
        && filter.path.as_ref().is_none_or(|path| match path {
            PathFilter::Is(path) => *row.path == **path,
            PathFilter::StartsWith(prefix) => row.path.starts_with(prefix.as_str()),
            PathFilter::Contains(text) => contains(&row.path, text),
        })
        && filter.catalog_id.is_none_or(|catalog| row.catalog_id == catalog)
        && filter.pool.as_ref().is_none_or(|pool| *row.pool == **pool)
        && filter.parent.is_none_or(|parent| row.parent == Some(parent))
        && filter.started_from.is_none_or(|from| row.started_at >= from)
        && filter.started_before.is_none_or(|before| row.started_at < before)
        && filter.labels.iter().all(|(key, value)| row.labels.get(key) == Some(value))
        && filter.search.as_ref().is_none_or(|text| {
            contains(&row.path, text)
                || execution.id.to_string().starts_with(text.as_str())
                || row.error.as_ref().is_some_and(|error| contains(searched_part(error), text))
                || row
                    .labels
                    .iter()
                    .any(|(key, value)| contains(searched_part(&format!("{key}={value}")), text))
        })
}

fn contains(whole: &str, part: &str) -> bool {
    whole.to_ascii_lowercase().contains(&part.to_ascii_lowercase())
}

/// The executions that match, in the order of the list that begins with them.
fn list<'a>(state: &'a State, filter: &'a ExecutionFilter) -> Box<dyn Iterator<Item = &'a Execution> + 'a> {
    let start = filter.after.map_or(Bound::Unbounded, Bound::Excluded);
    let end = filter.before.map_or(Bound::Unbounded, Bound::Excluded);
    if let (Some(after), Some(before)) = (filter.after, filter.before)
        && after >= before
    {
        return Box::new(std::iter::empty());
    }
    let reach = if filter.has_short_text() { SHORT_SEARCH_REACH } else { usize::MAX };
    let within = state.runs.range((start, end)).map(|(_, run)| &run.execution);
    let ordered: Box<dyn Iterator<Item = &Execution>> = match filter.is_oldest_first() {
        true => Box::new(within),
        false => Box::new(within.rev()),
    };
    Box::new(ordered.take(reach).filter(|execution| matches(filter, execution)))
}

/// Whether a place in the order of events is within the page of a filter.
fn is_on_page(filter: &EventFilter, seq: u64) -> bool {
    filter.after_seq.is_none_or(|after| seq > after) && filter.before_seq.is_none_or(|before| seq < before)
}

impl Run {
    /// The events that match a filter, oldest first, wherever its page begins.
    fn matching_events(&self, filter: &EventFilter) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        let near = |since: EventId| {
            let low = EventId(since.0.saturating_sub(ROUNDED_ID));
            let high = EventId(since.0.saturating_add(ROUNDED_ID));
            self.event_ids.range(low..=high).map(|(_, seq)| *seq).min()
        };
        let first_seq = filter.since.and_then(near);
        self.events.iter().filter(move |event| {
            let is_wanted = filter.event_types.is_empty()
                || filter.event_types.iter().any(|wanted| *wanted == event.body.type_name());
            is_wanted
                && match (first_seq, filter.since) {
                    (Some(first), _) => event.seq >= first,
                    (None, Some(since)) => event.id >= since,
                    (None, None) => true,
                }
        })
    }
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
        self.with(|state| {
            let page = list(state, filter).skip(filter.offset).take(limit);
            let mut page: Vec<Execution> = page.cloned().collect();
            if filter.is_oldest_first() {
                page.reverse();
            }
            page
        })
    }

    async fn count_matching(&self, filter: &ExecutionFilter, at_most: u64) -> Result<MatchCount, Error> {
        let anywhere = ExecutionFilter { before: None, after: None, ..filter.clone() };
        self.with(|state| {
            let all = list(state, &anywhere).count() as u64;
            if filter.asks_for_statuses_only() {
                return MatchCount { count: all, is_exact: true };
            }
            MatchCount { count: all.min(at_most), is_exact: all <= at_most }
        })
    }

    async fn list_descendants(
        &self,
        execution: ExecutionId,
        limit: usize,
    ) -> Result<Vec<ExecutionId>, Error> {
        self.with(|state| {
            let mut below = BTreeSet::new();
            let mut parents = vec![execution];
            while let Some(parent) = parents.pop() {
                let all = state.runs.values().map(|run| &run.execution);
                let children = all.filter(|run| run.row.parent == Some(parent)).map(|run| run.id);
                parents.extend(children.filter(|child| *child != execution && below.insert(*child)));
            }
            below.into_iter().take(limit).collect()
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

    async fn list_events(
        &self,
        execution: ExecutionId,
        filter: &EventFilter,
        limit: usize,
    ) -> Result<Vec<Event>, Error> {
        self.of_run(execution, |run| {
            let on_page = run.matching_events(filter).filter(|event| is_on_page(filter, event.seq));
            let event = |event: &Arc<Event>| (**event).clone();
            match filter.newest_first {
                true => on_page.rev().take(limit).map(event).collect(),
                false => on_page.take(limit).map(event).collect(),
            }
        })
    }

    async fn count_events(&self, execution: ExecutionId, filter: &EventFilter) -> Result<u64, Error> {
        self.of_run(execution, |run| run.matching_events(filter).count() as u64)
    }

    async fn find_execution_of_event(&self, event: EventId) -> Result<Option<ExecutionId>, Error> {
        self.with(|state| {
            let runs = state.runs.iter().filter(|(_, run)| run.event_ids.contains_key(&event));
            let subscriptions = state.subscriptions.iter();
            let subscriptions =
                subscriptions.filter(|(_, log)| log.events.iter().any(|known| known.id == event));
            runs.map(|(id, _)| *id).chain(subscriptions.map(|(id, _)| *id)).min()
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
