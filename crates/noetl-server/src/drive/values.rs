//! Values that are stored aside, kept in memory up to a limit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noetl_engine::Values;
use noetl_store::{ResultRef, Store};
use noetl_types::{ExecutionId, Map, Outcome, Slot, StoredValue, Value, VisitId};

/// Recently used stored values, bounded by the size of their JSON.
#[derive(Debug)]
pub struct ValueCache {
    limit: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_uri: HashMap<String, (Value, usize, u64)>,
    bytes: usize,
    turn: u64,
}

/// Loop results are put together from this many events at a time.
const PAGE: usize = 500;

impl ValueCache {
    pub fn new(limit: usize) -> ValueCache {
        ValueCache { limit, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a value at hand. One that is larger than the limit stays until the next comes.
    pub fn keep(&self, uri: &str, value: Value) {
        let bytes = value.json_size_up_to(usize::MAX);
        let mut kept = self.kept();
        kept.turn += 1;
        let turn = kept.turn;
        if let Some((_, old, _)) = kept.by_uri.insert(uri.to_owned(), (value, bytes, turn)) {
            kept.bytes -= old;
        }
        kept.bytes += bytes;
        while kept.bytes > self.limit && kept.by_uri.len() > 1 {
            let oldest = kept.by_uri.iter().min_by_key(|(_, entry)| entry.2).map(|(uri, _)| uri.clone());
            let Some((_, bytes, _)) = oldest.and_then(|uri| kept.by_uri.remove(&uri)) else {
                break;
            };
            kept.bytes -= bytes;
        }
    }

    /// Loads a value into the cache and returns it.
    pub async fn load(&self, store: &dyn Store, stored: &StoredValue) -> Result<Value, noetl_store::Error> {
        match self.load_within(store, stored, usize::MAX).await? {
            Some(value) => Ok(value),
            None => Err(noetl_store::Error::NotFound { what: stored.uri.clone() }),
        }
    }

    /// As [`ValueCache::load`], for a value that takes at most about so many bytes; nothing for a larger one.
    pub async fn load_within(
        &self,
        store: &dyn Store,
        stored: &StoredValue,
        limit: usize,
    ) -> Result<Option<Value>, noetl_store::Error> {
        if let Some(value) = self.find(stored) {
            return Ok((value.json_size_up_to(limit) <= limit).then_some(value));
        }
        let value = match loop_reference(&stored.uri) {
            Some((execution, visit)) => {
                load_loop(self, store, execution, visit, &stored.extract, limit).await?
            }
            None if stored.bytes > limit as u64 => None,
            None => Some(load_result(store, &stored.uri).await?),
        };
        if let Some(value) = &value {
            self.keep(&stored.uri, value.clone());
        }
        Ok(value)
    }
}

impl Values for ValueCache {
    fn find(&self, stored: &StoredValue) -> Option<Value> {
        let mut kept = self.kept();
        kept.turn += 1;
        let turn = kept.turn;
        kept.by_uri.get_mut(&stored.uri).map(|entry| {
            entry.2 = turn;
            entry.0.clone()
        })
    }
}

async fn load_result(store: &dyn Store, uri: &str) -> Result<Value, noetl_store::Error> {
    let at: ResultRef =
        uri.parse().map_err(|_| noetl_store::Error::invalid(format!("{uri} names no result")))?;
    let Some(row) = store.find_result(&at).await? else {
        return Err(noetl_store::Error::NotFound { what: uri.to_owned() });
    };
    serde_json::from_slice(&row.content)
        .map_err(|error| noetl_store::Error::corrupt(uri, format!("it is not JSON: {error}")))
}

fn loop_reference(uri: &str) -> Option<(ExecutionId, VisitId)> {
    let (execution, visit) = uri.strip_prefix("noetl://execution/")?.split_once("/loop/")?;
    Some((ExecutionId(execution.parse().ok()?), VisitId(visit.parse().ok()?)))
}

/// The value of a loop step whose results are in the log, unless they take more than `limit` bytes.
async fn load_loop(
    cache: &ValueCache,
    store: &dyn Store,
    execution: ExecutionId,
    visit: VisitId,
    summary: &Value,
    limit: usize,
) -> Result<Option<Value>, noetl_store::Error> {
    // They are in the value twice, under both of their names.
    let mut left = limit / 2;
    let mut results: Vec<Value> = Vec::new();
    let mut after = None;
    loop {
        let page = store.load_loop_results(execution, visit, after, PAGE).await?;
        let Some(last) = page.last() else {
            break;
        };
        after = Some(last.index);
        for item in page {
            let Outcome::Finished { report, .. } = item.outcome else {
                continue;
            };
            let value = match noetl_engine::item_result(&report) {
                Slot::Inline(value) => value,
                Slot::Stored(stored) if stored.bytes > left as u64 => return Ok(None),
                Slot::Stored(stored) => match cache.find(&stored) {
                    Some(value) => value,
                    None => load_result(store, &stored.uri).await?,
                },
            };
            match left.checked_sub(value.json_size_up_to(left)) {
                Some(rest) => left = rest,
                None => return Ok(None),
            }
            let at = item.index as usize;
            if results.len() <= at {
                results.resize(at + 1, Value::Null);
            }
            results[at] = value;
        }
    }
    let mut map: Map = summary.as_map().cloned().unwrap_or_default();
    let results = Value::from(results);
    map.insert("results".into(), results.clone());
    map.insert("data".into(), results);
    Ok(Some(Value::Map(Arc::new(map))))
}
