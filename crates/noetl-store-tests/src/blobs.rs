//! Blobs: found as they were put, and replaced by their key.

use std::sync::Arc;

use noetl_store::{Blob, Error, Store};

use crate::given::*;

pub async fn a_blob_is_found_as_it_was_put_last(store: Arc<dyn Store>) {
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let first = Blob::new("cell/execution=7/results/a.json", "application/json", bytes, at(1));
    store.put_blob(&first).await.unwrap();
    assert_eq!(store.find_blob(&first.key).await.unwrap(), Some(first.clone()));
    assert_eq!(store.find_blob("cell/execution=7").await.unwrap(), None);
    let second = Blob::new(&first.key, "text/plain", &b"other"[..], at(2));
    store.put_blob(&second).await.unwrap();
    assert_eq!(store.find_blob(&first.key).await.unwrap(), Some(second));
}

pub async fn a_blob_is_found_by_what_its_key_says_of_its_execution(store: Arc<dyn Store>) {
    let put = async |key: &str, text: &'static [u8], seconds| {
        let blob = Blob::new(key, "application/json", text, at(seconds));
        store.put_blob(&blob).await.unwrap();
        blob
    };
    put("cell/eu/execution=7/results/a/0/0/1.json", b"1", 1).await;
    let newer = put("cell/us/execution=7/results/a/0/0/1.json", b"2", 3).await;
    put("cell/ap/execution=7/results/a/0/0/1.json", b"3", 2).await;
    put("cell/eu/execution=77/results/a/0/0/1.json", b"4", 4).await;
    put("results/a/0/0/1.json", b"5", 5).await;
    let found = async |tail: &str| store.find_blob_by_tail(tail).await.unwrap();
    assert_eq!(found("/execution=7/results/a/0/0/1.json").await, Some(newer));
    assert_eq!(found("/execution=7/results/a/0/0/1").await, None);
    assert_eq!(found("results/a/0/0/1.json").await, None, "a tail begins with its execution");
    assert_eq!(found("%").await, None);
}

pub async fn a_blob_that_changed_is_an_error(store: Arc<dyn Store>) {
    let mut blob = Blob::new("a", "text/plain", &b"one"[..], at(1));
    blob.digest = Blob::new("a", "text/plain", &b"two"[..], at(1)).digest;
    store.put_blob(&blob).await.unwrap();
    let error = store.find_blob("a").await.expect_err("the bytes do not match their digest");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}
