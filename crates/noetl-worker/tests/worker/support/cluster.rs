//! A control plane and one worker.

use std::sync::Arc;
use std::time::Duration;

use noetl_engine::Run;
use noetl_tools::{Environment, ProcessConfig, ToolConfig, Toolbox};
use noetl_types::{ExecutionId, RunStatus, Slot, Value};
use noetl_worker::{ControlError, Worker, WorkerConfig};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Probe, Server};

/// How long anything in a test may take before it counts as stuck.
const STUCK: Duration = Duration::from_secs(60);

pub struct Cluster {
    pub server: Arc<Server>,
    shutdown: CancellationToken,
    worker: JoinHandle<Result<(), ControlError>>,
}

/// The text of a playbook at `path`, from its workflow and whatever else it has.
pub fn playbook(path: &str, rest: &str) -> String {
    format!("apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: test, path: {path}}}\n{rest}")
}

/// The tools, with an environment in which programs are found.
fn tools() -> Toolbox {
    let environment = Environment::inherited(std::env::vars(), &[]);
    let process = ProcessConfig { environment, ..ProcessConfig::default() };
    Toolbox::builtin(ToolConfig { process, ..ToolConfig::default() })
}

impl Cluster {
    pub fn start() -> Cluster {
        Cluster::start_with(WorkerConfig::default(), None)
    }

    pub fn with_probe(probe: Probe) -> Cluster {
        Cluster::start_with(WorkerConfig::default(), Some(probe))
    }

    pub fn start_with(config: WorkerConfig, probe: Option<Probe>) -> Cluster {
        Cluster::start_on(Server::new(Duration::from_secs(30), false), config, probe)
    }

    pub fn start_on(server: Arc<Server>, config: WorkerConfig, probe: Option<Probe>) -> Cluster {
        let mut tools = tools();
        if let Some(probe) = probe {
            tools.add(probe);
        }
        let shutdown = CancellationToken::new();
        let worker = Worker::new(config, server.clone(), tools);
        let worker = tokio::spawn(worker.run(shutdown.clone()));
        Cluster { server, shutdown, worker }
    }

    /// Registers a playbook as `main` and starts it.
    pub fn begin(&self, rest: &str, payload: Value) -> ExecutionId {
        let source = playbook("main", rest);
        self.server.register(&source).unwrap_or_else(|found| panic!("{source}\n{found:#?}"));
        self.server.start("main", payload, None).expect("the playbook can start")
    }

    /// Runs a playbook to its end.
    pub async fn run(&self, rest: &str, payload: Value) -> Run {
        let execution = self.begin(rest, payload);
        self.end_of(execution).await
    }

    pub async fn end_of(&self, execution: ExecutionId) -> Run {
        let end = tokio::time::timeout(STUCK, self.server.end_of(execution)).await;
        end.unwrap_or_else(|_| panic!("stuck: {:#?}", self.server.events(execution)));
        self.server.run(execution)
    }

    /// Waits for something to be so on the control plane.
    pub async fn until<T>(&self, ready: impl FnMut(&Server) -> Option<T>) -> T {
        tokio::time::timeout(STUCK, self.server.wait_for(ready)).await.expect("it does not take for ever")
    }

    /// Asks the worker to end and waits for it.
    pub async fn shut_down(self) -> Arc<Server> {
        self.shutdown.cancel();
        let ended = tokio::time::timeout(STUCK, self.worker).await.expect("a worker ends when it is told to");
        ended.expect("a worker does not panic").expect("a worker ends well");
        self.server
    }

    /// The result of a completed run, loaded if it is stored aside.
    pub fn result(&self, run: &Run) -> Value {
        assert_eq!(run.status, RunStatus::Completed, "{:?}", run.error);
        self.value(run.result().expect("a completed run has a result"))
    }

    /// The result of a step.
    pub fn result_of(&self, run: &Run, step: &str) -> Value {
        self.value(run.result_of(step).unwrap_or_else(|| panic!("{step} has a result: {:?}", run.steps)))
    }

    fn value(&self, slot: &Slot) -> Value {
        match slot {
            Slot::Inline(value) => value.clone(),
            Slot::Stored(stored) => self.server.stored(stored).expect("stored values are there"),
        }
    }
}
