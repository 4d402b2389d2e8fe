//! One run in memory, and how it is brought there.

use std::sync::Arc;

use noetl_engine::{Run, apply};
use noetl_store::{ExecutionRow, Store};
use noetl_types::{ExecutionId, RunStatus, Slot, Value};

use super::DriveError;
use crate::catalog::{Playbook, Playbooks, Reference};

/// Events read at a time when a run is brought back.
const PAGE: usize = 1000;

/// A run as a drive task holds it.
#[derive(Debug)]
pub struct Session {
    pub run: Run,
    pub playbook: Playbook,
    /// The seq of the newest snapshot.
    pub snapshot_seq: u64,
    pub pool: Arc<str>,
    /// An estimate of the memory it takes.
    pub bytes: usize,
    /// The seq at which it was estimated.
    measured_at: u64,
}

impl Session {
    pub fn new(run: Run, playbook: Playbook, pool: Arc<str>, snapshot_seq: u64) -> Session {
        Session { run, playbook, snapshot_seq, pool, bytes: 0, measured_at: 0 }
    }

    /// Brings a run back: its newest snapshot, then the events after it.
    pub async fn load(
        store: &dyn Store,
        playbooks: &Playbooks,
        execution: ExecutionId,
    ) -> Result<Option<Session>, DriveError> {
        let Some((run, snapshot_seq)) = load_run(store, execution).await? else {
            return Ok(None);
        };
        let playbook = playbooks.get(&Reference::Id(run.started.catalog_id)).await?;
        let pool = pool_of(&run.started.meta, &run.started.path);
        Ok(Some(Session::new(run, playbook, pool, snapshot_seq)))
    }

    pub fn row(&self) -> ExecutionRow {
        let run = &self.run;
        // Those given with the start count more than those of the playbook.
        let of_playbook = self.playbook.plan.metadata.get("labels");
        let of_start = run.started.meta.get("labels");
        let labels = [of_playbook, of_start].into_iter().flatten().filter_map(Value::as_map).flatten();
        let as_text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
        let labels = labels.map(|(key, value)| (key.to_string(), as_text(value))).collect();
        ExecutionRow {
            path: run.started.path.clone(),
            catalog_id: run.started.catalog_id,
            version: run.started.version,
            parent: run.started.parent.as_ref().map(|parent| parent.execution),
            pool: self.pool.clone(),
            labels,
            started_at: run.started_at,
            status: run.status,
            ended_at: run.ended_at,
            error: run.error.as_ref().map(|error| error.message.clone()),
            result: run.result().map(preview),
            meta: run.started.meta.clone(),
        }
    }

    /// A rough measure of the memory that the run takes, for the bound on all of them. Taken now and then only.
    pub fn measure(&mut self) {
        if self.measured_at > 0 && self.run.seq < self.measured_at + 200 {
            return;
        }
        self.measured_at = self.run.seq;
        let slot = |slot: &Slot| match slot {
            Slot::Inline(value) => value.json_size_up_to(Slot::INLINE_LIMIT),
            Slot::Stored(_) => 256,
        };
        let run = &self.run;
        let steps: usize = run.steps.values().map(|step| 200 + step.result.as_ref().map_or(0, slot)).sum();
        let ctx: usize = run.ctx.values().map(|value| 100 + slot(value)).sum();
        let work = run.commands.len() * 200 + run.visits.len() * 400;
        self.bytes = 1000 + run.started.workload.json_size_up_to(1 << 20) + steps + ctx + work;
    }

    pub fn is_over(&self) -> bool {
        self.run.status.is_terminal()
    }
}

/// A value short enough for lists.
fn preview(slot: &Slot) -> Value {
    match slot {
        Slot::Inline(value) if value.json_size_up_to(4096) <= 4096 => value.clone(),
        Slot::Inline(_) => Value::Null,
        Slot::Stored(stored) => stored.extract.clone(),
    }
}

/// The pool a run's commands go to: as asked for, or by the prefix of its path.
pub fn pool_of(meta: &Value, path: &str) -> Arc<str> {
    match meta.get("execution_pool").and_then(Value::as_str) {
        Some(pool) if !pool.is_empty() => pool.into(),
        _ if path.starts_with("system/") => "system".into(),
        _ if path.starts_with("subscription/") => "subscription".into(),
        _ => "shared".into(),
    }
}

/// The state of a run from the store, with the seq of the snapshot it comes from. A snapshot that can't be used costs
/// time, not the run: the events tell the whole story.
pub async fn load_run(
    store: &dyn Store,
    execution: ExecutionId,
) -> Result<Option<(Run, u64)>, noetl_store::Error> {
    let snapshot = match store.load_snapshot(execution).await {
        Ok(snapshot) => snapshot,
        Err(error @ noetl_store::Error::Corrupt { .. }) => {
            tracing::warn!(%execution, %error, "the snapshot is passed over");
            None
        }
        Err(error) => return Err(error),
    };
    let mut run = match snapshot.map(|snapshot| serde_json::from_slice::<Run>(&snapshot.state)) {
        Some(Ok(run)) if run.format == Run::FORMAT => run,
        Some(_) => {
            tracing::warn!(%execution, "the snapshot is of another format and is passed over");
            Run::new()
        }
        None => Run::new(),
    };
    let snapshot_seq = run.seq;
    loop {
        let events = store.load_events(execution, run.seq, PAGE).await?;
        for event in &events {
            apply(&mut run, event);
        }
        if events.len() < PAGE {
            break;
        }
    }
    Ok((run.status != RunStatus::Pending).then_some((run, snapshot_seq)))
}
