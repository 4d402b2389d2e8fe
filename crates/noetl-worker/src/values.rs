//! Values that are stored aside: loaded when a template asks, and kept at hand within a bound.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noetl_engine::Values;
use noetl_types::{ExecutionId, StoredValue, Value};

use crate::{ControlError, ControlPlane};

/// Loads values and keeps the ones used last for all commands of the worker.
pub(crate) struct ValueLoader {
    control: Arc<dyn ControlPlane>,
    cache: Mutex<Cache>,
    /// Who loads a value holds its lock, so that a loop of a thousand items loads it once.
    loading: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl ValueLoader {
    pub fn new(control: Arc<dyn ControlPlane>, limit: usize) -> ValueLoader {
        ValueLoader { control, cache: Mutex::new(Cache::new(limit)), loading: Mutex::default() }
    }

    async fn load(&self, execution: ExecutionId, stored: &StoredValue) -> Result<Value, ControlError> {
        if let Some(value) = self.find(stored) {
            return Ok(value);
        }
        let turn = lock(&self.loading).entry(stored.uri.clone()).or_default().clone();
        let _turn = turn.lock().await;
        if let Some(value) = self.find(stored) {
            return Ok(value);
        }
        let loaded = self.control.load_value(execution, stored).await;
        if let Ok(value) = &loaded {
            lock(&self.cache).insert(&stored.uri, value.clone());
        }
        lock(&self.loading).remove(&stored.uri);
        loaded
    }

    fn find(&self, stored: &StoredValue) -> Option<Value> {
        lock(&self.cache).get(&stored.uri)
    }
}

impl fmt::Debug for ValueLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueLoader").field("bytes", &lock(&self.cache).bytes).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The values of one command. What was loaded for it stays at hand to its end, whatever the bound.
#[derive(Debug)]
pub(crate) struct CommandValues {
    loader: Arc<ValueLoader>,
    loaded: Mutex<HashMap<String, Value>>,
}

impl CommandValues {
    pub fn new(loader: Arc<ValueLoader>) -> CommandValues {
        CommandValues { loader, loaded: Mutex::default() }
    }

    pub async fn load(&self, execution: ExecutionId, stored: &StoredValue) -> Result<(), ControlError> {
        let value = self.loader.load(execution, stored).await?;
        lock(&self.loaded).insert(stored.uri.clone(), value);
        Ok(())
    }
}

impl Values for CommandValues {
    fn find(&self, stored: &StoredValue) -> Option<Value> {
        let own = lock(&self.loaded).get(&stored.uri).cloned();
        own.or_else(|| self.loader.find(stored))
    }
}

/// Values by address, the ones used last, up to a number of bytes.
#[derive(Debug)]
struct Cache {
    limit: usize,
    bytes: usize,
    entries: HashMap<String, Entry>,
    /// Addresses by the time of their last use.
    by_use: BTreeMap<u64, String>,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    value: Value,
    bytes: usize,
    used: u64,
}

impl Cache {
    fn new(limit: usize) -> Cache {
        Cache { limit, bytes: 0, entries: HashMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    fn get(&mut self, uri: &str) -> Option<Value> {
        let entry = self.entries.get_mut(uri)?;
        self.uses += 1;
        let address = self.by_use.remove(&entry.used).expect("every entry is listed by its use");
        self.by_use.insert(self.uses, address);
        entry.used = self.uses;
        Some(entry.value.clone())
    }

    /// A value larger than the whole cache is not kept.
    fn insert(&mut self, uri: &str, value: Value) {
        let bytes = value.json_size_up_to(self.limit);
        if bytes > self.limit || self.entries.contains_key(uri) {
            return;
        }
        while self.bytes + bytes > self.limit {
            let (_, oldest) = self.by_use.pop_first().expect("a cache that holds bytes has entries");
            let entry = self.entries.remove(&oldest).expect("every use is of an entry");
            self.bytes -= entry.bytes;
        }
        self.uses += 1;
        self.by_use.insert(self.uses, uri.to_owned());
        self.entries.insert(uri.to_owned(), Entry { value, bytes, used: self.uses });
        self.bytes += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Value {
        Value::text("x".repeat(length))
    }

    #[test]
    fn the_value_that_was_not_used_for_longest_makes_room() {
        let mut cache = Cache::new(100);
        cache.insert("a", text(40));
        cache.insert("b", text(40));
        assert!(cache.get("a").is_some());
        cache.insert("c", text(40));
        assert!(cache.get("b").is_none(), "b was used before a");
        assert!(cache.get("a").is_some() && cache.get("c").is_some());
        assert!(cache.bytes <= 100);
    }

    #[test]
    fn a_value_larger_than_the_cache_displaces_nothing() {
        let mut cache = Cache::new(100);
        cache.insert("small", text(10));
        cache.insert("huge", text(1000));
        assert!(cache.get("huge").is_none());
        assert!(cache.get("small").is_some());
    }
}
