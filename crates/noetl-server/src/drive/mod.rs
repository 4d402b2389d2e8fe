//! The write path: every change of every run goes through here.
//!
//! Inputs are routed by execution to one of a few tasks. A task takes everything that waits in its mailbox, lets the
//! engine decide for each execution, and makes the lot durable in one commit. Callers are answered, workers are rung and
//! watchers are told only after that. An execution that somebody else moved meanwhile is loaded again and decided anew.

mod announce;
mod aside;
mod changes;
mod children;
mod committing;
mod dispatch;
mod ends;
mod lenders;
mod lookup;
mod recovery;
mod session;
mod sessions;
mod stops;
mod task;
mod trace;
mod turn;
mod values;

use std::sync::Arc;
use std::time::Duration;

use noetl_bus::Queue;
use noetl_engine::{Input, StartRequest, start};
use noetl_store::{AuditRow, Reservation, Store};
use noetl_types::{Event, ExecutionId, Kept, ParentLink, ToolError, Value};
use tokio::sync::{Notify, broadcast, mpsc, oneshot};

use crate::catalog::{CatalogError, Playbook, Playbooks, Reference};
use crate::clock::Clock;
use crate::ids::IdSource;
use crate::metrics::DriveMetrics;

pub use dispatch::{AtOnce, Dispatched, Dispatcher, WorkQueue};
pub use ends::{End, Ends};
pub use session::load_run;
pub use stops::{Attempt, Stops};
pub(crate) use turn::AtHand;
pub use values::ValueCache;

/// How runs are driven.
#[derive(Clone, Debug)]
pub struct DriveConfig {
    /// Drive tasks; each has a mailbox of its own.
    pub tasks: usize,
    /// Inputs that may wait for a task before senders wait.
    pub mailbox: usize,
    /// Inputs taken into one commit at most.
    pub batch: usize,
    /// Memory for the states of runs, per task, in bytes.
    pub session_bytes: usize,
    /// Memory for values that are stored aside, in bytes.
    pub value_bytes: usize,
    /// A snapshot is taken after so many events.
    pub snapshot_every: u64,
    /// How long a worker may stay silent about a command.
    pub lease: Duration,
    /// Commands that may wait for workers before new runs wait to start.
    pub backlog: usize,
    /// The address that workers report to, when a bus outside this process carries commands to them. Each command is
    /// announced through the outbox then.
    pub announce_as: Option<Arc<str>>,
    /// Every run belongs to a trace, also one that was started without.
    pub traces: bool,
}

impl Default for DriveConfig {
    fn default() -> DriveConfig {
        DriveConfig {
            tasks: 2,
            mailbox: 1024,
            batch: 512,
            session_bytes: 32 << 20,
            value_bytes: 32 << 20,
            snapshot_every: 500,
            lease: Duration::from_secs(30),
            backlog: 10_000,
            announce_as: None,
            traces: false,
        }
    }
}

/// Why an input did not take effect.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DriveError {
    #[error("there is no execution {0}")]
    NotFound(ExecutionId),
    #[error("{0}")]
    Refused(ToolError),
    #[error("the store could not take it: {0}")]
    Store(Arc<noetl_store::Error>),
    #[error("{0}")]
    Catalog(Arc<CatalogError>),
    /// Another start took the key that this one came with.
    #[error("execution {original} was started with the same key")]
    Duplicate { original: ExecutionId },
    #[error("other servers kept changing execution {0}; try again")]
    Contended(ExecutionId),
    #[error("the server is shutting down")]
    Closed,
}

impl From<noetl_store::Error> for DriveError {
    fn from(error: noetl_store::Error) -> DriveError {
        DriveError::Store(Arc::new(error))
    }
}

impl From<CatalogError> for DriveError {
    fn from(error: CatalogError) -> DriveError {
        DriveError::Catalog(Arc::new(error))
    }
}

/// What came of an input, once it is durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    pub execution: ExecutionId,
    /// The last event of the run.
    pub seq: u64,
    pub status: noetl_types::RunStatus,
    /// Events that the input caused, directly and in what followed. None when it came too late or twice.
    pub events: usize,
    /// Commands that went out with them.
    pub commands: usize,
}

/// New events of one run, in order, after they became durable.
#[derive(Clone, Debug)]
pub struct Progress {
    pub execution: ExecutionId,
    pub events: Arc<[Event]>,
}

/// A request to run a playbook.
#[derive(Clone, Debug)]
pub struct ExecuteRequest {
    pub playbook: Reference,
    pub payload: Value,
    pub entry: Option<Arc<str>>,
    /// Begin at these steps too.
    pub also_at: Vec<Arc<str>>,
    /// The run that this one repeats, with what it takes over from there.
    pub rerun_of: Option<(ExecutionId, Kept)>,
    pub parent: Option<ParentLink>,
    pub meta: Value,
    /// A key under which at most one run is started, in whichever server.
    pub reserve: Option<Reservation>,
    /// What the audit trail says of whoever asked for it. It becomes durable with the start.
    pub audit: Option<AuditRow>,
}

impl ExecuteRequest {
    pub fn latest(path: &str, payload: Value) -> ExecuteRequest {
        ExecuteRequest::new(Reference::Latest(path.to_owned()), payload)
    }

    /// One that stands for itself.
    pub fn new(playbook: Reference, payload: Value) -> ExecuteRequest {
        ExecuteRequest {
            playbook,
            payload,
            entry: None,
            also_at: Vec::new(),
            rerun_of: None,
            parent: None,
            meta: Value::Null,
            reserve: None,
            audit: None,
        }
    }
}

/// A message for a drive task.
pub(crate) struct Job {
    pub execution: ExecutionId,
    pub work: Work,
    pub reply: Option<oneshot::Sender<Result<Applied, DriveError>>>,
}

/// What is asked of a run.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Begin a run of this playbook.
    Start(Box<Beginning>),
    Input(Box<Input>),
    /// Take up what a crash or a lost message left lying: commands nobody works on, children that have ended.
    Recover,
}

/// How a run begins.
#[derive(Clone, Debug)]
pub(crate) struct Beginning {
    pub playbook: Playbook,
    pub started: noetl_types::Started,
    pub reserve: Option<Reservation>,
    pub audit: Option<AuditRow>,
}

impl Beginning {
    /// One that nobody outside asked for.
    pub fn new(playbook: Playbook, started: noetl_types::Started) -> Beginning {
        Beginning { playbook, started, reserve: None, audit: None }
    }
}

/// What all drive tasks share.
pub(crate) struct Shared {
    pub config: DriveConfig,
    pub store: Arc<dyn Store>,
    pub playbooks: Playbooks,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<IdSource>,
    pub dispatcher: Arc<dyn Dispatcher>,
    pub values: Arc<ValueCache>,
    pub progress: broadcast::Sender<Progress>,
    pub ends: Ends,
    /// Rung when a timer was started that may be due before the others.
    pub timer_started: Notify,
    pub metrics: DriveMetrics,
}

/// The way into the drive loop. Cheap to clone.
#[derive(Clone)]
pub struct Drive {
    shared: Arc<Shared>,
    mailboxes: Arc<[mpsc::Sender<Job>]>,
}

impl std::fmt::Debug for Drive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drive").field("tasks", &self.mailboxes.len()).finish_non_exhaustive()
    }
}

impl Drive {
    /// Starts the drive tasks. They end when the last handle is gone.
    pub fn spawn(
        config: DriveConfig,
        store: Arc<dyn Store>,
        playbooks: Playbooks,
        clock: Arc<dyn Clock>,
        ids: Arc<IdSource>,
        dispatcher: Arc<dyn Dispatcher>,
    ) -> Drive {
        let (progress, _) = broadcast::channel(4096);
        let values = Arc::new(ValueCache::new(config.value_bytes));
        let tasks = config.tasks.max(1);
        let shared = Arc::new(Shared {
            store,
            playbooks,
            clock,
            ids,
            dispatcher,
            values,
            progress,
            ends: Ends::default(),
            timer_started: Notify::new(),
            metrics: DriveMetrics::default(),
            config,
        });
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..tasks).map(|_| mpsc::channel(shared.config.mailbox.max(1))).unzip();
        let mailboxes: Arc<[mpsc::Sender<Job>]> = senders.into();
        for (number, receiver) in receivers.into_iter().enumerate() {
            let others = mailboxes.iter().map(mpsc::Sender::downgrade).collect();
            tokio::spawn(task::Task::new(shared.clone(), number, others).run(receiver));
        }
        Drive { shared, mailboxes }
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    pub fn playbooks(&self) -> &Playbooks {
        &self.shared.playbooks
    }

    pub fn values(&self) -> &Arc<ValueCache> {
        &self.shared.values
    }

    pub fn config(&self) -> &DriveConfig {
        &self.shared.config
    }

    /// Waits until another run can be taken up without delay. False when that does not come to be in time.
    pub async fn has_room(&self, patience: Duration) -> bool {
        let room = async {
            self.shared.dispatcher.wait_for_room(self.shared.config.backlog).await;
            for mailbox in self.mailboxes.iter() {
                // A task that has ended refuses what is sent to it, and says so better than we could.
                let _ = mailbox.reserve().await;
            }
        };
        tokio::time::timeout(patience, room).await.is_ok()
    }

    pub fn metrics(&self) -> &DriveMetrics {
        &self.shared.metrics
    }

    /// Inputs that wait to be taken up.
    pub fn mailbox_depth(&self) -> usize {
        self.mailboxes.iter().map(|mailbox| mailbox.max_capacity() - mailbox.capacity()).sum()
    }

    /// Inputs that can wait before senders have to.
    pub fn mailbox_room(&self) -> usize {
        self.mailboxes.iter().map(mpsc::Sender::max_capacity).sum()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// New events of all runs from now on. A reader that falls behind is told how many it missed.
    pub fn watch(&self) -> broadcast::Receiver<Progress> {
        self.shared.progress.subscribe()
    }

    /// Those who wait for runs to end.
    pub fn ends(&self) -> &Ends {
        &self.shared.ends
    }

    /// Starts a run and returns once its first events and commands are durable. Waits while workers are far behind.
    pub async fn execute(&self, request: ExecuteRequest) -> Result<Applied, DriveError> {
        self.shared.dispatcher.wait_for_room(self.shared.config.backlog).await;
        let execution = ExecutionId(self.shared.ids.next());
        self.execute_as(execution, request).await
    }

    /// As [`Drive::execute`], under an id of the caller's. An id that is taken is refused.
    pub async fn execute_as(
        &self,
        execution: ExecutionId,
        request: ExecuteRequest,
    ) -> Result<Applied, DriveError> {
        let playbook = self.shared.playbooks.get(&request.playbook).await?;
        let start_request = StartRequest {
            execution,
            path: playbook.path.clone(),
            version: playbook.version,
            catalog_id: playbook.catalog_id,
            payload: request.payload,
            entry: request.entry,
            also_at: request.also_at,
            rerun_of: request.rerun_of,
            parent: request.parent,
            meta: request.meta,
        };
        let started =
            start(&playbook.plan, start_request, self.shared.clock.now()).map_err(DriveError::Refused)?;
        let beginning = Beginning { playbook, started, reserve: request.reserve, audit: request.audit };
        self.send(execution, Work::Start(Box::new(beginning))).await
    }

    /// Gives a run an input and returns once what follows from it is durable.
    pub async fn input(&self, execution: ExecutionId, input: Input) -> Result<Applied, DriveError> {
        self.send(execution, Work::Input(Box::new(input))).await
    }

    /// Gives runs inputs without waiting for each: they travel together. Answers in the same order.
    pub async fn inputs(&self, inputs: Vec<(ExecutionId, Input)>) -> Vec<Result<Applied, DriveError>> {
        let mut replies = Vec::with_capacity(inputs.len());
        for (execution, input) in inputs {
            let (reply, answer) = oneshot::channel();
            let job = Job { execution, work: Work::Input(Box::new(input)), reply: Some(reply) };
            let sent = self.mailbox(execution).send(job).await;
            replies.push(sent.map(|()| answer));
        }
        let mut answers = Vec::with_capacity(replies.len());
        for reply in replies {
            answers.push(match reply {
                Ok(answer) => answer.await.unwrap_or(Err(DriveError::Closed)),
                Err(_) => Err(DriveError::Closed),
            });
        }
        answers
    }

    /// Takes up what was left lying in a run.
    pub async fn recover(&self, execution: ExecutionId) -> Result<Applied, DriveError> {
        self.send(execution, Work::Recover).await
    }

    async fn send(&self, execution: ExecutionId, work: Work) -> Result<Applied, DriveError> {
        let (reply, answer) = oneshot::channel();
        let job = Job { execution, work, reply: Some(reply) };
        self.mailbox(execution).send(job).await.map_err(|_| DriveError::Closed)?;
        answer.await.unwrap_or(Err(DriveError::Closed))
    }

    fn mailbox(&self, execution: ExecutionId) -> &mpsc::Sender<Job> {
        &self.mailboxes[route(execution, self.mailboxes.len())]
    }
}

/// The task that drives an execution.
pub(crate) fn route(execution: ExecutionId, tasks: usize) -> usize {
    // The low bits of an id count within a millisecond and the machine's bits are constant, so mix before dividing.
    let mixed = (execution.0 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed >> 32) % tasks as u64) as usize
}

/// A queue of commands for the workers of this process.
pub type LocalQueue = Queue<Dispatched>;
