//! Where the commands of a server go: a table from which the workers of the simulation take them in any order.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noetl_dsl::Plan;
use noetl_engine::Values;
use noetl_engine::pipeline::Next;
use noetl_server::drive::{AtOnce, Dispatched, Dispatcher, WorkQueue};
use noetl_types::{Command, CommandKey, ExecutionId, Item, Outcome, Timestamp};

use crate::job::Job;
use crate::tools::noop;

/// Cheap to clone; all clones are the same table.
#[derive(Clone, Debug)]
pub struct Bus {
    worker: Arc<str>,
    table: Arc<Mutex<Table>>,
    /// For workers that ask over HTTP, of which there are none here.
    unused: WorkQueue,
    at_once: Option<NoopsAtOnce>,
}

/// Runs steps of `noop` alone.
#[derive(Clone, Debug)]
struct NoopsAtOnce;

impl AtOnce for NoopsAtOnce {
    fn run(
        &self,
        command: &Command,
        plan: &Arc<Plan>,
        _pool: &str,
        values: &Arc<dyn Values>,
        now: Timestamp,
    ) -> Option<Outcome> {
        if matches!(command.key.item, Item::Claim(_)) {
            return None;
        }
        let mut job = Job::new(plan, command.clone(), values.clone());
        loop {
            match job.pipeline.next(now) {
                Next::Report(outcome) => return Some(*outcome),
                Next::Call(calls) => {
                    for call in calls {
                        let report = noop(&call).filter(|_| call.delay_seconds <= 0.0)?;
                        job.pipeline.finished(&call, report);
                    }
                }
                Next::Wait | Next::Load(_) => return None,
            }
        }
    }
}

#[derive(Debug, Default)]
struct Table {
    commands: Vec<Dispatched>,
    cancelled: Vec<(ExecutionId, CommandKey, u16)>,
}

impl Bus {
    /// A table for workers that hold their leases under this name.
    pub fn new(worker: &str, at_once: bool) -> Bus {
        Bus {
            worker: worker.into(),
            table: Arc::default(),
            unused: WorkQueue::new(worker),
            at_once: at_once.then_some(NoopsAtOnce),
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn worker(&self) -> &Arc<str> {
        &self.worker
    }

    pub fn len(&self) -> usize {
        self.table().commands.len()
    }

    pub fn take(&self, at: usize) -> Dispatched {
        self.table().commands.swap_remove(at)
    }

    /// Attempts that are to be stopped, since the last time.
    pub fn take_cancelled(&self) -> Vec<(ExecutionId, CommandKey, u16)> {
        std::mem::take(&mut self.table().cancelled)
    }
}

impl Dispatcher for Bus {
    fn dispatch(&self, commands: Vec<Dispatched>) {
        self.table().commands.extend(commands);
    }

    fn cancel(&self, execution: ExecutionId, command: CommandKey, attempt: u16) {
        let mut table = self.table();
        table
            .commands
            .retain(|waiting| waiting.command.execution != execution || waiting.command.key != command);
        table.cancelled.push((execution, command, attempt));
    }

    fn holder(&self) -> Option<Arc<str>> {
        Some(self.worker.clone())
    }

    fn at_once(&self) -> Option<(&dyn AtOnce, Arc<str>)> {
        self.at_once.as_ref().map(|at_once| (at_once as &dyn AtOnce, self.worker.clone()))
    }

    fn process_worker(&self) -> Arc<str> {
        self.worker.clone()
    }

    fn queue(&self) -> &WorkQueue {
        &self.unused
    }

    fn wait_for_room<'a>(&'a self, _backlog: usize) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(ready(()))
    }
}
