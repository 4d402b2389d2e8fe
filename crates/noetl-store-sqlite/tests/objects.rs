//! Values of a mebibyte and more are kept as objects beside the file.

use std::sync::Arc;

use noetl_store::{Error, MemoryObjects, Objects, ResultRef, ResultRow, Results};
use noetl_store_sqlite::{Options, SqliteStore, query};
use noetl_types::{ExecutionId, Timestamp, Value};

const LARGE: usize = 3 << 20;

fn row(id: i64, bytes: usize) -> ResultRow {
    let at = ResultRef { execution: ExecutionId(1), name: "rows".into(), id };
    ResultRow::json(at, vec![b'1'; bytes], Timestamp(0))
}

fn open(folder: &tempfile::TempDir, objects: &MemoryObjects) -> SqliteStore {
    let options = Options { objects: Some(Arc::new(objects.clone())), ..Options::default() };
    SqliteStore::open(folder.path().join("noetl.db"), &options).expect("a store")
}

#[tokio::test]
async fn a_large_value_leaves_only_a_pointer_in_the_file_and_is_found_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let objects = MemoryObjects::default();
    let store = open(&folder, &objects);
    for row in [row(1, 1000), row(2, LARGE)] {
        store.put_result(&row).await.expect("it is stored");
        store.put_result(&row).await.expect("twice is fine");
        assert_eq!(store.find_result(&row.at).await.expect("readable"), Some(row.clone()));
        assert_eq!(store.find_latest_result(row.at.execution, "rows").await.expect("readable"), Some(row));
    }
    assert_eq!(objects.keys().len(), 1);
    let listed = store.list_results(ExecutionId(1), None, 10).await.expect("readable");
    let sizes: Vec<_> = listed.iter().map(|info| (info.size, &*info.media_type)).collect();
    assert_eq!(sizes, [(1000, "application/json"), (LARGE as u64, "application/json")]);
    assert_eq!(listed[1].sha256, row(2, LARGE).sha256);
    let sql = "SELECT max(length(data)) FROM noetl.result_store";
    let largest = query(folder.path().join("noetl.db"), sql, 1).expect("readable").rows[0][0].clone();
    assert!(largest.as_i64().is_some_and(|bytes| bytes <= 1000), "{largest}");
    let other = ResultRow { content: vec![b'2'; LARGE].into(), sha256: "0".repeat(64), ..row(2, LARGE) };
    assert!(matches!(store.put_result(&other).await, Err(Error::Conflict { .. })));
    assert_eq!(store.find_result(&other.at).await.expect("readable"), Some(row(2, LARGE)), "it is as it was");
}

#[tokio::test]
async fn objects_that_nothing_points_to_are_collected_and_the_others_stay() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let objects = MemoryObjects::default();
    let store = open(&folder, &objects);
    store.put_result(&row(1, LARGE)).await.expect("it is stored");
    let kept = objects.keys();
    // What a crash before the commit leaves behind, for a new value and for one that is there.
    for garbage in ["1/2-0123456789abcdef", "1/1-0123456789abcdef", "7/7-0123456789abcdef"] {
        objects.put(garbage, vec![0].into()).await.expect("it is stored");
    }
    objects.put("somebody elses", vec![0].into()).await.expect("it is stored");
    assert_eq!(store.collect_objects(Timestamp(1)).await.expect("it works"), 3);
    let mut left = kept;
    left.push("somebody elses".to_owned());
    assert_eq!(objects.keys(), left);
    assert!(store.find_result(&row(1, LARGE).at).await.expect("readable").is_some());
}

#[tokio::test]
async fn a_store_without_its_objects_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(&folder, &MemoryObjects::default());
    store.put_result(&row(1, LARGE)).await.expect("it is stored");
    drop(store);
    let store = SqliteStore::open(folder.path().join("noetl.db"), &Options::default()).expect("a store");
    let found = store.find_result(&row(1, LARGE).at).await;
    assert!(found.is_err_and(|error| error.to_string().contains("no place for objects")));
    assert_eq!(store.collect_objects(Timestamp(1)).await.expect("nothing to do"), 0);
    let sql = "SELECT count(*) FROM noetl.result_store";
    let rows = query(folder.path().join("noetl.db"), sql, 1).expect("readable").rows;
    assert_eq!(rows, [[Value::Int(1)]]);
}
