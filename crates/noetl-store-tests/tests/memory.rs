//! The store in memory behaves as every store.

use std::sync::Arc;

use noetl_store::{MemoryStore, Store};

async fn memory_store() -> (Arc<dyn Store>, ()) {
    (Arc::new(MemoryStore::new()), ())
}

noetl_store_tests::conformance!(memory_store);
