//! Values that are stored aside: where they are kept, and which of them are at hand.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use noetl_engine::Values;
use noetl_types::{Slot, StoredValue, Value, extract_of};

/// Values in memory. What is not here must be loaded first.
#[derive(Debug, Default)]
pub struct AtHand(Mutex<BTreeMap<String, Value>>);

impl AtHand {
    fn values(&self) -> MutexGuard<'_, BTreeMap<String, Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn keep(&self, uri: &str, value: Value) {
        self.values().insert(uri.to_owned(), value);
    }

    pub fn forget_all(&self) {
        self.values().clear();
    }
}

impl Values for AtHand {
    fn find(&self, stored: &StoredValue) -> Option<Value> {
        self.values().get(&stored.uri).cloned()
    }
}

/// Replaces a value over the limit with a reference, and returns it with its address.
pub fn put_aside(slot: &mut Slot, limit: usize, uri: String) -> Option<(String, Value)> {
    let Slot::Inline(value) = slot else {
        return None;
    };
    let bytes = value.json_size_up_to(limit);
    if bytes <= limit {
        return None;
    }
    let value = value.clone();
    *slot = Slot::Stored(
        StoredValue {
            uri: uri.clone(),
            store: "kv".to_owned(),
            bytes: bytes as u64,
            sha256: None,
            media_type: "application/json".to_owned(),
            extract: extract_of(&value, &[]),
        }
        .into(),
    );
    Some((uri, value))
}
