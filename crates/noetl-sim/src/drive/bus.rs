//! Where the commands of a server go: a table from which the workers of the simulation take them in any order.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noetl_server::drive::{Dispatched, Dispatcher, WorkQueue};
use noetl_types::{CommandKey, ExecutionId};

/// Cheap to clone; all clones are the same table.
#[derive(Clone, Debug)]
pub struct Bus {
    worker: Arc<str>,
    table: Arc<Mutex<Table>>,
    /// For workers that ask over HTTP, of which there are none here.
    unused: WorkQueue,
}

#[derive(Debug, Default)]
struct Table {
    commands: Vec<Dispatched>,
    cancelled: Vec<(ExecutionId, CommandKey, u16)>,
}

impl Bus {
    /// A table for workers that hold their leases under this name.
    pub fn new(worker: &str) -> Bus {
        Bus { worker: worker.into(), table: Arc::default(), unused: WorkQueue::new(worker) }
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
