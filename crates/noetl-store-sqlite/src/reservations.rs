//! Keys that start at most one execution.

use async_trait::async_trait;
use noetl_store::{Error, Reservation, Reservations};
use noetl_types::{ExecutionId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use crate::SqliteStore;
use crate::columns::{Iso, int};

fn column(scope: Option<ExecutionId>) -> i64 {
    scope.map_or(0, |scope| scope.0)
}

/// The execution that has this key already.
pub fn reserved_by(
    connection: &Connection,
    scope: Option<ExecutionId>,
    key: &str,
    now: Timestamp,
) -> rusqlite::Result<Option<ExecutionId>> {
    let sql = "
        SELECT execution_id FROM noetl.subscription_dedup
        WHERE subscription_id = ?1 AND dedup_key = ?2 AND expires_at > ?3";
    let values = params![column(scope), key, Iso(now)];
    connection.prepare_cached(sql)?.query_row(values, |row| row.get(0).map(ExecutionId)).optional()
}

/// Takes a key that is free.
pub fn reserve(
    connection: &Connection,
    reservation: &Reservation,
    execution: ExecutionId,
) -> rusqlite::Result<()> {
    let sql = "
        INSERT OR REPLACE INTO noetl.subscription_dedup (subscription_id, dedup_key, execution_id, seen_at, expires_at)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![
        column(reservation.scope),
        &*reservation.key,
        execution.0,
        Iso(reservation.seen_at),
        Iso(reservation.expires_at)
    ];
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

#[async_trait]
impl Reservations for SqliteStore {
    async fn find_reservation(
        &self,
        scope: Option<ExecutionId>,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<ExecutionId>, Error> {
        let key = key.to_owned();
        self.read(move |connection| Ok(reserved_by(connection, scope, &key, now)?)).await
    }

    async fn purge_reservations(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        self.write_relaxed(move |connection| {
            let sql = "
                DELETE FROM noetl.subscription_dedup WHERE (subscription_id, dedup_key) IN (
                    SELECT subscription_id, dedup_key FROM noetl.subscription_dedup WHERE expires_at <= ?1 LIMIT ?2
                )";
            Ok(connection.prepare_cached(sql)?.execute(params![Iso(now), int(limit)])? as u64)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn reservations_that_are_over_are_found_by_their_index() {
        let sql = "SELECT dedup_key FROM noetl.subscription_dedup WHERE expires_at <= ?1 LIMIT ?2";
        crate::plan::assert_plan(sql, "subscription_dedup_by_expiry");
    }
}
