//! Events that others tell of.

use async_trait::async_trait;
use noetl_store::{Error, ProjectedEvent, Projections};
use noetl_types::{EventId, ExecutionId, Timestamp};
use rusqlite::params;

use crate::SqliteStore;
use crate::columns::{Json, Micros, int};

const RECORDED: &str = "SELECT 1 FROM noetl.event_record WHERE event_id = ?1 AND execution_id = ?2";

const INSERT: &str = "
    INSERT INTO noetl.projected_event (execution_id, event_id, event_type, at, envelope)
    VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT DO NOTHING";

const PURGE: &str = "
    DELETE FROM noetl.projected_event WHERE (execution_id, event_id) IN (
        SELECT execution_id, event_id FROM noetl.projected_event WHERE at < ?1 ORDER BY at LIMIT ?2
    )";

#[async_trait]
impl Projections for SqliteStore {
    async fn project_events(&self, events: &[ProjectedEvent]) -> Result<Vec<bool>, Error> {
        let events = events.to_vec();
        self.write(move |connection| {
            let mut recorded = connection.prepare_cached(RECORDED)?;
            let mut insert = connection.prepare_cached(INSERT)?;
            let mut new = Vec::with_capacity(events.len());
            for event in &events {
                let (execution, id) = (event.execution.0, event.id.0);
                let is_new = !recorded.exists([id, execution])?
                    && insert.execute(params![
                        execution,
                        id,
                        &*event.event_type,
                        Micros(event.at),
                        event.envelope.to_string(),
                    ])? > 0;
                new.push(is_new);
            }
            Ok(new)
        })
        .await
    }

    async fn list_projected(
        &self,
        execution: ExecutionId,
        limit: usize,
    ) -> Result<Vec<ProjectedEvent>, Error> {
        self.read(move |connection| {
            let sql = "
                SELECT event_id, event_type, at, envelope FROM noetl.projected_event
                WHERE execution_id = ?1 ORDER BY event_id LIMIT ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let events = statement.query_map([execution.0, int(limit)], |row| {
                Ok(ProjectedEvent {
                    execution,
                    id: EventId(row.get("event_id")?),
                    event_type: row.get("event_type")?,
                    at: row.get::<_, Micros>("at")?.0,
                    envelope: row.get::<_, Json>("envelope")?.0,
                })
            })?;
            Ok(events.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn purge_projected(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        self.write(move |connection| {
            Ok(connection.prepare_cached(PURGE)?.execute(params![Micros(before), int(limit)])? as u64)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    #[test]
    fn told_events_are_known_by_their_indexes() {
        assert_plan(RECORDED, "event_by_id (event_id=? AND execution_id=?)");
        assert_plan(PURGE, "projected_event_by_time (at<?)");
    }
}
