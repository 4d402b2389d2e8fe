//! Claiming timers.

use std::time::Duration;

use async_trait::async_trait;
use noetl_store::{DueTimer, Error, TimerRow, Timers};
use noetl_types::{ExecutionId, Timestamp};
use rusqlite::{Row, params};

use crate::SqliteStore;
use crate::columns::{Micros, Timer, int};

fn timer(row: &Row<'_>) -> rusqlite::Result<TimerRow> {
    Ok(TimerRow { key: row.get::<_, Timer>("timer_key")?.0, due: row.get::<_, Micros>("due_at")?.0 })
}

#[async_trait]
impl Timers for SqliteStore {
    async fn claim_due_timers(
        &self,
        now: Timestamp,
        limit: usize,
        visibility: Duration,
    ) -> Result<Vec<DueTimer>, Error> {
        self.write_relaxed(move |connection| {
            let sql = "
                SELECT execution_id, timer_key, due_at FROM noetl.timer WHERE visible_at <= ?1
                ORDER BY visible_at, execution_id, timer_key LIMIT ?2";
            let mut select = connection.prepare_cached(sql)?;
            let due = select.query_map(params![Micros(now), int(limit)], |row| {
                Ok(DueTimer { execution: ExecutionId(row.get("execution_id")?), row: timer(row)? })
            })?;
            let due: Vec<DueTimer> = due.collect::<rusqlite::Result<_>>()?;
            let sql = "UPDATE noetl.timer SET visible_at = ?3 WHERE execution_id = ?1 AND timer_key = ?2";
            let mut update = connection.prepare_cached(sql)?;
            for timer in &due {
                let visible_at = Micros(now.after(visibility));
                update.execute(params![timer.execution.0, timer.row.key.to_string(), visible_at])?;
            }
            Ok(due)
        })
        .await
    }

    async fn next_timer(&self) -> Result<Option<Timestamp>, Error> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT min(visible_at) FROM noetl.timer")?;
            let next: Option<Micros> = statement.query_row([], |row| row.get(0))?;
            Ok(next.map(|at| at.0))
        })
        .await
    }

    async fn list_timers(&self, execution: ExecutionId) -> Result<Vec<TimerRow>, Error> {
        self.read(move |connection| {
            let sql = "SELECT timer_key, due_at FROM noetl.timer WHERE execution_id = ?1 ORDER BY due_at, timer_key";
            let mut statement = connection.prepare_cached(sql)?;
            let timers = statement.query_map([execution.0], timer)?;
            Ok(timers.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}
