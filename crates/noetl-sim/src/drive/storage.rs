//! The store of a simulation: in memory, where commits can be made to fail, or SQLite in a temporary folder.

use std::sync::Arc;

use noetl_store::{MemoryStore, Store};
use noetl_store_sqlite::{Options, SqliteStore, Synchronous};
use tempfile::TempDir;

/// Every so many seeds, one plays over SQLite.
const SQLITE_EVERY: u64 = 25;

pub struct Storage {
    pub store: Arc<dyn Store>,
    /// The store in memory, if it is that one.
    pub memory: Option<MemoryStore>,
    _folder: Option<TempDir>,
}

impl Storage {
    pub fn of_seed(seed: u64) -> Result<Storage, String> {
        if seed % SQLITE_EVERY != SQLITE_EVERY / 2 {
            let memory = MemoryStore::new();
            return Ok(Storage { store: Arc::new(memory.clone()), memory: Some(memory), _folder: None });
        }
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        // Power failures are not part of the simulation.
        let options = Options { synchronous: Synchronous::Normal, ..Options::default() };
        let store = SqliteStore::open(folder.path().join("noetl.db"), &options)
            .map_err(|error| format!("the store can't be opened: {error}"))?;
        Ok(Storage { store: Arc::new(store), memory: None, _folder: Some(folder) })
    }
}
