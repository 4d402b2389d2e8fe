//! Housekeeping on request: letting go of what is old, and storing the state of runs.

use std::time::Duration;

use noetl_store::{Batch, ExecutionWrite, Snapshot};
use noetl_types::{EventId, ExecutionId};

use super::{App, Code, Error};
use crate::drive::load_run;

/// How long things are kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    pub commands: Duration,
    pub silent_workers: Duration,
    /// Without it all executions are kept.
    pub executions: Option<Duration>,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub commands: u64,
    pub workers: u64,
    pub executions: u64,
    pub events: u64,
}

/// Rows removed at a time, so that no single write takes long.
const BATCH: usize = 500;

/// The state of a run as it is now stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub last_event: EventId,
    pub events: u64,
}

/// How often a run that keeps moving is tried.
const TRIES: usize = 5;

impl App {
    /// Removes what is older than it is to be kept.
    pub async fn purge(&self, keep: Retention) -> Result<Removed, Error> {
        let (store, now) = (self.store(), self.now());
        let mut removed = Removed::default();
        loop {
            let commands = store.purge_commands(now.before(keep.commands), BATCH).await?;
            removed.commands += commands;
            if commands < BATCH as u64 {
                break;
            }
        }
        removed.workers = store.purge_workers(now.before(keep.silent_workers)).await?;
        if let Some(executions) = keep.executions {
            while store.purge_projected(now.before(executions), BATCH).await? == BATCH as u64 {}
        }
        while let Some(executions) = keep.executions {
            let purged = store.purge_executions(now.before(executions), BATCH).await?;
            removed.executions += purged.executions;
            removed.events += purged.events;
            if purged.executions < BATCH as u64 {
                break;
            }
        }
        Ok(removed)
    }

    /// Stores the state of a run as of its newest event, so that it is loaded fast.
    pub async fn store_state(&self, id: ExecutionId) -> Result<Stored, Error> {
        for _ in 0..TRIES {
            let found = self.store().find_execution(id).await?;
            let found = found.ok_or_else(|| Error::execution_not_found(id))?;
            let Some((run, _)) = load_run(&**self.store(), id).await? else {
                return Err(Error::execution_not_found(id));
            };
            if run.seq != found.seq {
                continue;
            }
            let state = serde_json::to_vec(&run).map_err(Error::internal)?;
            let mut write = ExecutionWrite::new(id, found.seq, found.row);
            let last_event = found.last.id;
            write.snapshot = Some(Snapshot { seq: run.seq, last_event, state: state.into() });
            let committed = self.store().commit(&Batch { executions: vec![write] }).await?;
            if committed.lost.is_empty() {
                return Ok(Stored { last_event, events: run.seq });
            }
        }
        Err(Error::new(Code::Conflict, format!("execution {id} keeps moving; try again")))
    }
}
