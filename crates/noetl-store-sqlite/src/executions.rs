//! Reading executions, events, snapshots and loop results.

use std::collections::BTreeSet;

use async_trait::async_trait;
use noetl_store::{
    Error, EventFilter, Execution, ExecutionFilter, ExecutionRow, Executions, LastEvent, LoopResult,
    MatchCount, ROUNDED_ID, Snapshot, sha256_hex,
};
use noetl_types::{Event, EventId, ExecutionId, Outcome, RunStatus, Timestamp, VisitId};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use serde::Deserialize;

use crate::SqliteStore;
use crate::columns::{Bytes, Json, Micros, Run, from_json, int};
use crate::commit::SNAPSHOT_TYPE;
use crate::error;
use crate::filter::Conditions;
use crate::list::counts;

const EXECUTION: &str = "
    SELECT execution_id, seq, status, catalog_id, version, path, pool, parent_execution_id, started_at,
    ended_at, last_event_id, last_event_at, last_event_type, last_node_name, labels, meta, error,
    result
    FROM noetl.execution_record WHERE execution_id = ?1";

fn execution(row: &Row<'_>) -> rusqlite::Result<Execution> {
    let labels: Json = row.get("labels")?;
    let labels = labels.0.as_map().map(|map| {
        map.iter().filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned()))).collect()
    });
    Ok(Execution {
        id: ExecutionId(row.get("execution_id")?),
        seq: row.get::<_, i64>("seq")? as u64,
        row: ExecutionRow {
            path: row.get("path")?,
            catalog_id: row.get("catalog_id")?,
            version: row.get("version")?,
            parent: row.get::<_, Option<i64>>("parent_execution_id")?.map(ExecutionId),
            pool: row.get("pool")?,
            labels: labels.unwrap_or_default(),
            started_at: row.get::<_, Micros>("started_at")?.0,
            status: row.get::<_, Run>("status")?.0,
            ended_at: row.get::<_, Option<Micros>>("ended_at")?.map(|at| at.0),
            error: row.get("error")?,
            result: row.get::<_, Option<Json>>("result")?.map(|result| result.0),
            meta: row.get::<_, Json>("meta")?.0,
        },
        last: LastEvent {
            id: EventId(row.get("last_event_id")?),
            event_type: row.get("last_event_type")?,
            step: row.get("last_node_name")?,
            at: row.get::<_, Micros>("last_event_at")?.0,
        },
    })
}

/// Reads one execution.
pub fn find(connection: &Connection, id: ExecutionId) -> rusqlite::Result<Option<Execution>> {
    connection.prepare_cached(EXECUTION)?.query_row([id.0], execution).optional()
}

const EVENT: &str = "SELECT event_id, seq, at, body FROM noetl.event_record";

/// Reads a row that begins with the columns of [`EVENT`].
pub fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        id: EventId(row.get(0)?),
        seq: row.get::<_, i64>(1)? as u64,
        at: Timestamp(row.get(2)?),
        body: from_json(row, 3)?,
    })
}

const EXECUTION_OF_EVENT: &str = "
    SELECT execution_id FROM noetl.event_record WHERE event_id = ?1 ORDER BY execution_id LIMIT 1";

/// Everything below an execution. `UNION` keeps what calls itself from going on for ever.
const DESCENDANTS: &str = "
    WITH RECURSIVE below (id) AS (
        SELECT execution_id FROM noetl.execution_record WHERE parent_execution_id = ?1
        UNION
        SELECT e.execution_id FROM below CROSS JOIN noetl.execution_record AS e ON e.parent_execution_id = below.id
    )
    SELECT id FROM below WHERE id <> ?1 ORDER BY id LIMIT ?2";

/// What an event must fulfil, wherever the page begins.
fn event_conditions(
    connection: &Connection,
    id: ExecutionId,
    filter: &EventFilter,
) -> rusqlite::Result<Conditions> {
    let mut conditions = Conditions::default();
    conditions.add("execution_id = ?", id.0);
    if let Some(since) = filter.since {
        let sql = "
            SELECT min(seq) FROM noetl.event_record
            WHERE execution_id = ?1 AND event_id BETWEEN ?2 AND ?3";
        let values = [id.0, since.0.saturating_sub(ROUNDED_ID), since.0.saturating_add(ROUNDED_ID)];
        let near: Option<i64> = connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
        match near {
            Some(seq) => conditions.add("seq >= ?", seq),
            None => conditions.add("+event_id >= ?", since.0),
        }
    }
    if !filter.event_types.is_empty() {
        let places: Vec<String> =
            filter.event_types.iter().map(|wanted| conditions.value(wanted.clone())).collect();
        conditions.add_plain(&format!("body ->> '$.type' IN ({})", places.join(", ")));
    }
    Ok(conditions)
}

/// The last outcome of each item. There is rarely more than one.
const LOOP_RESULTS: &str = "
    SELECT loop_index, seq, body FROM noetl.event_record AS this
    WHERE execution_id = ?1 AND loop_visit = ?2 AND loop_index > ?3 AND NOT EXISTS (
        SELECT 1 FROM noetl.event_record AS later
        WHERE later.execution_id = ?1 AND later.loop_visit = ?2
            AND later.loop_index = this.loop_index AND later.seq > this.seq
    )
    ORDER BY loop_index LIMIT ?4";

/// The part of a `call.done` or `call.error` that the results of loops are put together from.
#[derive(Deserialize)]
struct Finished {
    outcome: Outcome,
}

fn events(connection: &Connection, sql: &str, values: &[&dyn ToSql]) -> error::Outcome<Vec<Event>> {
    let mut statement = connection.prepare_cached(sql)?;
    let events = statement.query_map(values, event)?.collect::<rusqlite::Result<_>>()?;
    Ok(events)
}

#[async_trait]
impl Executions for SqliteStore {
    async fn find_execution(&self, id: ExecutionId) -> Result<Option<Execution>, Error> {
        self.read(move |connection| Ok(find(connection, id)?)).await
    }

    async fn list_executions(&self, filter: &ExecutionFilter, limit: usize) -> Result<Vec<Execution>, Error> {
        self.list_page(filter, limit).await
    }

    async fn count_matching(&self, filter: &ExecutionFilter, at_most: u64) -> Result<MatchCount, Error> {
        self.count_page(filter, at_most).await
    }

    async fn list_descendants(
        &self,
        execution: ExecutionId,
        limit: usize,
    ) -> Result<Vec<ExecutionId>, Error> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(DESCENDANTS)?;
            let ids = statement.query_map([execution.0, int(limit)], |row| row.get(0).map(ExecutionId))?;
            Ok(ids.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn count_executions(&self) -> Result<Vec<(RunStatus, u64)>, Error> {
        self.read(|connection| Ok(counts(connection)?)).await
    }

    async fn load_events(&self, id: ExecutionId, after_seq: u64, limit: usize) -> Result<Vec<Event>, Error> {
        self.read(move |connection| {
            let sql = format!("{EVENT} WHERE execution_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
            events(connection, &sql, params![id.0, int(after_seq), int(limit)])
        })
        .await
    }

    async fn load_events_back(
        &self,
        id: ExecutionId,
        before_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>, Error> {
        self.read(move |connection| {
            let sql = format!("{EVENT} WHERE execution_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3");
            events(connection, &sql, params![id.0, int(before_seq), int(limit)])
        })
        .await
    }

    async fn list_events(
        &self,
        id: ExecutionId,
        filter: &EventFilter,
        limit: usize,
    ) -> Result<Vec<Event>, Error> {
        let filter = filter.clone();
        self.read(move |connection| {
            let mut conditions = event_conditions(connection, id, &filter)?;
            conditions.add_some("seq > ?", filter.after_seq.map(int));
            conditions.add_some("seq < ?", filter.before_seq.map(int));
            let order = if filter.newest_first { "DESC" } else { "ASC" };
            let limit = conditions.value(int(limit));
            let sql = format!("{EVENT} WHERE {} ORDER BY seq {order} LIMIT {limit}", conditions.sql());
            events(connection, &sql, &conditions.values())
        })
        .await
    }

    async fn count_events(&self, id: ExecutionId, filter: &EventFilter) -> Result<u64, Error> {
        let filter = filter.clone();
        self.read(move |connection| {
            let conditions = event_conditions(connection, id, &filter)?;
            let sql = format!("SELECT count(*) FROM noetl.event_record WHERE {}", conditions.sql());
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_row(&*conditions.values(), |row| row.get::<_, i64>(0))? as u64)
        })
        .await
    }

    async fn find_execution_of_event(&self, event_id: EventId) -> Result<Option<ExecutionId>, Error> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(EXECUTION_OF_EVENT)?;
            Ok(statement.query_row([event_id.0], |row| row.get(0).map(ExecutionId)).optional()?)
        })
        .await
    }

    async fn find_event(&self, id: ExecutionId, event_id: EventId) -> Result<Option<Event>, Error> {
        self.read(move |connection| {
            let sql = format!("{EVENT} WHERE execution_id = ?1 AND event_id = ?2");
            Ok(connection.prepare_cached(&sql)?.query_row([id.0, event_id.0], event).optional()?)
        })
        .await
    }

    async fn known_event_ids(&self, id: ExecutionId, ids: &[EventId]) -> Result<BTreeSet<EventId>, Error> {
        let ids = ids.to_vec();
        self.read(move |connection| {
            let sql = "SELECT 1 FROM noetl.event_record WHERE execution_id = ?1 AND event_id = ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let mut known = BTreeSet::new();
            for event_id in ids {
                if statement.exists([id.0, event_id.0])? {
                    known.insert(event_id);
                }
            }
            Ok(known)
        })
        .await
    }

    async fn load_snapshot(&self, id: ExecutionId) -> Result<Option<Snapshot>, Error> {
        self.read(move |connection| {
            let sql = "
                SELECT version, snapshot, checksum, meta ->> '$.applied_count' FROM noetl.projection_snapshot
                WHERE tenant_id = 'default' AND organization_id = 'default'
                    AND aggregate_type = ?1 AND aggregate_id = ?2";
            let found =
                connection.prepare_cached(sql)?.query_row(params![SNAPSHOT_TYPE, id.to_string()], |row| {
                    let snapshot = Snapshot {
                        seq: row.get::<_, i64>(3)? as u64,
                        last_event: EventId(row.get(0)?),
                        state: row.get::<_, Bytes>(1)?.0,
                    };
                    Ok((snapshot, row.get::<_, String>(2)?))
                });
            match found.optional()? {
                Some((snapshot, checksum)) if sha256_hex(&snapshot.state) != checksum => {
                    let what = format!("the snapshot of execution {id}");
                    Err(Error::corrupt(what, "it does not match its checksum").into())
                }
                found => Ok(found.map(|(snapshot, _)| snapshot)),
            }
        })
        .await
    }

    async fn load_loop_results(
        &self,
        id: ExecutionId,
        visit: VisitId,
        after: Option<u32>,
        limit: usize,
    ) -> Result<Vec<LoopResult>, Error> {
        self.read(move |connection| {
            let values = params![id.0, visit.0, after.map_or(-1, i64::from), int(limit)];
            let mut statement = connection.prepare_cached(LOOP_RESULTS)?;
            let results = statement.query_map(values, |row| {
                let Finished { outcome } = from_json(row, 2)?;
                Ok(LoopResult { index: row.get(0)?, seq: row.get::<_, i64>(1)? as u64, outcome })
            })?;
            Ok(results.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_plan;

    #[test]
    fn loop_results_are_read_in_the_order_of_their_index() {
        assert_plan(LOOP_RESULTS, "event_by_loop");
    }

    #[test]
    fn events_are_read_in_the_order_of_their_index() {
        assert_plan(
            &format!("{EVENT} WHERE execution_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3"),
            "event_by_seq",
        );
        assert_plan(&format!("{EVENT} WHERE execution_id = ?1 AND event_id = ?2"), "event_by_id");
    }

    #[test]
    fn what_an_id_leads_to_is_found_by_an_index() {
        assert_plan(EXECUTION_OF_EVENT, "event_by_id (event_id=?)");
        let below = DESCENDANTS.replace("ORDER BY id", "").replace("UNION", "UNION ALL");
        assert_plan(&below, "execution_by_parent (parent_execution_id=?)");
    }
}
