//! The results of long loops. They are not part of a run's state: they are put together from its events when a template asks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use noetl_engine::{Values, item_result};
use noetl_types::{EventBody, Item, Outcome, Slot, StoredValue, Value};

use super::Live;

/// What was put together, by its address.
#[derive(Debug, Default)]
pub struct Shelf(Mutex<BTreeMap<String, Value>>);

impl Values for Shelf {
    fn find(&self, stored: &StoredValue) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&stored.uri).cloned()
    }
}

impl Shelf {
    /// Puts what is missing together from the events of the runs it is about.
    pub fn fetch<'l>(&self, missing: &[Arc<StoredValue>], runs: impl Iterator<Item = &'l Live> + Clone) {
        for stored in missing {
            let mut parts = stored.uri.trim_start_matches("noetl://execution/").split('/');
            let (execution, visit) = (parts.next(), parts.next_back());
            let live = runs.clone().find(|live| Some(live.run.execution().to_string().as_str()) == execution);
            let results = live.map(|live| results_of(live, visit)).unwrap_or_default();
            let mut map = stored.extract.as_map().cloned().unwrap_or_default();
            map.insert("results".into(), results.clone());
            map.insert("data".into(), results);
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(stored.uri.clone(), map.into());
        }
    }

    /// The whole value.
    pub fn whole(&self, slot: &Slot) -> Value {
        match slot {
            Slot::Inline(value) => value.clone(),
            Slot::Stored(stored) => self.find(stored).unwrap_or_else(|| stored.extract.clone()),
        }
    }
}

/// What the items of a visit came to, in their order.
fn results_of(live: &Live, visit: Option<&str>) -> Value {
    let mut results = BTreeMap::new();
    for event in &live.log {
        if let EventBody::CallDone { command, outcome: Outcome::Finished { report, .. }, .. }
        | EventBody::CallFailed { command, outcome: Outcome::Finished { report, .. }, .. } = &event.body
            && visit == Some(command.visit.0.to_string().as_str())
            && let Item::At(index) = command.item
            && let Slot::Inline(value) = item_result(report)
        {
            results.insert(index, value);
        }
    }
    Value::list(results.into_values())
}
