//! How long the first page of a list takes among a million executions, and what a commit costs beside them, each held
//! against its budget.
//!
//! `cargo bench -p noetl-store-sqlite --bench lists` works in a temporary folder, or in the folder that
//! `NOETL_BENCH_FOLDER` names. A number behind `--` is how many executions to make.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use noetl_store::{
    Batch, EventFilter, ExecutionFilter, ExecutionRow, ExecutionWrite, Executions, PathFilter, Store,
};
use noetl_store_sqlite::{Options, SqliteStore, Synchronous};
use noetl_types::{Event, EventBody, EventId, ExecutionId, RunStatus, Started, Timestamp, Value};
use rusqlite::Connection;

/// A snowflake-like beginning of ids, and the way from one to the next.
const FIRST_ID: i64 = 300_000_000_000_000_000;
const NEXT_ID: i64 = 4_194_304;

/// When the first of them started, and the way to the next, in microseconds.
const FIRST_START: i64 = 1_780_000_000_000_000;
const NEXT_START: i64 = 1_000_000;

const PAGE_BUDGET_MS: f64 = 20.0;

/// How much longer a commit may take than in an empty database.
const COMMIT_BUDGET: f64 = 1.2;

fn main() {
    // `cargo test` runs this too: briefly, to see that it still works.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let asked = std::env::args().skip(1).find_map(|argument| argument.parse::<i64>().ok());
    let count = asked.unwrap_or(if is_bench { 1_000_000 } else { 3000 });
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
    runtime.block_on(async {
        let empty = open(&folder.join("empty.db"));
        let database = folder.join("full.db");
        drop(open(&database));
        let start = Instant::now();
        fill(&database, count);
        println!("{count} executions made in {:.1} s", start.elapsed().as_secs_f64());
        let full = open(&database);
        lists(&full, count).await;
        commits(&empty, &full, count, if is_bench { 2000 } else { 20 }).await;
    });
}

fn open(database: &Path) -> SqliteStore {
    let options = Options { synchronous: Synchronous::Normal, ..Options::default() };
    SqliteStore::open(database, &options).expect("the file can be opened")
}

/// Writes rows as commits would, but all at once: 500 paths, one in twenty failed, one in ten with a label of its own, one
/// in a thousand in a small pool, and each with one event.
fn fill(database: &Path, count: i64) {
    let connection = Connection::open(database).expect("the file can be opened");
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; PRAGMA temp_store = MEMORY;
            BEGIN;
            CREATE TEMP TABLE number AS
            WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < {count} - 1) SELECT i FROM n;

            INSERT INTO execution_record (
                execution_id, seq, status, catalog_id, version, path, started_at, ended_at, last_event_id,
                last_event_at, last_event_type, labels, meta, error, result, pool
            ) SELECT
                {FIRST_ID} + i * {NEXT_ID}, 1,
                CASE WHEN i % 20 = 7 THEN 'FAILED' WHEN i % 1000 = 1 THEN 'RUNNING' ELSE 'COMPLETED' END,
                1000 + i % 500, 1, 'team' || (i % 7) || '/flows/job_' || (i % 500),
                {FIRST_START} + i * {NEXT_START}, {FIRST_START} + (i + 1) * {NEXT_START}, {FIRST_ID} + i * {NEXT_ID} + 1,
                {FIRST_START} + i * {NEXT_START}, 'playbook_started',
                CASE WHEN i % 10 = 0 THEN json_object('team', 't' || (i % 7), 'order', 'order-' || i)
                    ELSE json_object('team', 't' || (i % 7)) END,
                '{{\"requester\":\"cron\"}}',
                CASE WHEN i % 20 = 7 THEN 'step load failed: connection refused by host-' || (i % 1000) END,
                '{{\"rows\":12}}', CASE WHEN i % 1000 = 3 AND i < {count} / 2 THEN 'gpu' ELSE 'shared' END
            FROM number;

            INSERT INTO event_record (execution_id, seq, event_id, at, body)
            SELECT {FIRST_ID} + i * {NEXT_ID}, 1, {FIRST_ID} + i * {NEXT_ID} + 1, {FIRST_START} + i * {NEXT_START},
                '{{\"type\":\"playbook_started\",\"execution\":7,\"path\":\"team/flows/job\",\"workload\":{{\"n\":1}}}}'
            FROM number;

            INSERT INTO search_text (kind, text) SELECT DISTINCT 'path', path FROM execution_record;
            INSERT INTO search_text (kind, text) SELECT DISTINCT 'error', error FROM execution_record WHERE error IS NOT NULL;
            INSERT INTO search_text (kind, text)
            SELECT DISTINCT 'label', key || '=' || value FROM execution_record CROSS JOIN json_each(labels);
            INSERT INTO execution_text (text_id, execution_id)
            SELECT text_id, execution_id FROM execution_record CROSS JOIN json_each(labels) CROSS JOIN search_text
            WHERE kind = 'label' AND text = key || '=' || json_each.value;
            INSERT INTO execution_text (text_id, execution_id)
            SELECT text_id, execution_id FROM execution_record CROSS JOIN search_text WHERE kind = 'error' AND text = error;
            INSERT INTO search_index (rowid, text) SELECT text_id, text FROM search_text;
            UPDATE search_progress SET last_text_id = (SELECT max(text_id) FROM search_text);
            COMMIT;"
        ))
        .expect("the rows can be written");
    drop(connection);
    // What the system still has to write would slow down what is measured next.
    File::open(database).and_then(|file| file.sync_all()).expect("the file can be synced");
}

fn report(what: &str, measured: f64, budget: f64, unit: &str) {
    let ratio = measured / budget;
    println!("{what:<62} {measured:>9.3} {unit:<3} budget {budget:>6.2} {unit:<3} ratio {ratio:>5.2}");
}

async fn lists(store: &SqliteStore, count: i64) {
    let by = ExecutionFilter::default;
    let path = |path| ExecutionFilter { path: Some(path), ..by() };
    let search = |text: &str| ExecutionFilter { search: Some(text.to_owned()), ..by() };
    let label = |key: &str, value: &str| ExecutionFilter {
        labels: [(key.to_owned(), value.to_owned())].into(),
        ..by()
    };
    let status = |status| ExecutionFilter { statuses: vec![status], ..by() };
    let failed = || vec![RunStatus::Failed];
    let middle = FIRST_START + count / 2 * NEXT_START;
    let middle_id = FIRST_ID + count / 2 * NEXT_ID;
    let live = vec![RunStatus::Running, RunStatus::Paused, RunStatus::Pending];
    let filters = [
        ("all", by()),
        ("older than the middle", ExecutionFilter { before: Some(ExecutionId(middle_id)), ..by() }),
        ("newer than the middle", ExecutionFilter { after: Some(ExecutionId(middle_id)), ..by() }),
        ("page 100 by offset", ExecutionFilter { offset: 5000, ..by() }),
        ("failed", status(RunStatus::Failed)),
        ("a status that none has", status(RunStatus::Cancelled)),
        ("alive", ExecutionFilter { statuses: live, ..by() }),
        ("a path", path(PathFilter::Is("team3/flows/job_17".to_owned()))),
        (
            "failed of a path",
            ExecutionFilter { statuses: failed(), ..path(PathFilter::Is("team3/flows/job_7".to_owned())) },
        ),
        (
            "cancelled of a path",
            ExecutionFilter {
                statuses: vec![RunStatus::Cancelled],
                ..path(PathFilter::Is("team3/flows/job_17".to_owned()))
            },
        ),
        ("a prefix of paths", path(PathFilter::StartsWith("team3/flows/job_49".to_owned()))),
        ("a part of paths", path(PathFilter::Contains("JOB_499".to_owned()))),
        ("a catalog entry", ExecutionFilter { catalog_id: Some(1017), ..by() }),
        ("a rare pool", ExecutionFilter { pool: Some("gpu".to_owned()), ..by() }),
        ("a common label", label("team", "t3")),
        ("a label of one execution", label("order", "order-1230")),
        (
            "an hour in the middle",
            ExecutionFilter {
                started_from: Some(Timestamp(middle)),
                started_before: Some(Timestamp(middle + 3_600_000_000)),
                ..by()
            },
        ),
        (
            "failed in an hour in the middle",
            ExecutionFilter {
                statuses: failed(),
                started_from: Some(Timestamp(middle)),
                started_before: Some(Timestamp(middle + 3_600_000_000)),
                ..by()
            },
        ),
        ("search: a path", search("flows/job_499")),
        ("search: a common error", search("connection refused")),
        ("search: a rare error", search("host-447")),
        ("search: a label of one execution", search("order-1230")),
        ("search: an id", search(&(FIRST_ID + 4321 * NEXT_ID).to_string())),
        ("search: nothing", search("nowhere to be found")),
        ("search: two letters", search("zq")),
        ("search: an error of a path", ExecutionFilter { statuses: failed(), ..search("flows/job_47") }),
    ];
    for (name, filter) in filters {
        let mut times = Vec::new();
        let mut rows = 0;
        for _ in 0..9 {
            let start = Instant::now();
            rows = store.list_executions(&filter, 50).await.expect("they can be listed").len();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        report(&format!("first page of {rows}: {name}"), times[4], PAGE_BUDGET_MS, "ms");
    }
    let start = Instant::now();
    store.count_executions().await.expect("they are counted");
    report("counts by status", start.elapsed().as_secs_f64() * 1e3, PAGE_BUDGET_MS, "ms");
    let start = Instant::now();
    let counted = store.count_matching(&search("connection refused"), 1000).await.expect("they are counted");
    let what = format!("at least {} found by a search", counted.count);
    report(&what, start.elapsed().as_secs_f64() * 1e3, PAGE_BUDGET_MS, "ms");
    let start = Instant::now();
    let event = EventId(middle_id + 1);
    assert!(store.find_execution_of_event(event).await.expect("it can be looked up").is_some());
    report("the execution of an event", start.elapsed().as_secs_f64() * 1e3, PAGE_BUDGET_MS, "ms");
    let start = Instant::now();
    let filter = EventFilter { since: Some(event), newest_first: true, ..EventFilter::default() };
    store.list_events(ExecutionId(middle_id), &filter, 100).await.expect("they can be listed");
    report("events since an id", start.elapsed().as_secs_f64() * 1e3, PAGE_BUDGET_MS, "ms");
}

/// An execution that starts, and one that fails, in one commit.
fn batch(number: i64, labelled: bool) -> Batch {
    let execution = ExecutionId(FIRST_ID * 2 + number * NEXT_ID);
    let labels = match labelled {
        true => [("team".to_owned(), "t3".to_owned()), ("order".to_owned(), format!("new-{number}"))].into(),
        false => Default::default(),
    };
    let row = ExecutionRow {
        path: format!("team{}/flows/job_{}", number % 7, number % 500).into(),
        catalog_id: 1000 + number % 500,
        version: 1,
        parent: None,
        pool: "shared".into(),
        labels,
        started_at: Timestamp(FIRST_START * 2 + number),
        status: RunStatus::Failed,
        ended_at: Some(Timestamp(FIRST_START * 2 + number)),
        error: labelled.then(|| "step load failed: connection refused by host-7".to_owned()),
        result: None,
        meta: Value::Null,
    };
    let mut write = ExecutionWrite::new(execution, 0, row);
    write.events = (1..=3)
        .map(|seq| Event {
            id: EventId(execution.0 + seq as i64),
            seq,
            at: Timestamp(FIRST_START * 2 + number),
            body: EventBody::PlaybookStarted(Started { execution, ..Started::default() }),
        })
        .collect();
    Batch { executions: vec![write] }
}

/// Measures both stores by turns, so that what else the machine does meets both.
async fn commits(empty: &SqliteStore, full: &SqliteStore, count: i64, rounds: i64) {
    for (what, labelled) in [("without labels", false), ("with two labels, one new, and an error", true)] {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            let number = count + round * 2 + i64::from(labelled);
            for (store, times) in [empty, full].into_iter().zip(&mut times) {
                let batch = batch(number, labelled);
                let start = Instant::now();
                store.commit(&batch).await.expect("it can be committed");
                times.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
        let [empty, full] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            (times[times.len() / 2], mean)
        });
        println!("commit {what}: {:.0} µs in an empty database, {:.0} µs here (medians)", empty.0, full.0);
        report(&format!("commit {what}: median against empty"), full.0 / empty.0, COMMIT_BUDGET, "");
        report(&format!("commit {what}: mean against empty"), full.1 / empty.1, COMMIT_BUDGET, "");
    }
}
