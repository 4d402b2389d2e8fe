//! `keychain` as templates see it in a case: what the case gives, and a note of what it does not.

use std::sync::{Arc, Mutex, PoisonError};

use noetl_expr::{Lookup, View};
use noetl_types::{Map, Value};

#[derive(Debug, Default)]
pub struct Keychain {
    given: Map,
    missing: Mutex<Option<Arc<str>>>,
}

impl Keychain {
    pub fn new(given: Map) -> Keychain {
        Keychain { given, missing: Mutex::default() }
    }

    /// An entry that was read and is not there.
    pub fn missing(&self) -> Option<Arc<str>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Lookup for Keychain {
    fn get(&self, key: &str) -> Option<View> {
        let found = self.given.get(key).cloned();
        if found.is_none() {
            let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            missing.get_or_insert_with(|| key.into());
        }
        found.map(View::Value)
    }

    fn whole(&self) -> Option<Value> {
        Some(self.given.clone().into())
    }
}
