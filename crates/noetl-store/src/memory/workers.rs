//! The registry of running parts.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::Timestamp;

use super::MemoryStore;
use crate::{Error, NewWorker, OFFLINE, WorkerFilter, WorkerKind, WorkerRow, Workers};

fn in_order(mut rows: Vec<WorkerRow>) -> Vec<WorkerRow> {
    rows.sort_by(|a, b| {
        (a.worker.kind.as_str(), &a.worker.name).cmp(&(b.worker.kind.as_str(), &b.worker.name))
    });
    rows
}

#[async_trait]
impl Workers for MemoryStore {
    async fn register_worker(&self, worker: &NewWorker, now: Timestamp) -> Result<WorkerRow, Error> {
        self.with(|state| {
            let row = state
                .workers
                .entry((worker.kind, worker.name.clone()))
                .and_modify(|known| {
                    known.worker = NewWorker { id: known.worker.id, ..worker.clone() };
                    known.heartbeat = now;
                    known.updated_at = now;
                })
                .or_insert_with(|| WorkerRow {
                    worker: worker.clone(),
                    heartbeat: now,
                    created_at: now,
                    updated_at: now,
                });
            row.clone()
        })
    }

    async fn heartbeat(&self, kind: WorkerKind, name: &str, now: Timestamp) -> Result<bool, Error> {
        self.with(|state| match state.workers.get_mut(&(kind, Arc::from(name))) {
            Some(known) => {
                known.heartbeat = now;
                if &*known.worker.status == OFFLINE {
                    known.worker.status = "active".into();
                    known.updated_at = now;
                }
                true
            }
            None => false,
        })
    }

    async fn list_workers(&self, filter: &WorkerFilter) -> Result<Vec<WorkerRow>, Error> {
        self.with(|state| {
            let matches = |row: &&WorkerRow| {
                filter.kind.is_none_or(|kind| row.worker.kind == kind)
                    && filter.status.as_ref().is_none_or(|status| *row.worker.status == **status)
                    && filter.name.as_ref().is_none_or(|name| *row.worker.name == **name)
                    && filter.alive_since.is_none_or(|since| row.heartbeat >= since)
            };
            in_order(state.workers.values().filter(matches).cloned().collect())
        })
    }

    async fn deregister_worker(&self, kind: WorkerKind, name: &str) -> Result<bool, Error> {
        self.with(|state| state.workers.remove(&(kind, Arc::from(name))).is_some())
    }

    async fn sweep_workers(&self, before: Timestamp, now: Timestamp) -> Result<Vec<WorkerRow>, Error> {
        self.with(|state| {
            let silent = state.workers.values_mut().filter(|row| row.heartbeat < before);
            let newly = silent.filter(|row| &*row.worker.status != OFFLINE).map(|row| {
                row.worker.status = OFFLINE.into();
                row.updated_at = now;
                row.clone()
            });
            in_order(newly.collect())
        })
    }

    async fn purge_workers(&self, before: Timestamp) -> Result<u64, Error> {
        self.with(|state| {
            let all = state.workers.len();
            state.workers.retain(|_, row| row.heartbeat >= before);
            (all - state.workers.len()) as u64
        })
    }
}
