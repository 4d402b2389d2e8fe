//! What the disk and bare SQLite can do, to hold what the store does against it.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use crate::connect::PAGE_SIZE;

/// Rows in a commit of [`rows_per_second`].
const BATCH: i64 = 100;

const BODY: &str =
    r#"{"type":"call.done","command":{"visit":3,"item":"whole","part":0},"step":"transform","attempt":1}"#;

/// Seconds per write of 4 KiB that is on the disk when it returns.
pub fn sync_seconds(folder: &Path, time: Duration) -> io::Result<f64> {
    let path = folder.join("noetl-sync");
    let mut file = File::create(&path)?;
    file.write_all(&[0; 65_536])?;
    file.sync_all()?;
    let rate = rate(time, |round| {
        file.seek(SeekFrom::Start(round as u64 % 16 * 4096))?;
        file.write_all(&[1; 4096])?;
        file.sync_data()
    })?;
    std::fs::remove_file(path)?;
    Ok(1.0 / rate)
}

/// Commits of one row per second, with the settings of the store and full durability.
pub fn commits_per_second(folder: &Path, time: Duration) -> rusqlite::Result<f64> {
    let connection = bare(&folder.join("noetl-commits.db"))?;
    rate(time, |round| insert(&connection, 1, round))
}

/// Rows per second in commits of a hundred.
pub fn rows_per_second(folder: &Path, time: Duration) -> rusqlite::Result<f64> {
    let connection = bare(&folder.join("noetl-rows.db"))?;
    let commits = rate(time, |round| {
        let transaction = connection.unchecked_transaction()?;
        for row in 0..BATCH {
            insert(&connection, round, row)?;
        }
        transaction.commit()
    })?;
    Ok(commits * BATCH as f64)
}

fn insert(connection: &Connection, execution: i64, seq: i64) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT INTO event VALUES (?1, ?2, ?3)")?;
    statement.execute(params![execution, seq, BODY])?;
    Ok(())
}

/// An empty table in a new file.
fn bare(database: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(database)?;
    connection.execute_batch(&format!(
        "PRAGMA page_size = {PAGE_SIZE}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE event (execution_id INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (execution_id, seq));"
    ))?;
    Ok(connection)
}

/// How often something can be done per second.
fn rate<E>(time: Duration, mut act: impl FnMut(i64) -> Result<(), E>) -> Result<f64, E> {
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < time {
        act(count)?;
        count += 1;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_can_be_measured_in_a_new_folder() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let time = Duration::from_millis(5);
        assert!(sync_seconds(folder.path(), time).expect("files can be written") > 0.0);
        assert!(commits_per_second(folder.path(), time).expect("a database can be made") > 0.0);
        assert!(rows_per_second(folder.path(), time).expect("a database can be made") > 0.0);
    }
}
