//! Reading the events of an execution.

use noetl_store::EventFilter;
use noetl_types::{Event, EventId, ExecutionId};

use crate::app::{App, Error};

/// Which events, counted in pages from the newest.
#[derive(Clone, Debug, Default)]
pub struct EventQuery {
    /// Only these types; empty for all.
    pub types: Vec<String>,
    /// Only events from about this one on.
    pub since: Option<EventId>,
    /// From 1.
    pub page: u64,
    pub page_size: u64,
}

/// A page of events with the number of all that match.
#[derive(Clone, Debug, Default)]
pub struct Events {
    pub events: Vec<Event>,
    pub total: u64,
}

impl App {
    /// Newest first. `last` is the seq of the newest event to look at.
    pub async fn page_events(&self, id: ExecutionId, last: u64, query: &EventQuery) -> Result<Events, Error> {
        let skip = query.page.saturating_sub(1).saturating_mul(query.page_size);
        let mut filter = EventFilter {
            event_types: query.types.clone(),
            since: query.since,
            before_seq: Some(last.saturating_add(1)),
            newest_first: true,
            ..EventFilter::default()
        };
        // Seqs have no gaps, so that the place of a page of all events is known.
        let is_everything = query.types.is_empty() && query.since.is_none();
        let total = if is_everything { last } else { self.store().count_events(id, &filter).await? };
        if skip >= total {
            return Ok(Events { events: Vec::new(), total });
        }
        let passed = if is_everything {
            filter.before_seq = Some(last - skip + 1);
            0
        } else {
            skip
        };
        let wanted = usize::try_from(passed + query.page_size.min(total - skip)).unwrap_or(usize::MAX);
        let mut events = self.store().list_events(id, &filter, wanted).await?;
        events.drain(..usize::try_from(passed).unwrap_or(usize::MAX).min(events.len()));
        Ok(Events { events, total })
    }

    /// The newest events, oldest first.
    pub async fn newest_events(&self, id: ExecutionId, last: u64, limit: u64) -> Result<Vec<Event>, Error> {
        let after = last.saturating_sub(limit);
        let limit = usize::try_from(last - after).unwrap_or(usize::MAX);
        Ok(self.store().load_events(id, after, limit).await?)
    }
}
