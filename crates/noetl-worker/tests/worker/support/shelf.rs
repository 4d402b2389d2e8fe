//! Values that are too large for their events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use noetl_engine::Values;
use noetl_types::{
    Event, EventBody, ExecutionId, Item, Map, Outcome, Report, Slot, StoredValue, Value, extract_of, tier_of,
};

#[derive(Debug, Default)]
pub struct Shelf(Mutex<HashMap<String, Value>>);

impl Values for Shelf {
    fn find(&self, stored: &StoredValue) -> Option<Value> {
        self.values().get(&stored.uri).cloned()
    }
}

impl Shelf {
    fn values(&self) -> MutexGuard<'_, HashMap<String, Value>> {
        self.0.lock().expect("nobody panics with the shelf in hand")
    }

    pub fn put(&self, execution: ExecutionId, name: &str, value: &Value, select: &[Arc<str>]) -> StoredValue {
        let bytes = value.to_string().len() as u64;
        let mut values = self.values();
        let uri = format!("noetl://execution/{execution}/result/{name}/{}", values.len() + 1);
        values.insert(uri.clone(), value.clone());
        StoredValue {
            uri,
            store: tier_of(bytes).to_owned(),
            bytes,
            sha256: None,
            media_type: "application/json".to_owned(),
            extract: extract_of(value, select),
        }
    }

    /// Moves a value that is too large to the shelf.
    pub fn put_aside(&self, execution: ExecutionId, name: &str, slot: &mut Slot, select: &[Arc<str>]) {
        if let Slot::Inline(value) = slot
            && value.json_size_up_to(Slot::INLINE_LIMIT) > Slot::INLINE_LIMIT
        {
            *slot = Slot::Stored(Arc::new(self.put(execution, name, value, select)));
        }
    }

    /// Puts the results of a loop together from the events of its items.
    pub fn compose_loop(&self, stored: &StoredValue, log: &[Event]) {
        let visit = stored.uri.rsplit('/').next().and_then(|visit| visit.parse::<u32>().ok());
        let mut results: Vec<Value> = Vec::new();
        for event in log {
            let (EventBody::CallDone { command, outcome, .. }
            | EventBody::CallFailed { command, outcome, .. }) = &event.body
            else {
                continue;
            };
            let (Item::At(index), Outcome::Finished { report, .. }) = (command.item, outcome) else {
                continue;
            };
            if Some(command.visit.0) == visit {
                let at = index as usize;
                results.resize(results.len().max(at + 1), Value::Null);
                results[at] = self.item_result(report);
            }
        }
        let mut whole = stored.extract.as_map().cloned().unwrap_or_default();
        whole.insert("results".into(), results.clone().into());
        whole.insert("data".into(), results.into());
        self.values().insert(stored.uri.clone(), whole.into());
    }

    fn item_result(&self, report: &Report) -> Value {
        let data = match &report.data {
            Slot::Inline(value) => value.clone(),
            Slot::Stored(stored) => self.find(stored).expect("what was put aside is on the shelf"),
        };
        match &report.error {
            None => data,
            Some(error) => Map::from_iter([
                ("status".into(), "error".into()),
                ("error".into(), error.to_value()),
                ("data".into(), data),
            ])
            .into(),
        }
    }
}
