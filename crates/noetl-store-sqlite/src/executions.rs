//! Reading executions, events, snapshots and loop results.

use std::collections::BTreeSet;

use async_trait::async_trait;
use noetl_store::{
    Error, Execution, ExecutionFilter, ExecutionRow, Executions, LastEvent, LoopResult, PathFilter, Snapshot,
    sha256_hex,
};
use noetl_types::{Event, EventId, ExecutionId, Outcome, RunStatus, Timestamp, VisitId};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use serde::Deserialize;

use crate::SqliteStore;
use crate::columns::{Bytes, Json, Micros, Run, from_json, int};
use crate::commit::SNAPSHOT_TYPE;
use crate::error;
use crate::filter::{Conditions, end_of_prefix};

const EXECUTION: &str = "
    SELECT execution_id, seq, status, catalog_id, version, path, parent_execution_id, started_at, ended_at,
        last_event_id, last_event_at, last_event_type, last_node_name, labels, meta, error, result
    FROM noetl.execution_record";

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

fn conditions(filter: &ExecutionFilter) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.add_some("execution_id < ?", filter.before.map(|before| before.0));
    if let [status] = filter.statuses[..] {
        conditions.add("status = ?", status.as_str());
    } else if !filter.statuses.is_empty() {
        let places: Vec<String> =
            filter.statuses.iter().map(|status| conditions.value(status.as_str())).collect();
        conditions.add_plain(&format!("status IN ({})", places.join(", ")));
    }
    match &filter.path {
        Some(PathFilter::Is(path)) => conditions.add("path = ?", path.clone()),
        Some(PathFilter::StartsWith(prefix)) => {
            // The sign keeps the index on paths out: a prefix often covers most rows, and then the newest few are found
            // faster by walking back from the newest.
            conditions.add("+path >= ?", prefix.clone());
            conditions.add_some("+path < ?", end_of_prefix(prefix));
        }
        None => {}
    }
    conditions.add_some("parent_execution_id = ?", filter.parent.map(|parent| parent.0));
    conditions.add_some("started_at >= ?", filter.started_from.map(Micros));
    conditions.add_some("started_at < ?", filter.started_before.map(Micros));
    for (key, value) in &filter.labels {
        let exists = "EXISTS (SELECT 1 FROM json_each(labels) WHERE key = ?a AND value = ?b)";
        conditions.add_pair(exists, key.clone(), value.clone());
    }
    conditions.add_some(
        "(instr(lower(path), ?) > 0 OR instr(execution_id, ?) > 0 OR instr(lower(error), ?) > 0)",
        filter.search.as_ref().map(|text| text.to_ascii_lowercase()),
    );
    conditions
}

const EVENT: &str = "SELECT event_id, seq, at, body FROM noetl.event_record";

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        id: EventId(row.get(0)?),
        seq: row.get::<_, i64>(1)? as u64,
        at: Timestamp(row.get(2)?),
        body: from_json(row, 3)?,
    })
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
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!("{EXECUTION} WHERE execution_id = ?1"))?;
            Ok(statement.query_row([id.0], execution).optional()?)
        })
        .await
    }

    async fn list_executions(&self, filter: &ExecutionFilter, limit: usize) -> Result<Vec<Execution>, Error> {
        let mut conditions = conditions(filter);
        let limit = conditions.value(int(limit));
        let sql = format!("{EXECUTION} WHERE {} ORDER BY execution_id DESC LIMIT {limit}", conditions.sql());
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(&*conditions.values(), execution)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn count_executions(&self) -> Result<Vec<(RunStatus, u64)>, Error> {
        self.read(|connection| {
            let sql = "SELECT status, count(*) FROM noetl.execution_record GROUP BY status ORDER BY status";
            let mut statement = connection.prepare_cached(sql)?;
            let counts =
                statement.query_map([], |row| Ok((row.get::<_, Run>(0)?.0, row.get::<_, i64>(1)? as u64)))?;
            Ok(counts.collect::<rusqlite::Result<_>>()?)
        })
        .await
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
    fn lists_of_executions_never_sort() {
        let status = ExecutionFilter { statuses: vec![RunStatus::Running], ..Default::default() };
        let path = ExecutionFilter { path: Some(PathFilter::Is("a".to_owned())), ..Default::default() };
        let prefix =
            ExecutionFilter { path: Some(PathFilter::StartsWith("a".to_owned())), ..Default::default() };
        let parent = ExecutionFilter { parent: Some(ExecutionId(1)), ..Default::default() };
        let before = ExecutionFilter { before: Some(ExecutionId(1)), ..Default::default() };
        for (filter, way) in [
            (&status, "execution_by_status"),
            (&path, "execution_by_path"),
            (&parent, "execution_by_parent"),
            (&before, "USING INTEGER PRIMARY KEY"),
            (&prefix, "SCAN noetl.execution_record"),
            (&ExecutionFilter::default(), "SCAN noetl.execution_record"),
        ] {
            assert_plan(
                &format!(
                    "{EXECUTION} WHERE {} ORDER BY execution_id DESC LIMIT 50",
                    conditions(filter).sql()
                ),
                way,
            );
        }
    }
}
