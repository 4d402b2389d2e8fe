//! How commands leave the drive loop.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use noetl_bus::Queue;
use noetl_dsl::Plan;
use noetl_engine::Values;
use noetl_types::{Command, CommandKey, ExecutionId, Outcome, Timestamp, Value};

use super::stops::{Attempt, Stops};

/// A command that became durable, with the plan it belongs to.
#[derive(Clone, Debug)]
pub struct Dispatched {
    pub command: Command,
    pub plan: Arc<Plan>,
    /// The catalog entry that the plan was made from.
    pub catalog_id: i64,
    pub pool: Arc<str>,
    /// The trace context of the attempt, when its run is traced.
    pub trace: Option<Value>,
}

impl Dispatched {
    pub fn attempt(&self) -> Attempt {
        (self.command.execution, self.command.key, self.command.attempt)
    }
}

/// Runs commands that take no time and reach nothing outside the run. Whether such a command was run can't be told from
/// outside, so it may be run before it is stored, and again should the commit fail.
pub trait AtOnce: Send + Sync + std::fmt::Debug {
    /// What the command comes to, or nothing when a worker has to see to it.
    fn run(
        &self,
        command: &Command,
        plan: &Arc<Plan>,
        pool: &str,
        values: &Arc<dyn Values>,
        now: Timestamp,
    ) -> Option<Outcome>;
}

/// Where commands go. Called after the commit that issued them; losing one costs a lease's time.
pub trait Dispatcher: Send + Sync + std::fmt::Debug {
    fn dispatch(&self, commands: Vec<Dispatched>);

    /// Whoever works on this attempt should stop.
    fn cancel(&self, execution: ExecutionId, command: CommandKey, attempt: u16);

    /// The worker that a command goes to at once, when there is one: it gets the lease with the command.
    fn holder(&self) -> Option<Arc<str>>;

    /// Does what needs no worker. Only where there are workers in the same process, whose name such work bears.
    fn at_once(&self) -> Option<(&dyn AtOnce, Arc<str>)> {
        None
    }

    /// The name under which workers within a server's process hold their leases. They die with it, so that after a start
    /// leases of this name count for nothing.
    fn process_worker(&self) -> Arc<str>;

    /// The queue that workers of other processes are served from.
    fn queue(&self) -> &WorkQueue;

    /// Waits until fewer than so many commands wait for workers.
    fn wait_for_room<'a>(&'a self, backlog: usize) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

/// The queue that workers take commands from: those of this process directly, those elsewhere over HTTP.
#[derive(Clone, Debug)]
pub struct WorkQueue {
    pub queue: Queue<Dispatched>,
    /// Attempts to be stopped, told to whoever listens.
    pub cancelled: tokio::sync::broadcast::Sender<Attempt>,
    /// The same for workers elsewhere, who ask now and then.
    pub stops: Arc<Stops>,
    /// All workers of the process share one name, and so their leases.
    pub worker: Arc<str>,
    /// Whether there are workers in this process. Commands are issued with their lease then.
    pub has_workers: bool,
    /// Does what needs none of them.
    pub at_once: Option<Arc<dyn AtOnce>>,
}

impl WorkQueue {
    /// For a process that has workers of its own.
    pub fn new(worker: impl Into<Arc<str>>) -> WorkQueue {
        let (cancelled, _) = tokio::sync::broadcast::channel(4096);
        WorkQueue {
            queue: Queue::default(),
            cancelled,
            stops: Arc::default(),
            worker: worker.into(),
            has_workers: true,
            at_once: None,
        }
    }

    /// For a process without workers: commands wait until a worker elsewhere claims them.
    pub fn without_workers(worker: impl Into<Arc<str>>) -> WorkQueue {
        WorkQueue { has_workers: false, ..WorkQueue::new(worker) }
    }

    /// The same queue; what needs no worker is done by this.
    pub fn with_at_once(self, at_once: Arc<dyn AtOnce>) -> WorkQueue {
        WorkQueue { at_once: Some(at_once), ..self }
    }

    /// Ends all waiting: nothing is given out any more.
    pub fn close(&self) {
        self.queue.close();
        self.stops.close();
    }
}

impl Dispatcher for WorkQueue {
    fn dispatch(&self, commands: Vec<Dispatched>) {
        self.queue.push(commands.into_iter().map(|command| (command.pool.clone(), command)));
    }

    fn cancel(&self, execution: ExecutionId, command: CommandKey, attempt: u16) {
        self.queue.retain(|waiting| waiting.command.execution != execution || waiting.command.key != command);
        self.stops.add((execution, command, attempt));
        // Nobody listens when no worker runs; then there is nothing to stop.
        let _ = self.cancelled.send((execution, command, attempt));
    }

    fn holder(&self) -> Option<Arc<str>> {
        self.has_workers.then(|| self.worker.clone())
    }

    fn at_once(&self) -> Option<(&dyn AtOnce, Arc<str>)> {
        self.at_once.as_deref().map(|at_once| (at_once, self.worker.clone()))
    }

    fn process_worker(&self) -> Arc<str> {
        self.worker.clone()
    }

    fn queue(&self) -> &WorkQueue {
        self
    }

    fn wait_for_room<'a>(&'a self, backlog: usize) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(self.queue.wait_for_room(backlog))
    }
}
