//! How commands leave the drive loop.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use noetl_bus::Queue;
use noetl_dsl::Plan;
use noetl_types::{Command, CommandKey, ExecutionId};

/// A command that became durable, with the plan it belongs to.
#[derive(Clone, Debug)]
pub struct Dispatched {
    pub command: Command,
    pub plan: Arc<Plan>,
    pub pool: Arc<str>,
}

/// Where commands go. Called after the commit that issued them; losing one costs a lease's time.
pub trait Dispatcher: Send + Sync + std::fmt::Debug {
    fn dispatch(&self, commands: Vec<Dispatched>);

    /// Whoever works on this attempt should stop.
    fn cancel(&self, execution: ExecutionId, command: CommandKey, attempt: u16);

    /// The worker that a command goes to at once, when there is one: it gets the lease with the command.
    fn holder(&self) -> Option<Arc<str>>;

    /// Waits until fewer than so many commands wait for workers.
    fn wait_for_room<'a>(&'a self, backlog: usize) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

/// The queue for workers of this process.
#[derive(Clone, Debug)]
pub struct WorkQueue {
    pub queue: Queue<Dispatched>,
    /// Attempts to be stopped, told to whoever listens.
    pub cancelled: tokio::sync::broadcast::Sender<(ExecutionId, CommandKey, u16)>,
    /// All workers of the process share one name, and so their leases.
    pub worker: Arc<str>,
}

impl WorkQueue {
    pub fn new(worker: impl Into<Arc<str>>) -> WorkQueue {
        let (cancelled, _) = tokio::sync::broadcast::channel(4096);
        WorkQueue { queue: Queue::default(), cancelled, worker: worker.into() }
    }
}

impl Dispatcher for WorkQueue {
    fn dispatch(&self, commands: Vec<Dispatched>) {
        self.queue.push(commands.into_iter().map(|command| (command.pool.clone(), command)));
    }

    fn cancel(&self, execution: ExecutionId, command: CommandKey, attempt: u16) {
        self.queue.retain(|waiting| waiting.command.execution != execution || waiting.command.key != command);
        // Nobody listens when no worker runs; then there is nothing to stop.
        let _ = self.cancelled.send((execution, command, attempt));
    }

    fn holder(&self) -> Option<Arc<str>> {
        Some(self.worker.clone())
    }

    fn wait_for_room<'a>(&'a self, backlog: usize) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(self.queue.wait_for_room(backlog))
    }
}
