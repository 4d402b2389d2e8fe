//! Test suites of playbooks.

use async_trait::async_trait;
use noetl_store::{Error, TestSuite, TestSuites};
use rusqlite::{OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Iso, Json, JsonRef};

fn suite(row: &Row<'_>) -> rusqlite::Result<TestSuite> {
    Ok(TestSuite {
        id: row.get("suite_id")?,
        file_path: row.get("file_path")?,
        playbook_path: row.get("playbook_path")?,
        tests: row.get::<_, Json>("tests")?.0,
        metadata: row.get::<_, Json>("metadata")?.0,
        updated_at: row.get::<_, Iso>("updated_at")?.0,
    })
}

#[async_trait]
impl TestSuites for SqliteStore {
    async fn put_test_suite(&self, suite: &TestSuite) -> Result<(), Error> {
        let suite = suite.clone();
        self.write(move |connection| {
            let sql = "
                INSERT OR REPLACE INTO noetl.playbook_test_suite (
                    suite_id, file_path, playbook_path, tests, metadata, updated_at
                ) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            connection.prepare_cached(sql)?.execute(params![
                &*suite.id,
                suite.file_path,
                &*suite.playbook_path,
                JsonRef(&suite.tests),
                JsonRef(&suite.metadata),
                Iso(suite.updated_at),
            ])?;
            Ok(())
        })
        .await
    }

    async fn find_test_suite(&self, id: &str) -> Result<Option<TestSuite>, Error> {
        let id = id.to_owned();
        self.read(move |connection| {
            let sql = "SELECT * FROM noetl.playbook_test_suite WHERE suite_id = ?1";
            Ok(connection.prepare_cached(sql)?.query_row([id], suite).optional()?)
        })
        .await
    }

    async fn list_test_suites(&self, playbook_path: Option<&str>) -> Result<Vec<TestSuite>, Error> {
        let path = playbook_path.map(str::to_owned);
        self.read(move |connection| {
            let sql = "
                SELECT * FROM noetl.playbook_test_suite WHERE ?1 IS NULL OR playbook_path = ?1 ORDER BY suite_id";
            let mut statement = connection.prepare_cached(sql)?;
            let suites = statement.query_map([path], suite)?;
            Ok(suites.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn delete_test_suite(&self, id: &str) -> Result<bool, Error> {
        let id = id.to_owned();
        self.write(move |connection| {
            let sql = "DELETE FROM noetl.playbook_test_suite WHERE suite_id = ?1";
            Ok(connection.prepare_cached(sql)?.execute([&id])? > 0)
        })
        .await
    }
}
