//! What the tests of whole files share: small writes, and running a test again in a process of its own.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::process::{Command, Stdio};

use noetl_store::{Batch, Error, ExecutionRow, ExecutionWrite, Executions, Store};
use noetl_store_sqlite::{Options, SqliteStore};
use noetl_types::{Event, EventBody, EventId, ExecutionId, RunStatus, Started, Timestamp, Value};

pub fn open(database: &Path) -> SqliteStore {
    SqliteStore::open(database, &Options::default()).expect("the file can be opened")
}

pub fn row() -> ExecutionRow {
    ExecutionRow {
        path: "flows/one".into(),
        catalog_id: 5,
        version: 1,
        parent: None,
        pool: "shared".into(),
        labels: Default::default(),
        started_at: Timestamp(1_790_000_000_000_000),
        status: RunStatus::Running,
        ended_at: None,
        error: None,
        result: None,
        meta: Value::Null,
    }
}

pub fn event(seq: u64, body: EventBody) -> Event {
    Event { id: EventId(seq as i64), seq, at: Timestamp(1_790_000_000_000_000 + seq as i64), body }
}

/// A write of `count` events that carry some bytes each.
pub fn write(execution: i64, expected_seq: u64, count: u64, bytes: usize) -> ExecutionWrite {
    let mut write = ExecutionWrite::new(ExecutionId(execution), expected_seq, row());
    let started = |seq| {
        let workload = Value::text("x".repeat(bytes));
        event(seq, EventBody::PlaybookStarted(Started { workload, ..Started::default() }))
    };
    write.events = (expected_seq + 1..=expected_seq + count).map(started).collect();
    write
}

pub async fn commit(store: &SqliteStore, executions: Vec<ExecutionWrite>) -> Result<(), Error> {
    let committed = store.commit(&Batch { executions }).await?;
    assert_eq!(committed.lost, [], "nobody else writes");
    Ok(())
}

/// The last seq of an execution, with no gap before it and in agreement with its row.
pub async fn gapless_seq(store: &SqliteStore, execution: i64) -> u64 {
    let id = ExecutionId(execution);
    let events = store.load_events(id, 0, usize::MAX).await.expect("events can be loaded");
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, Vec::from_iter(1..=seqs.len() as u64), "seqs have no gap");
    let row_seq =
        store.find_execution(id).await.expect("the row can be read").map_or(0, |execution| execution.seq);
    assert_eq!(row_seq, seqs.len() as u64, "the row agrees with the events");
    row_seq
}

/// Where a test that runs again in a process of its own finds its folder.
pub const FOLDER: &str = "NOETL_TEST_FOLDER";

/// The command that runs one test of this file again, wrapped by a shell script in which `"$@"` stands for it.
pub fn again(test: &str, folder: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", script, "sh"])
        .arg(std::env::current_exe().expect("the test has a path"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .stdin(Stdio::null());
    command
}

/// Runs a test again under a script and fails with what it printed if it fails there.
pub fn passes_again(test: &str, folder: &Path, script: &str) {
    let output = again(test, folder, script).output().expect("a shell can be started");
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"),
        "in its own process: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// A script that runs the test with a small file system of its own mounted on the folder. It is gone with the process.
pub fn small_disk(folder: &Path, megabytes: u32) -> String {
    let folder = folder.display();
    format!(
        "exec unshare --mount sh -c 'mount -t tmpfs -o size={megabytes}m none \"{folder}\" && exec \"$@\"' sh \"$@\""
    )
}

/// Whether this process may mount file systems.
pub fn may_mount() -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let script = small_disk(folder.path(), 1);
    let status = Command::new("sh").args(["-c", &script, "sh", "true"]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
