//! The store in SQLite behaves as every store.

use std::sync::Arc;

use noetl_store::Store;
use noetl_store_sqlite::{Options, SqliteStore};
use tempfile::TempDir;

async fn sqlite_store() -> (Arc<dyn Store>, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let store = SqliteStore::open(folder.path().join("noetl.db"), &Options::default())
        .expect("a new file can be opened");
    (Arc::new(store), folder)
}

noetl_store_tests::conformance!(sqlite_store);
