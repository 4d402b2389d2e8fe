//! Publishing messages. What a power failure undoes here is published once more, which receivers have to bear anyway.

use std::time::Duration;

use async_trait::async_trait;
use noetl_store::{ClaimedMessage, Error, MAX_CLAIMED, Outbox, OutboxRow, back_off_seconds, cut_error};
use noetl_types::{EventId, ExecutionId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::SqliteStore;
use crate::columns::{Iso, Json, int};

fn message(row: &Row<'_>) -> rusqlite::Result<ClaimedMessage> {
    Ok(ClaimedMessage {
        id: row.get("outbox_id")?,
        execution: ExecutionId(row.get("execution_id")?),
        row: OutboxRow {
            event: EventId(row.get("event_id")?),
            subject: row.get("subject")?,
            payload: row.get::<_, Json>("payload")?.0,
            available_at: row.get::<_, Iso>("available_at")?.0,
        },
        attempts: row.get("attempts")?,
    })
}

#[async_trait]
impl Outbox for SqliteStore {
    async fn claim_outbox(
        &self,
        now: Timestamp,
        limit: usize,
        visibility: Duration,
    ) -> Result<Vec<ClaimedMessage>, Error> {
        let limit = limit.clamp(1, MAX_CLAIMED);
        let micros = i64::try_from(visibility.as_micros()).unwrap_or(i64::MAX);
        let locked_before = Timestamp(now.0.saturating_sub(micros));
        self.write_relaxed(move |connection| {
            let sql = "
                SELECT outbox_id, execution_id, event_id, subject, payload, available_at, attempts + 1 AS attempts
                FROM noetl.outbox
                WHERE status <> 'PUBLISHED' AND (
                    (status IN ('PENDING', 'FAILED') AND available_at <= ?1)
                    OR (status = 'IN_FLIGHT' AND locked_at <= ?2)
                )
                ORDER BY outbox_id LIMIT ?3";
            let mut select = connection.prepare_cached(sql)?;
            let claimed = select.query_map(params![Iso(now), Iso(locked_before), int(limit)], message)?;
            let claimed: Vec<ClaimedMessage> = claimed.collect::<rusqlite::Result<_>>()?;
            let sql = "
                UPDATE noetl.outbox SET status = 'IN_FLIGHT', attempts = attempts + 1, locked_at = ?2, updated_at = ?2
                WHERE outbox_id = ?1";
            let mut update = connection.prepare_cached(sql)?;
            for message in &claimed {
                update.execute(params![message.id, Iso(now)])?;
            }
            Ok(claimed)
        })
        .await
    }

    async fn mark_published(&self, ids: &[i64], now: Timestamp) -> Result<u64, Error> {
        let ids = ids.to_vec();
        self.write_relaxed(move |connection| {
            let sql = "
                UPDATE noetl.outbox SET
                    status = 'PUBLISHED', published_at = coalesce(published_at, ?2), updated_at = ?2, last_error = NULL
                WHERE outbox_id = ?1";
            let mut update = connection.prepare_cached(sql)?;
            let mut marked = 0;
            for id in &ids {
                marked += update.execute(params![id, Iso(now)])? as u64;
            }
            Ok(marked)
        })
        .await
    }

    async fn mark_failed(
        &self,
        id: i64,
        error: &str,
        attempts: u32,
        max_delay_seconds: u64,
        now: Timestamp,
    ) -> Result<Option<u64>, Error> {
        let delay = back_off_seconds(attempts, max_delay_seconds);
        let error = cut_error(error).to_owned();
        self.write_relaxed(move |connection| {
            let sql = "
                UPDATE noetl.outbox SET status = 'FAILED', last_error = ?2, available_at = ?3, updated_at = ?4
                WHERE outbox_id = ?1 AND status <> 'PUBLISHED'";
            let available_at = Iso(now.after(Duration::from_secs(delay)));
            let marked =
                connection.prepare_cached(sql)?.execute(params![id, error, available_at, Iso(now)])?;
            Ok((marked > 0).then_some(delay))
        })
        .await
    }

    async fn count_pending(&self, now: Timestamp) -> Result<u64, Error> {
        self.read(move |connection| {
            let sql = "
                SELECT count(*) FROM noetl.outbox
                WHERE status <> 'PUBLISHED' AND status IN ('PENDING', 'FAILED') AND available_at <= ?1";
            let count: i64 = connection.prepare_cached(sql)?.query_row([Iso(now)], |row| row.get(0))?;
            Ok(count as u64)
        })
        .await
    }

    async fn find_outbox_error(&self, id: i64) -> Result<Option<String>, Error> {
        self.read(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT last_error FROM noetl.outbox WHERE outbox_id = ?1")?;
            Ok(statement.query_row([id], |row| row.get(0)).optional()?.flatten())
        })
        .await
    }

    async fn purge_published(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        self.write_relaxed(move |connection| {
            let sql = "
                DELETE FROM noetl.outbox WHERE outbox_id IN (
                    SELECT outbox_id FROM noetl.outbox WHERE status = 'PUBLISHED' AND published_at < ?1 LIMIT ?2
                )";
            Ok(connection.prepare_cached(sql)?.execute(params![Iso(before), int(limit)])? as u64)
        })
        .await
    }
}
