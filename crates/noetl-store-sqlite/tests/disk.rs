//! Disks that are full, fail or cannot be written: a clear error, and nothing that was acknowledged is lost.
#![cfg(unix)]

mod common;

use std::path::{Path, PathBuf};

use common::*;
use noetl_store::{Catalog, Error, Store};
use noetl_store_sqlite::{Options, SqliteStore};

/// Commits until something fails, and gives the last acknowledged seq with the error.
async fn commit_until_it_fails(store: &SqliteStore, execution: i64) -> (u64, Error) {
    let mut seq = 0;
    loop {
        match commit(store, vec![write(execution, seq, 4, 5_000)]).await {
            Ok(()) => seq += 4,
            Err(error) => return (seq, error),
        }
        assert!(seq < 100_000, "the disk never fails");
    }
}

/// The folder of the test when it runs in a process of its own.
fn own_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(Into::into)
}

/// Runs the test again on a small disk of its own. Says so and passes where that is not allowed: the test with a file
/// limit below needs no rights.
fn on_a_small_disk(test: &str, megabytes: u32) {
    if may_mount() {
        let folder = tempfile::tempdir().unwrap();
        passes_again(test, folder.path(), &small_disk(folder.path(), megabytes));
    } else {
        eprintln!("{test}: this user may not mount file systems, so nothing was tested");
    }
}

#[tokio::test]
async fn a_full_disk_is_an_error_that_passes_when_there_is_room_again() {
    let Some(folder) = own_folder() else {
        return on_a_small_disk("a_full_disk_is_an_error_that_passes_when_there_is_room_again", 6);
    };
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![1; 2_000_000]).unwrap();
    let database = folder.join("noetl.db");
    let store = open(&database);
    let (acknowledged, error) = commit_until_it_fails(&store, 7).await;
    assert!(acknowledged > 0);
    assert!(matches!(error, Error::Full { .. }), "{error}");
    assert!(error.to_string().contains("free some space"), "{error}");

    assert_eq!(
        gapless_seq(&store, 7).await,
        acknowledged,
        "everything acknowledged is there, and nothing else"
    );
    let again = commit(&store, vec![write(7, acknowledged, 4, 100_000)]).await;
    assert!(matches!(again, Err(Error::Full { .. })), "it stays full");
    store.check().await.expect("reading goes on");

    std::fs::remove_file(&ballast).unwrap();
    commit(&store, vec![write(7, acknowledged, 4, 5_000)]).await.expect("there is room again");
    drop(store);
    assert_eq!(gapless_seq(&open(&database), 7).await, acknowledged + 4);
}

#[tokio::test]
async fn a_disk_that_is_full_from_the_beginning_is_an_error_at_opening() {
    let Some(folder) = own_folder() else {
        return on_a_small_disk("a_disk_that_is_full_from_the_beginning_is_an_error_at_opening", 1);
    };
    let _ = std::fs::write(folder.join("ballast"), vec![1; 2_000_000]);
    let error =
        SqliteStore::open(folder.join("noetl.db"), &Options::default()).expect_err("there is no room");
    assert!(matches!(error, Error::Full { .. }), "{error}");
}

#[tokio::test]
async fn a_read_only_file_system_is_an_error_at_opening() {
    let Some(folder) = own_folder() else {
        return on_a_small_disk("a_read_only_file_system_is_an_error_at_opening", 4);
    };
    let database = folder.join("noetl.db");
    commit(&open(&database), vec![write(7, 0, 4, 100)]).await.unwrap();
    remount(&folder, "ro");
    let error = SqliteStore::open(&database, &Options::default()).expect_err("it cannot be written");
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    let error = SqliteStore::open(folder.join("other.db"), &Options::default()).expect_err("nor made");
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    remount(&folder, "rw");
    assert_eq!(gapless_seq(&open(&database), 7).await, 4);
}

fn remount(folder: &Path, mode: &str) {
    let options = format!("remount,{mode}");
    let status = std::process::Command::new("mount").args(["-o", &options]).arg(folder).status().unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn writes_that_the_system_refuses_lose_nothing_acknowledged() {
    let Some(folder) = own_folder() else {
        let folder = tempfile::tempdir().unwrap();
        // Writing beyond the limit fails with an error instead of a signal. The unit is 512 bytes.
        let limited = "trap '' XFSZ; ulimit -f 4000; exec \"$@\"";
        passes_again("writes_that_the_system_refuses_lose_nothing_acknowledged", folder.path(), limited);
        let acknowledged: u64 =
            std::fs::read_to_string(folder.path().join("acknowledged")).unwrap().parse().unwrap();
        let store = open(&folder.path().join("noetl.db"));
        assert_eq!(gapless_seq(&store, 7).await, acknowledged);
        commit(&store, vec![write(7, acknowledged, 4, 100_000)]).await.expect("without the limit it goes on");
        return;
    };
    let store = open(&folder.join("noetl.db"));
    let (acknowledged, error) = commit_until_it_fails(&store, 7).await;
    assert!(acknowledged > 0);
    assert!(error.is_retryable(), "{error}");
    assert_eq!(
        gapless_seq(&store, 7).await,
        acknowledged,
        "everything acknowledged is there, and nothing else"
    );
    std::fs::write(folder.join("acknowledged"), acknowledged.to_string()).unwrap();
}

#[tokio::test]
async fn a_failure_does_not_touch_calls_that_waited_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("noetl.db"));
    let entry = noetl_store::NewCatalogEntry {
        id: 1,
        path: "a".into(),
        kind: "playbook".into(),
        content: "".into(),
        layout: Default::default(),
        payload: Default::default(),
        meta: Default::default(),
        created_at: Default::default(),
    };
    store.register(&entry).await.unwrap();
    let tasks: Vec<_> = (1..=200)
        .map(|id| {
            let store = store.clone();
            let entry = entry.clone();
            tokio::spawn(async move {
                if id % 10 == 0 {
                    assert!(store.register(&entry).await.is_err(), "the id is taken");
                } else {
                    commit(&store, vec![write(id, 0, 2, 10)]).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    for id in (1..=200).filter(|id| id % 10 != 0) {
        assert_eq!(gapless_seq(&store, id).await, 2);
    }
}
