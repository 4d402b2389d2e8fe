//! Values that are stored aside. The engine never loads one: it says which it needs and is asked again.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use noetl_expr::{Lookup, View};
use noetl_types::{Slot, StoredValue, Value};

/// Stored values that are at hand. The content behind a reference never changes, so asking is as pure as reading.
pub trait Values: fmt::Debug + Send + Sync + 'static {
    fn find(&self, stored: &StoredValue) -> Option<Value>;
}

/// No stored value is at hand.
#[derive(Debug, Default)]
pub struct NoValues;

impl Values for NoValues {
    fn find(&self, _stored: &StoredValue) -> Option<Value> {
        None
    }
}

/// Looks values up for one evaluation and remembers what was not at hand.
#[derive(Debug)]
pub struct Resolver {
    values: Arc<dyn Values>,
    missing: Mutex<Vec<Arc<StoredValue>>>,
}

impl Resolver {
    pub fn new(values: &Arc<dyn Values>) -> Arc<Resolver> {
        Arc::new(Resolver { values: values.clone(), missing: Mutex::default() })
    }

    pub fn load(&self, slot: &Slot) -> Option<Value> {
        match slot {
            Slot::Inline(value) => Some(value.clone()),
            Slot::Stored(stored) => self.load_stored(stored),
        }
    }

    fn load_stored(&self, stored: &Arc<StoredValue>) -> Option<Value> {
        let found = self.values.find(stored);
        if found.is_none() {
            let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            if !missing.iter().any(|other| other.uri == stored.uri) {
                missing.push(stored.clone());
            }
        }
        found
    }

    /// What was asked for and not at hand. An evaluation during which something was missing counts for nothing.
    pub fn take_missing(&self) -> Vec<Arc<StoredValue>> {
        std::mem::take(&mut self.missing.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A slot as plain data.
pub fn plain_view(slot: &Slot, resolver: &Arc<Resolver>) -> View {
    match slot {
        Slot::Inline(value) => View::Value(value.clone()),
        Slot::Stored(stored) => {
            View::Lazy(Arc::new(StoredView { stored: stored.clone(), resolver: resolver.clone() }))
        }
    }
}

/// A slot as the result of a step or task, which also answers to `data`, `result` and `context`.
pub fn result_view(slot: &Slot, resolver: &Arc<Resolver>) -> View {
    match slot {
        Slot::Inline(value) => View::Aliased(value.clone()),
        Slot::Stored(_) => plain_view(slot, resolver),
    }
}

/// A stored value: what is known of it is answered at once, the rest when it is loaded.
#[derive(Debug)]
struct StoredView {
    stored: Arc<StoredValue>,
    resolver: Arc<Resolver>,
}

impl Lookup for StoredView {
    fn get(&self, key: &str) -> Option<View> {
        match key {
            "_ref" | "_uri" => return Some(View::Value(self.stored.uri.as_str().into())),
            "_store" => return Some(View::Value(self.stored.store.as_str().into())),
            "_bytes" => return Some(View::Value(self.stored.bytes.into())),
            _ => {}
        }
        if let Some(value) = self.stored.extract.get(key) {
            return Some(View::Value(value.clone()));
        }
        let whole = self.whole()?;
        if let Some(value) = whole.get(key) {
            return Some(View::Value(value.clone()));
        }
        matches!(key, "data" | "result" | "context").then_some(View::Value(whole))
    }

    fn whole(&self) -> Option<Value> {
        self.resolver.load_stored(&self.stored)
    }
}
