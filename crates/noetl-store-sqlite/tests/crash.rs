//! Processes that die at any moment, and logs torn by a power failure: what was acknowledged is there, whole.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use common::*;
use noetl_store::Error;
use noetl_store_sqlite::{Options, SqliteStore};

const WRITERS: i64 = 4;

/// Commits to one execution again and again, and prints every acknowledged seq if somebody listens. Ends after `rounds`.
async fn keep_writing(store: SqliteStore, execution: i64, rounds: u64) {
    let mut seq = gapless_seq(&store, execution).await;
    for _ in 0..rounds {
        let count = 1 + seq % 5;
        commit(&store, vec![write(execution, seq, count, 300)]).await.expect("the commit succeeds");
        seq += count;
        if rounds == u64::MAX {
            writeln!(std::io::stdout(), "acknowledged {execution} {seq}").expect("somebody listens");
        }
    }
}

/// With a folder given, this is the process that the next test kills.
#[tokio::test(flavor = "multi_thread")]
async fn writers_acknowledge_what_they_wrote() {
    let own = tempfile::tempdir().unwrap();
    let (folder, rounds) = match std::env::var_os(FOLDER) {
        Some(folder) => (PathBuf::from(folder), u64::MAX),
        None => (own.path().to_owned(), 20),
    };
    let store = open(&folder.join("noetl.db"));
    let writers: Vec<_> =
        (1..=WRITERS).map(|execution| tokio::spawn(keep_writing(store.clone(), execution, rounds))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    for execution in 1..=WRITERS {
        assert!(gapless_seq(&store, execution).await >= rounds);
    }
}

/// Notes what a process printed as acknowledged.
fn note(line: &str, acknowledged: &mut [u64]) -> bool {
    let Some(rest) = line.trim_end().strip_prefix("acknowledged ") else {
        return false;
    };
    let Some((execution, seq)) = rest.split_once(' ') else {
        return false;
    };
    match (execution.parse::<usize>(), seq.parse()) {
        (Ok(execution), Ok(seq)) => acknowledged[execution - 1] = seq,
        _ => return false,
    }
    true
}

/// A process that is killed when this is dropped, whatever happens to the test.
struct Doomed(Child);

impl Drop for Doomed {
    fn drop(&mut self) {
        self.0.kill().expect("it is ours to kill");
        self.0.wait().expect("it is dead");
    }
}

#[tokio::test]
async fn killing_the_process_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let mut acknowledged = [0; WRITERS as usize];
    for lines_before_the_kill in [1, 2, 3, 5, 8, 13, 40, 100, 7, 250] {
        let mut command = again("writers_acknowledge_what_they_wrote", folder.path(), "exec \"$@\"");
        let mut child = Doomed(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
        let mut output = BufReader::new(child.0.stdout.take().unwrap());
        let mut seen = 0;
        while seen < lines_before_the_kill {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the process ended by itself");
            seen += u32::from(note(&line, &mut acknowledged));
        }
        let error = SqliteStore::open(&database, &Options::default()).expect_err("the process has it open");
        assert!(matches!(error, Error::Locked { holder: Some(pid), .. } if pid == child.0.id()), "{error}");
        drop(child);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        // The last line may be torn.
        let whole = rest.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole.lines().for_each(|line| {
            note(line, &mut acknowledged);
        });

        let store = open(&database);
        for (execution, seq) in (1..).zip(&acknowledged) {
            assert!(
                gapless_seq(&store, execution).await >= *seq,
                "execution {execution} was acknowledged to {seq}"
            );
        }
    }
    assert!(acknowledged.iter().sum::<u64>() > 400);
}

#[tokio::test]
async fn a_log_torn_anywhere_loses_whole_commits_from_its_end_only() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let store = open(&database);
    // Each commit moves both executions by three events.
    for round in 0..40 {
        commit(&store, vec![write(1, round * 3, 3, 400), write(2, round * 3, 3, 400)]).await.unwrap();
    }
    let log = std::fs::read(with_suffix(&database, "-wal")).unwrap();
    let torn = folder.path().join("torn.db");
    let mut counts = Vec::new();
    for kept in
        [0, 1, 31, 32, 33, 5_000, log.len() / 3, log.len() / 2, log.len() - 4_096, log.len() - 1, log.len()]
    {
        std::fs::copy(&database, &torn).unwrap();
        std::fs::write(with_suffix(&torn, "-wal"), &log[..kept]).unwrap();
        counts.push(consistent_count(&torn).await);
    }
    assert!(counts.is_sorted(), "{counts:?}");
    assert_eq!(counts.last(), Some(&120));
    // A log with noise in its middle is good up to there.
    let mut noisy = log.clone();
    let middle = noisy.len() / 2;
    noisy[middle..middle + 100].fill(0xa5);
    std::fs::copy(&database, &torn).unwrap();
    std::fs::write(with_suffix(&torn, "-wal"), &noisy).unwrap();
    assert!(consistent_count(&torn).await < 120);
}

/// Opens a file after a power failure and checks that no commit is there by half.
async fn consistent_count(database: &Path) -> u64 {
    let _ = std::fs::remove_file(with_suffix(database, "-shm"));
    let store = open(database);
    let (one, two) = (gapless_seq(&store, 1).await, gapless_seq(&store, 2).await);
    assert_eq!(one, two, "both executions moved together");
    assert_eq!(one % 3, 0);
    one
}

fn with_suffix(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[tokio::test]
async fn a_second_opener_is_told_who_has_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let store = open(&database);
    let error = SqliteStore::open(&database, &Options::default()).expect_err("it is in use");
    assert!(
        matches!(&error, Error::Locked { holder: Some(pid), .. } if *pid == std::process::id()),
        "{error}"
    );
    let kept = store.clone();
    drop(store);
    SqliteStore::open(&database, &Options::default()).expect_err("a clone keeps it open");
    drop(kept);
    SqliteStore::open(&database, &Options::default()).expect("it was closed");
}
