//! For tests: how SQLite goes about a statement.

use crate::{Options, SqliteStore, connect};

/// Fails unless the statement is carried out this way, without sorting.
pub fn assert_plan(sql: &str, way: &str) {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("noetl.db");
    let _store = SqliteStore::open(&database, &Options::default()).unwrap();
    let connection = connect::open_for_reading(&database).unwrap();
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    // A plan can be had without values for the parameters.
    let mut rows = statement.raw_query();
    let mut plan = String::new();
    while let Some(row) = rows.next().unwrap() {
        plan += &row.get::<_, String>("detail").unwrap();
        plan += "\n";
    }
    assert!(plan.contains(way) && !plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
}
