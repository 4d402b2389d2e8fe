//! Executions of a data folder.

use std::path::Path;

use anyhow::{Context, Result};
use noetl_server::drive::ValueCache;
use noetl_store::Store;
use noetl_types::{Event, EventBody, ExecutionId, Slot};

use super::{History, plan_of};
use crate::command::data::{RunOf, wait};

const PAGE: usize = 500;

/// Values are loaded once and used once, so few are kept.
const VALUES_KEPT: usize = 1024 * 1024;

pub fn history(run: &RunOf, data: &Path) -> Result<History> {
    wait(async {
        let (store, execution) = run.open(data).await?;
        let events = events(&*store, execution).await?;
        let started = events.iter().find_map(|event| match &event.body {
            EventBody::PlaybookStarted(started) => Some(started),
            _ => None,
        });
        let catalog_id = started.context("the run has no events")?.catalog_id;
        let entry = store.find_entry(catalog_id).await?;
        let entry = entry.context("the playbook of the run is gone from the catalog")?;
        Ok((plan_of(&entry.entry.content)?, events))
    })
}

/// The events of a run, with the values that were stored aside.
async fn events(store: &dyn Store, execution: ExecutionId) -> Result<Vec<Event>> {
    let values = ValueCache::new(VALUES_KEPT);
    let mut events = Vec::new();
    loop {
        let after = events.last().map_or(0, |event: &Event| event.seq);
        let mut page = store.load_events(execution, after, PAGE).await?;
        for slot in page.iter_mut().flat_map(|event| event.body.slots_mut()) {
            if let Slot::Stored(stored) = slot {
                *slot = Slot::Inline(values.load(store, stored).await?);
            }
        }
        let is_last = page.len() < PAGE;
        events.append(&mut page);
        if is_last {
            return Ok(events);
        }
    }
}
