//! The registry of running parts.

use async_trait::async_trait;
use noetl_store::{Error, NewWorker, OFFLINE, WorkerFilter, WorkerKind, WorkerRow, Workers};
use noetl_types::Timestamp;
use rusqlite::{Row, params};

use crate::SqliteStore;
use crate::columns::{Iso, Json, JsonRef, Part};
use crate::filter::Conditions;

fn worker(row: &Row<'_>) -> rusqlite::Result<WorkerRow> {
    Ok(WorkerRow {
        worker: NewWorker {
            id: row.get("runtime_id")?,
            kind: row.get::<_, Part>("kind")?.0,
            name: row.get("name")?,
            uri: row.get("uri")?,
            status: row.get("status")?,
            labels: row.get::<_, Json>("labels")?.0,
            capabilities: row.get::<_, Json>("capabilities")?.0,
            capacity: row.get("capacity")?,
            runtime: row.get::<_, Json>("runtime")?.0,
        },
        heartbeat: row.get::<_, Iso>("heartbeat")?.0,
        created_at: row.get::<_, Iso>("created_at")?.0,
        updated_at: row.get::<_, Iso>("updated_at")?.0,
    })
}

#[async_trait]
impl Workers for SqliteStore {
    async fn register_worker(&self, new: &NewWorker, now: Timestamp) -> Result<WorkerRow, Error> {
        let new = new.clone();
        self.write(move |connection| {
            let sql = "
                INSERT INTO noetl.runtime (
                    runtime_id, kind, name, uri, status, labels, capabilities, capacity, runtime,
                    heartbeat, created_at, updated_at
                ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?10)
                ON CONFLICT (kind, name) DO UPDATE SET
                    uri = excluded.uri, status = excluded.status, labels = excluded.labels,
                    capabilities = excluded.capabilities, capacity = excluded.capacity, runtime = excluded.runtime,
                    heartbeat = excluded.heartbeat, updated_at = excluded.updated_at
                RETURNING *";
            let values = params![
                new.id,
                new.kind.as_str(),
                &*new.name,
                new.uri,
                &*new.status,
                JsonRef(&new.labels),
                JsonRef(&new.capabilities),
                new.capacity,
                JsonRef(&new.runtime),
                Iso(now),
            ];
            Ok(connection.prepare_cached(sql)?.query_row(values, worker)?)
        })
        .await
    }

    async fn heartbeat(&self, kind: WorkerKind, name: &str, now: Timestamp) -> Result<bool, Error> {
        let name = name.to_owned();
        self.write_relaxed(move |connection| {
            let sql = "
                UPDATE noetl.runtime SET
                    heartbeat = ?3,
                    updated_at = CASE status WHEN ?4 THEN ?3 ELSE updated_at END,
                    status = CASE status WHEN ?4 THEN 'active' ELSE status END
                WHERE kind = ?1 AND name = ?2";
            let values = params![kind.as_str(), name, Iso(now), OFFLINE];
            Ok(connection.prepare_cached(sql)?.execute(values)? > 0)
        })
        .await
    }

    async fn list_workers(&self, filter: &WorkerFilter) -> Result<Vec<WorkerRow>, Error> {
        let mut conditions = Conditions::default();
        conditions.add_some("kind = ?", filter.kind.map(WorkerKind::as_str));
        conditions.add_some("status = ?", filter.status.clone());
        conditions.add_some("name = ?", filter.name.clone());
        conditions.add_some("heartbeat >= ?", filter.alive_since.map(Iso));
        let sql = format!("SELECT * FROM noetl.runtime WHERE {} ORDER BY kind, name", conditions.sql());
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(&*conditions.values(), worker)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    async fn deregister_worker(&self, kind: WorkerKind, name: &str) -> Result<bool, Error> {
        let name = name.to_owned();
        self.write(move |connection| {
            let sql = "DELETE FROM noetl.runtime WHERE kind = ?1 AND name = ?2";
            Ok(connection.prepare_cached(sql)?.execute(params![kind.as_str(), name])? > 0)
        })
        .await
    }

    async fn sweep_workers(&self, before: Timestamp, now: Timestamp) -> Result<Vec<WorkerRow>, Error> {
        self.write(move |connection| {
            let sql = "
                UPDATE noetl.runtime SET status = ?1, updated_at = ?2 WHERE heartbeat < ?3 AND status <> ?1
                RETURNING *";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![OFFLINE, Iso(now), Iso(before)], worker)?;
            let mut rows: Vec<WorkerRow> = rows.collect::<rusqlite::Result<_>>()?;
            rows.sort_by(|a, b| {
                (a.worker.kind.as_str(), &a.worker.name).cmp(&(b.worker.kind.as_str(), &b.worker.name))
            });
            Ok(rows)
        })
        .await
    }

    async fn purge_workers(&self, before: Timestamp) -> Result<u64, Error> {
        self.write(move |connection| {
            let mut delete = connection.prepare_cached("DELETE FROM noetl.runtime WHERE heartbeat < ?1")?;
            Ok(delete.execute([Iso(before)])? as u64)
        })
        .await
    }
}
