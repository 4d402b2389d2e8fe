//! A whole NoETL without HTTP: the drive loop over SQLite with full durability, and a worker with the real tools.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use noetl_dsl::Plan;
use noetl_engine::Values;
use noetl_server::catalog::{Playbooks, Reference};
use noetl_server::clock::{Clock, SystemClock};
use noetl_server::drive::{AtOnce, Drive, DriveConfig, ExecuteRequest, Progress, WorkQueue};
use noetl_server::ids::IdSource;
use noetl_store::Store;
use noetl_store_sqlite::{Options, SqliteStore, Synchronous};
use noetl_tools::{Environment, ToolConfig, Toolbox};
use noetl_types::{Command, EventBody, ExecutionId, Outcome, Timestamp, Value};
use noetl_worker::{Inline, Worker, WorkerConfig};
use tokio::sync::{broadcast, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::control::DirectControl;

pub struct System {
    pub drive: Drive,
    ids: Arc<IdSource>,
    queue: WorkQueue,
    waiting: Arc<Waiting>,
    stop: CancellationToken,
    worker: JoinHandle<()>,
}

/// Those who wait for runs to end, and how many events there were.
#[derive(Default)]
struct Waiting {
    by_execution: Mutex<HashMap<ExecutionId, oneshot::Sender<bool>>>,
    events: std::sync::atomic::AtomicU64,
}

impl System {
    pub fn start(database: &Path) -> System {
        let options = Options { synchronous: Synchronous::Full, ..Options::default() };
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(database, &options).expect("a new file can be opened"));
        let clock: Arc<dyn Clock> = SystemClock::shared();
        let ids = Arc::new(IdSource::new(clock.clone(), 0));
        let playbooks = Playbooks::new(store.clone(), ids.clone(), clock.clone());
        let mut tools = ToolConfig::default();
        tools.process.environment = Environment::inherited(std::env::vars(), &[]);
        let tools = Toolbox::builtin(tools);
        let worker = WorkerConfig { name: "bench".into(), ..WorkerConfig::default() };
        let without_worker = Arc::new(WithoutWorker(Inline::new(&worker, tools.clone())));
        let queue = WorkQueue::new("bench").with_at_once(without_worker);
        let config = DriveConfig::default();
        let lease = config.lease;
        let drive = Drive::spawn(config, store, playbooks, clock, ids.clone(), Arc::new(queue.clone()));
        let stop = CancellationToken::new();
        let control = DirectControl { drive: drive.clone(), queue: queue.clone(), lease };
        let worker = Worker::new(worker, Arc::new(control), tools);
        let worker = tokio::spawn({
            let stop = stop.clone();
            async move { worker.run(stop).await.expect("nothing refuses the worker") }
        });
        let waiting = Arc::new(Waiting::default());
        tokio::spawn(waiting.clone().follow(drive.watch()));
        System { drive, ids, queue, waiting, stop, worker }
    }

    /// Registers a playbook and gives a reference to this very version.
    pub async fn register(&self, path: &str, rest: &str) -> Reference {
        let source = format!(
            "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: bench, path: {path}}}\n{rest}"
        );
        let (playbook, _) = self.drive.playbooks().register(&source).await.expect("a valid playbook");
        Reference::Id(playbook.catalog_id)
    }

    /// Runs a playbook from start to end.
    pub async fn run(&self, playbook: &Reference) {
        let execution = ExecutionId(self.ids.next());
        let ended = self.waiting.expect(execution);
        let request = ExecuteRequest::new(playbook.clone(), Value::Null);
        self.drive.execute_as(execution, request).await.expect("it starts");
        assert!(ended.await.expect("the watcher lives"), "execution {execution} failed");
    }

    /// Events that became durable so far.
    pub fn events(&self) -> u64 {
        self.waiting.events.load(std::sync::atomic::Ordering::Relaxed)
    }

    pub async fn stop(self) {
        self.stop.cancel();
        self.queue.queue.close();
        self.worker.await.expect("the worker ends well");
    }
}

/// What the drive loop does itself.
#[derive(Debug)]
struct WithoutWorker(Inline);

impl AtOnce for WithoutWorker {
    fn run(
        &self,
        command: &Command,
        plan: &Arc<Plan>,
        _pool: &str,
        values: &Arc<dyn Values>,
        now: Timestamp,
    ) -> Option<Outcome> {
        self.0.run(plan, command, values.clone(), now)
    }
}

impl Waiting {
    fn expect(&self, execution: ExecutionId) -> oneshot::Receiver<bool> {
        let (sender, receiver) = oneshot::channel();
        self.by_execution.lock().unwrap_or_else(PoisonError::into_inner).insert(execution, sender);
        receiver
    }

    async fn follow(self: Arc<Waiting>, mut progress: broadcast::Receiver<Progress>) {
        loop {
            match progress.recv().await {
                Ok(progress) => self.hear(&progress),
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    panic!("the watcher missed {missed} messages")
                }
                Err(broadcast::error::RecvError::Closed) => return,
            }
        }
    }

    fn hear(&self, progress: &Progress) {
        self.events.fetch_add(progress.events.len() as u64, std::sync::atomic::Ordering::Relaxed);
        let completed = match progress.events.last().map(|event| &event.body) {
            Some(EventBody::PlaybookCompleted { .. }) => true,
            Some(EventBody::PlaybookFailed { .. } | EventBody::PlaybookCancelled { .. }) => false,
            _ => return,
        };
        let waiting =
            self.by_execution.lock().unwrap_or_else(PoisonError::into_inner).remove(&progress.execution);
        if let Some(waiting) = waiting {
            // Whoever waited may have given up.
            let _ = waiting.send(completed);
        }
    }
}
