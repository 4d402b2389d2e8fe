//! Bringing a file to the current schema: numbered steps, each applied once, all pending ones in one transaction.

use std::path::Path;

use noetl_store::Error;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::connect::APPLICATION_ID;
use crate::error::{Outcome, store_error};

struct Migration {
    name: &'static str,
    sql: &'static str,
}

/// Released steps are never changed. The number of a step is its place, from 1.
const MIGRATIONS: &[Migration] = &[
    Migration { name: "core", sql: include_str!("../migrations/0001_core.sql") },
    Migration { name: "step_logs", sql: include_str!("../migrations/0002_step_logs.sql") },
    Migration { name: "reservations", sql: include_str!("../migrations/0003_reservations.sql") },
    Migration { name: "subscriptions", sql: include_str!("../migrations/0004_subscriptions.sql") },
    Migration {
        name: "tokens_and_test_suites",
        sql: include_str!("../migrations/0005_tokens_and_test_suites.sql"),
    },
    Migration { name: "lists", sql: include_str!("../migrations/0006_lists.sql") },
    Migration { name: "retention", sql: include_str!("../migrations/0007_retention.sql") },
    Migration {
        name: "borrows_and_projections",
        sql: include_str!("../migrations/0008_borrows_and_projections.sql"),
    },
    Migration { name: "objects_by_tail", sql: include_str!("../migrations/0009_objects_by_tail.sql") },
    Migration { name: "fewer_indexes", sql: include_str!("../migrations/0010_fewer_indexes.sql") },
];

/// The steps that have been applied.
const VERSION_TABLE: &str = "CREATE TABLE IF NOT EXISTS noetl.schema_version (
    version    INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    applied_at TEXT NOT NULL
)";

/// Applies what is pending. A file of a later release is refused untouched.
pub fn migrate(connection: &mut Connection, database: &Path) -> Result<(), Error> {
    migrate_to(connection, database, MIGRATIONS.len()).map_err(|fault| fault.into_store_error(database))
}

fn migrate_to(connection: &mut Connection, database: &Path, target: usize) -> Outcome<()> {
    let found = current_version(connection)?;
    if found > MIGRATIONS.len() {
        let known = MIGRATIONS.len() as u32;
        let place = database.display().to_string();
        return Err(Error::NewerSchema { place, found: found as u32, known }.into());
    }
    if found >= target {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(VERSION_TABLE)?;
    transaction.execute_batch(&format!("PRAGMA noetl.application_id = {APPLICATION_ID}"))?;
    for (place, migration) in MIGRATIONS.iter().enumerate().take(target).skip(found) {
        transaction.execute_batch(migration.sql)?;
        transaction.execute(
            "INSERT INTO noetl.schema_version (version, name, applied_at)
             VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%f000Z'))",
            params![place as i64 + 1, migration.name],
        )?;
    }
    transaction.commit()?;
    Ok(())
}

fn current_version(connection: &Connection) -> rusqlite::Result<usize> {
    let known = "SELECT count(*) FROM noetl.sqlite_schema WHERE type = 'table' AND name = 'schema_version'";
    let tables: i64 = connection.query_row(known, [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(0);
    }
    let version = "SELECT coalesce(max(version), 0) FROM noetl.schema_version";
    connection.query_row(version, [], |row| row.get::<_, i64>(0)).map(|version| version as usize)
}

/// The schema version of a file, for messages and checks.
pub fn version(connection: &Connection, database: &Path) -> Result<u32, Error> {
    current_version(connection).map(|version| version as u32).map_err(|error| store_error(&error, database))
}

/// Refuses a file whose schema is not exactly the current one, for those who may not change it.
pub fn check_current(connection: &Connection, database: &Path) -> Result<(), Error> {
    let place = database.display().to_string();
    let (found, known) = (version(connection, database)?, MIGRATIONS.len() as u32);
    match found {
        0 => Err(Error::invalid(format!("{place} is not a store"))),
        found if found > known => Err(Error::NewerSchema { place, found, known }),
        found if found < known => Err(Error::invalid(format!(
            "{place} was written by an earlier release; run something on it once, which brings it up to date"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::Value;

    use super::*;
    use crate::{Options, SqliteStore, connect, query};

    fn whole_schema(connection: &Connection) -> Vec<String> {
        let sql = "SELECT type, name, coalesce(sql, '') FROM noetl.sqlite_schema ORDER BY type, name";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| {
            let (kind, name, sql): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
            // Where a column was added later, the layout differs.
            let sql = sql.replace(" ,", ",").replace("( ", "(").replace(" )", ")");
            Ok(format!("{kind} {name}: {sql}"))
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    fn writer(database: &Path) -> Connection {
        connect::open_writer(database, crate::Synchronous::Normal).unwrap()
    }

    #[test]
    fn all_migrations_on_an_empty_file_equal_the_schema_file() {
        let folder = tempfile::tempdir().unwrap();
        let (migrated, written) = (folder.path().join("migrated.db"), folder.path().join("written.db"));
        let mut connection = writer(&migrated);
        migrate(&mut connection, &migrated).unwrap();
        let expected = writer(&written);
        expected.execute_batch(include_str!("../schema.sql")).unwrap();
        assert_eq!(whole_schema(&connection), whole_schema(&expected));
        let kinds = "SELECT group_concat(name, ' ') FROM (SELECT name FROM noetl.resource ORDER BY name)";
        let kinds_in =
            |connection: &Connection| connection.query_row(kinds, [], |row| row.get::<_, String>(0)).unwrap();
        assert_eq!(kinds_in(&connection), kinds_in(&expected));
    }

    /// Rows as a version of the schema had them.
    const ROWS: &[(usize, &str)] =
        &[(1, include_str!("../tests/rows_of_0001.sql")), (2, include_str!("../tests/rows_of_0002.sql"))];

    /// A file of an older version with the rows it could have.
    fn older_file(database: &Path, version: usize) {
        let mut connection = writer(database);
        for (since, rows) in ROWS.iter().filter(|(since, _)| *since <= version) {
            migrate_to(&mut connection, database, *since).unwrap();
            connection.execute_batch(rows).unwrap();
        }
        migrate_to(&mut connection, database, version).unwrap();
    }

    #[tokio::test]
    async fn every_older_schema_is_upgraded_with_its_rows() {
        use noetl_store::{Catalog, ExecutionFilter, Executions, LogFilter, Results, StepLogs};
        for version in 1..MIGRATIONS.len() {
            let folder = tempfile::tempdir().unwrap();
            let database = folder.path().join("noetl.db");
            older_file(&database, version);

            let store = SqliteStore::open(&database, &Options::default()).unwrap();
            let run = noetl_types::ExecutionId(7);
            let execution = store.find_execution(run).await.unwrap().expect("it was there before");
            assert_eq!((execution.seq, &*execution.row.path), (2, "flows/one"));
            assert_eq!(execution.row.labels["team"], "data");
            assert_eq!(store.load_events(run, 0, 10).await.unwrap().len(), 2);
            assert_eq!(store.find_latest_entry("flows/one").await.unwrap().unwrap().version, 1);
            let result = store.find_latest_result(run, "big").await.unwrap().expect("it was there before");
            assert_eq!(&*result.content, b"[1]");
            let logs = store.list_logs(run, &LogFilter::default(), 10).await.unwrap();
            assert_eq!(logs.len(), if version < 2 { 0 } else { 1 });
            let search = ExecutionFilter { search: Some("team=data".to_owned()), ..Default::default() };
            assert_eq!(store.list_executions(&search, 10).await.unwrap(), [execution]);
            assert_eq!(store.count_executions().await.unwrap(), [(noetl_types::RunStatus::Running, 1)]);
            drop(store);
            let versions =
                query(&database, "SELECT version FROM noetl.schema_version ORDER BY version", 100).unwrap();
            let all: Vec<_> =
                (1..=MIGRATIONS.len() as i64).map(|version| vec![Value::Int(version)]).collect();
            assert_eq!(versions.rows, all);
        }
    }

    #[test]
    fn a_failing_migration_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("noetl.db");
        let mut connection = writer(&database);
        migrate_to(&mut connection, &database, 1).unwrap();
        // The next step wants to make a table of this name.
        connection.execute_batch("CREATE TABLE noetl.step_log (in_the_way)").unwrap();
        let before = whole_schema(&connection);
        migrate(&mut connection, &database).expect_err("the table is in the way");
        assert_eq!(whole_schema(&connection), before);
        assert_eq!(current_version(&connection).unwrap(), 1);
    }

    #[test]
    fn a_file_of_a_later_release_is_refused_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("noetl.db");
        let mut connection = writer(&database);
        migrate(&mut connection, &database).unwrap();
        connection.execute_batch("INSERT INTO noetl.schema_version VALUES (99, 'future', '')").unwrap();
        drop(connection);
        let error = SqliteStore::open(&database, &Options::default()).expect_err("it is too new");
        assert!(matches!(error, Error::NewerSchema { found: 99, .. }), "{error}");
    }
}
