//! Reading the events of an execution.

use noetl_types::{Event, EventId, ExecutionId};

use crate::app::{App, Error};

/// Which events, counted in pages from the newest.
#[derive(Clone, Debug, Default)]
pub struct EventQuery {
    /// Only these types; empty for all.
    pub types: Vec<String>,
    /// Only events with a higher id.
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

/// Events looked at at a time.
const PAGE: usize = 1000;

impl App {
    /// Newest first. `last` is the seq of the newest event to look at.
    pub async fn page_events(&self, id: ExecutionId, last: u64, query: &EventQuery) -> Result<Events, Error> {
        let skip = query.page.saturating_sub(1).saturating_mul(query.page_size);
        if query.types.is_empty() && query.since.is_none() {
            // Seqs have no gaps, so the place of a page is known.
            let before = last.saturating_sub(skip).saturating_add(1);
            let limit = usize::try_from(query.page_size).unwrap_or(PAGE);
            let events = match before {
                0 | 1 => Vec::new(),
                before => self.store().load_events_back(id, before, limit).await?,
            };
            return Ok(Events { events, total: last });
        }
        let mut found = Events::default();
        let mut before = last.saturating_add(1);
        loop {
            let events = self.store().load_events_back(id, before, PAGE).await?;
            let is_last = events.len() < PAGE;
            before = events.last().map_or(0, |event| event.seq);
            for event in events {
                if query.since.is_some_and(|since| event.id <= since) {
                    continue;
                }
                if !query.types.is_empty() && !query.types.iter().any(|name| name == event.body.type_name()) {
                    continue;
                }
                if found.total >= skip && found.total - skip < query.page_size {
                    found.events.push(event);
                }
                found.total += 1;
            }
            if is_last {
                return Ok(found);
            }
        }
    }

    /// The newest events, oldest first.
    pub async fn newest_events(&self, id: ExecutionId, last: u64, limit: u64) -> Result<Vec<Event>, Error> {
        let after = last.saturating_sub(limit);
        let limit = usize::try_from(last - after).unwrap_or(PAGE);
        Ok(self.store().load_events(id, after, limit).await?)
    }
}
