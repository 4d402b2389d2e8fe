//! What the store does per second, beside what the disk and bare SQLite do in the same run.
//!
//! `cargo bench -p noetl-store-sqlite` measures in a temporary folder, or in the folder that `NOETL_BENCH_FOLDER` names.
//! Words behind `--` choose among `bare`, `small-full`, `large-full`, `small-normal`, `large-normal`, `concurrent`, `reads`.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use noetl_store::{
    Batch, CommandClose, CommandRow, CommandStatus, ExecutionFilter, ExecutionRow, ExecutionWrite,
    Executions, Store,
};
use noetl_store_sqlite::{Options, SqliteStore, Synchronous};
use noetl_types::{
    CommandKey, Event, EventBody, EventId, ExecutionId, Item, Outcome, Report, RunStatus, Started, Timestamp,
    Value, VisitId,
};
use rusqlite::{Connection, params};

fn main() {
    // `cargo test` runs this too: briefly, to see that it still works.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let time = Duration::from_millis(if is_bench { 3000 } else { 20 });
    let temporary;
    let folder = match std::env::var_os("NOETL_BENCH_FOLDER") {
        Some(folder) => folder.into(),
        None => {
            temporary = tempfile::tempdir().expect("a temporary folder can be made");
            temporary.path().to_owned()
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime can be built");
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    if wants("bare") {
        fsync(&folder, time);
        bare_commits(&folder.join("bare.db"), time);
        bare_rows(&folder.join("rows.db"), time);
    }
    for synchronous in [Synchronous::Full, Synchronous::Normal] {
        let name = format!("{synchronous:?}").to_lowercase();
        if wants(&format!("small-{name}")) {
            runtime.block_on(small_commits(&folder.join(format!("small-{name}.db")), synchronous, time));
        }
        if wants(&format!("large-{name}")) {
            runtime.block_on(large_commits(&folder.join(format!("large-{name}.db")), synchronous, time));
        }
    }
    if wants("concurrent") {
        runtime.block_on(concurrent_commits(&folder.join("concurrent.db"), time));
    }
    if wants("reads") {
        runtime.block_on(reads(&folder.join("reads.db"), if is_bench { 100_000 } else { 500 }));
    }
}

fn report(what: &str, number: f64, unit: &str) {
    println!("{what:<66} {number:>12.0} {unit}");
}

/// Runs a step again and again for some time and gives how often it ran and how long that took.
fn repeat(time: Duration, mut step: impl FnMut(u64)) -> (f64, f64) {
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < time {
        step(count);
        count += 1;
    }
    (count as f64, start.elapsed().as_secs_f64())
}

fn fsync(folder: &Path, time: Duration) {
    let mut file = File::create(folder.join("fsync")).expect("a file can be made");
    file.write_all(&[0; 65_536]).expect("it can be written");
    let (count, seconds) = repeat(time / 3, |round| {
        file.seek(SeekFrom::Start(round % 16 * 4096)).expect("it can be sought");
        file.write_all(&[1; 4096]).expect("it can be written");
        file.sync_data().expect("it can be synced");
    });
    report("disk: write and sync 4 KiB", seconds / count * 1e6, "µs");
}

fn bare(database: &Path) -> Connection {
    let connection = Connection::open(database).expect("a new file can be opened");
    connection
        .execute_batch(
            "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE event (execution_id INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (execution_id, seq));",
        )
        .expect("a table can be made");
    connection
}

const BODY: &str =
    r#"{"type":"call.done","command":{"visit":3,"item":"whole","part":0},"step":"transform","attempt":1}"#;

fn bare_commits(database: &Path, time: Duration) {
    let connection = bare(database);
    let (count, seconds) = repeat(time / 3, |round| {
        let mut insert =
            connection.prepare_cached("INSERT INTO event VALUES (1, ?1, ?2)").expect("it is valid");
        insert.execute(params![round as i64, BODY]).expect("it can be written");
    });
    report("bare SQLite: commits of one row", count / seconds, "commits/s");
}

fn bare_rows(database: &Path, time: Duration) {
    let connection = bare(database);
    let (count, seconds) = repeat(time / 3, |round| {
        let transaction = connection.unchecked_transaction().expect("it can begin");
        let mut insert =
            connection.prepare_cached("INSERT INTO event VALUES (?1, ?2, ?3)").expect("it is valid");
        for row in 0..512 {
            insert.execute(params![round as i64, row, BODY]).expect("it can be written");
        }
        drop(insert);
        transaction.commit().expect("it can be committed");
    });
    report("bare SQLite: rows in commits of 512, one index", count * 512.0 / seconds, "rows/s");
}

fn open(database: &Path, synchronous: Synchronous) -> SqliteStore {
    SqliteStore::open(database, &Options { synchronous, ..Options::default() })
        .expect("a new file can be opened")
}

fn row(status: RunStatus) -> ExecutionRow {
    ExecutionRow {
        path: "examples/etl/daily".into(),
        catalog_id: 300_000_000_000_000_000,
        version: 3,
        parent: None,
        pool: "shared".into(),
        labels: Default::default(),
        started_at: Timestamp(1_790_000_000_000_000),
        status,
        ended_at: None,
        error: None,
        result: None,
        meta: Value::Null,
    }
}

/// A plausible event: every eighth begins a step, the others take a command through its life.
fn body(seq: u64, visit: u32) -> EventBody {
    let command = CommandKey::whole(VisitId(visit));
    let step: std::sync::Arc<str> = "transform_rows".into();
    match seq % 4 {
        1 => EventBody::PlaybookStarted(Started {
            path: "examples/etl/daily".into(),
            workload: Value::map([("table", Value::text("orders")), ("limit", Value::Int(100))]),
            ..Started::default()
        }),
        2 => EventBody::CommandIssued { command, step, attempt: 1, tool: "python".into() },
        3 => EventBody::CommandStarted { command, step, attempt: 1, worker: "worker-1".into() },
        _ => {
            let data = Value::map([("count", Value::Int(12)), ("status", Value::text("ok"))]);
            let report = Report { duration_ms: 1.25, ..Report::success(data) };
            EventBody::CallDone { command, step, attempt: 1, outcome: Outcome::finished(report) }
        }
    }
}

fn write(execution: i64, expected_seq: u64, count: u64, next_id: &mut i64) -> ExecutionWrite {
    let mut write = ExecutionWrite::new(ExecutionId(execution), expected_seq, row(RunStatus::Running));
    for seq in expected_seq + 1..=expected_seq + count {
        *next_id += 4096;
        let at = Timestamp(1_790_000_000_000_000 + seq as i64);
        write.events.push(Event { id: EventId(*next_id), seq, at, body: body(seq, 1) });
    }
    write
}

/// A snowflake-like beginning of ids.
const FIRST_ID: i64 = 300_000_000_000_000_000;

/// The next command of an execution, and the end of the one before it.
fn with_command(mut write: ExecutionWrite, round: u32) -> ExecutionWrite {
    let key = |visit| CommandKey::whole(VisitId(visit));
    write.issue = vec![CommandRow {
        key: key(round + 1),
        attempt: 1,
        event: write.events[0].id,
        step: "transform_rows".into(),
        tool: "python".into(),
        pool: "shared".into(),
        priority: 0,
        issued_at: write.events[0].at,
        lease: None,
        body: br#"{"workload":{"table":"orders","limit":100},"ctx":{},"steps":{}}"#[..].into(),
    }];
    if round > 0 {
        let at = write.events[0].at;
        write.close =
            vec![CommandClose { key: key(round), attempt: 1, status: CommandStatus::Completed, at }];
    }
    write
}

async fn small_commits(database: &Path, synchronous: Synchronous, time: Duration) {
    let store = open(database, synchronous);
    let (start, mut next_id, mut commits) = (Instant::now(), FIRST_ID, 0u32);
    while start.elapsed() < time {
        let batch =
            Batch { executions: vec![write(FIRST_ID + i64::from(commits) * 4096, 0, 3, &mut next_id)] };
        store.commit(&batch).await.expect("it can be committed");
        commits += 1;
    }
    let rate = f64::from(commits) / start.elapsed().as_secs_f64();
    report(&format!("store, {synchronous:?}: commits of 1 execution with 3 events"), rate, "commits/s");
}

/// Each execution lives for eight commits of eight events.
async fn large_commits(database: &Path, synchronous: Synchronous, time: Duration) {
    let store = open(database, synchronous);
    let (start, mut next_id, mut rounds) = (Instant::now(), FIRST_ID, 0u32);
    let mut building = Duration::ZERO;
    while start.elapsed() < time {
        let began = Instant::now();
        let (age, generation) = (rounds % 8, i64::from(rounds / 8));
        let executions = (0..64).map(|slot| {
            let execution = FIRST_ID + (generation * 64 + slot) * 4096;
            with_command(write(execution, u64::from(age) * 8, 8, &mut next_id), age)
        });
        let batch = Batch { executions: executions.collect() };
        building += began.elapsed();
        let committed = store.commit(&batch).await.expect("it can be committed");
        assert!(committed.lost.is_empty());
        rounds += 1;
    }
    let events = f64::from(rounds) * 512.0;
    let seconds = (start.elapsed() - building).as_secs_f64();
    report(
        &format!("store, {synchronous:?}: rows in commits of 64 executions × 8 events + 1 command"),
        events / seconds,
        "events/s",
    );
    drop(store);
    let bytes = std::fs::metadata(database).expect("the file is there").len() as f64;
    report("  size of the file per event, commands and executions included", bytes / events, "bytes");
}

/// Many callers with small commits at once: they share transactions.
async fn concurrent_commits(database: &Path, time: Duration) {
    let store = open(database, Synchronous::Full);
    let start = Instant::now();
    let callers = (0..64).map(|caller: i64| {
        let store = store.clone();
        tokio::spawn(async move {
            let (mut next_id, mut commits) = (FIRST_ID + caller, 0);
            while start.elapsed() < time {
                let execution = FIRST_ID + (commits * 64 + caller) * 4096;
                let batch = Batch { executions: vec![write(execution, 0, 3, &mut next_id)] };
                store.commit(&batch).await.expect("it can be committed");
                commits += 1;
            }
            commits
        })
    });
    let mut commits = 0;
    for caller in callers.collect::<Vec<_>>() {
        commits += caller.await.expect("no caller panics");
    }
    let rate = commits as f64 / start.elapsed().as_secs_f64();
    report("store, Full: commits of 1 execution with 3 events, 64 callers", rate, "commits/s");
}

async fn reads(database: &Path, count: u32) {
    let store = open(database, Synchronous::Normal);
    let mut next_id = FIRST_ID;
    for chunk in (0..count).collect::<Vec<_>>().chunks(500) {
        let executions =
            chunk.iter().map(|index| write(FIRST_ID + i64::from(*index) * 4096, 0, 4, &mut next_id));
        store.commit(&Batch { executions: executions.collect() }).await.expect("it can be committed");
    }
    let looping = ExecutionId(FIRST_ID - 1);
    let mut write = ExecutionWrite::new(looping, 0, row(RunStatus::Running));
    for (seq, index) in (1..).zip((0..count).rev()) {
        let command = CommandKey { visit: VisitId(2), item: Item::At(index), part: 0 };
        let outcome = Outcome::finished(Report::success(Value::Int(index.into())));
        let body = EventBody::CallDone { command, step: "each".into(), attempt: 1, outcome };
        write.events.push(Event { id: EventId(seq as i64), seq, at: Timestamp(0), body });
    }
    store.commit(&Batch { executions: vec![write] }).await.expect("it can be committed");

    let start = Instant::now();
    let results =
        store.load_loop_results(looping, VisitId(2), None, 10_000).await.expect("they can be loaded");
    report("load loop results", results.len() as f64 / start.elapsed().as_secs_f64(), "results/s");
    let start = Instant::now();
    let events = store.load_events(looping, 0, 10_000).await.expect("they can be loaded");
    report("load events", events.len() as f64 / start.elapsed().as_secs_f64(), "events/s");
    let filters = [
        ("all", ExecutionFilter::default()),
        (
            "a status that none has",
            ExecutionFilter { statuses: vec![RunStatus::Failed], ..Default::default() },
        ),
        (
            "a search that finds nothing",
            ExecutionFilter { search: Some("nowhere".to_owned()), ..Default::default() },
        ),
    ];
    for (name, filter) in filters {
        let start = Instant::now();
        store.list_executions(&filter, 50).await.expect("they can be listed");
        let micros = start.elapsed().as_secs_f64() * 1e6;
        report(&format!("list 50 of {count} executions: {name}"), micros, "µs");
    }
}
