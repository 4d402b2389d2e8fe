//! What the names in a template mean.

use std::fmt;
use std::sync::Arc;

use noetl_types::{Timestamp, Value};

/// Answers names, or the keys of something map-like, one at a time and only when a template asks.
pub trait Lookup: fmt::Debug + Send + Sync + 'static {
    /// The entry under this key.
    fn get(&self, key: &str) -> Option<View>;

    /// All of it as one value, for templates that print, iterate or pass on the whole.
    fn whole(&self) -> Option<Value> {
        None
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum View {
    /// Plain data.
    Value(Value),
    /// A result of a step or task: plain data which, unless it has such keys of its own, answers to `.data`, `.result`
    /// and `.context` with itself.
    Aliased(Value),
    /// Looked up lazily.
    Lazy(Arc<dyn Lookup>),
}

impl From<Value> for View {
    fn from(value: Value) -> View {
        View::Value(value)
    }
}

/// The names a template can see, and the instant `now()` gives.
#[derive(Clone, Debug)]
pub struct Scope {
    pub names: Arc<dyn Lookup>,
    pub now: Timestamp,
}

impl Scope {
    pub fn new(names: Arc<dyn Lookup>, now: Timestamp) -> Scope {
        Scope { names, now }
    }

    /// A scope over the keys of a map, for tests and simple uses.
    pub fn of(value: Value) -> Scope {
        Scope { names: Arc::new(MapNames(value)), now: Timestamp::default() }
    }
}

#[derive(Debug)]
struct MapNames(Value);

impl Lookup for MapNames {
    fn get(&self, key: &str) -> Option<View> {
        self.0.get(key).cloned().map(View::Value)
    }

    fn whole(&self) -> Option<Value> {
        Some(self.0.clone())
    }
}
