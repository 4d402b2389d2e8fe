//! What the machine can do and what this process has used of it.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

/// Seconds per write of 4 KiB that is on the disk when it returns.
pub fn sync_time(folder: &Path, time: Duration) -> f64 {
    let mut file = File::create(folder.join("sync")).expect("a file can be made");
    file.write_all(&[0; 65_536]).expect("it can be written");
    let rate = rate(time, |round| {
        file.seek(SeekFrom::Start(round % 16 * 4096)).expect("it can be sought");
        file.write_all(&[1; 4096]).expect("it can be written");
        file.sync_data().expect("it can be synced");
    });
    1.0 / rate
}

/// Commits per second of one row each, by SQLite alone with the settings of the store.
pub fn bare_commits(folder: &Path, time: Duration) -> f64 {
    let connection = bare(&folder.join("bare-commits.db"));
    rate(time, |round| {
        let mut insert =
            connection.prepare_cached("INSERT INTO event VALUES (1, ?1, ?2)").expect("it is valid");
        insert.execute(params![round as i64, BODY]).expect("it can be written");
    })
}

/// Rows per second in commits of 512 rows.
pub fn bare_rows(folder: &Path, time: Duration) -> f64 {
    let connection = bare(&folder.join("bare-rows.db"));
    let commits = rate(time, |round| {
        let transaction = connection.unchecked_transaction().expect("it can begin");
        let mut insert =
            connection.prepare_cached("INSERT INTO event VALUES (?1, ?2, ?3)").expect("it is valid");
        for row in 0..512 {
            insert.execute(params![round as i64, row, BODY]).expect("it can be written");
        }
        drop(insert);
        transaction.commit().expect("it can be committed");
    });
    commits * 512.0
}

const BODY: &str =
    r#"{"type":"call.done","command":{"visit":3,"item":"whole","part":0},"step":"transform","attempt":1}"#;

fn bare(database: &Path) -> Connection {
    let connection = Connection::open(database).expect("a new file can be opened");
    connection
        .execute_batch(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE event (execution_id INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (execution_id, seq));",
        )
        .expect("a table can be made");
    connection
}

/// How often something can be done per second.
fn rate(time: Duration, mut step: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < time {
        step(count);
        count += 1;
    }
    count as f64 / start.elapsed().as_secs_f64()
}

/// Seconds of processor time that this process has used, in steps of a hundredth. Nothing where the system does not say.
pub fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the process stands in parentheses and may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Mebibytes of memory: now, and at most since [`forget_peak`].
pub fn memory() -> Option<(f64, f64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<f64>().ok()? / 1024.0)
    };
    Some((field("VmRSS:")?, field("VmHWM:")?))
}

/// Lets the peak be measured anew, where the system can.
pub fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
