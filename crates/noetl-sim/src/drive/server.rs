//! One server of the simulation, on a runtime of its own. Time stands still in it unless it waits for nothing else.

use std::sync::Arc;
use std::time::Duration;

use noetl_engine::Input;
use noetl_server::catalog::Playbooks;
use noetl_server::clock::{Clock, ManualClock};
use noetl_server::drive::{Applied, Drive, DriveConfig, DriveError};
use noetl_server::ids::IdSource;
use noetl_server::tasks;
use noetl_store::Store;
use noetl_types::ExecutionId;
use tokio::runtime::{Builder, Runtime};

use super::bus::Bus;

/// Executions that do not exist, spread over all drive tasks.
const NOBODY: std::ops::Range<i64> = 1..9;

pub struct Server {
    runtime: Option<Runtime>,
    pub drive: Drive,
    pub bus: Bus,
}

impl Server {
    pub fn start(
        number: u16,
        config: DriveConfig,
        store: &Arc<dyn Store>,
        clock: &Arc<ManualClock>,
        at_once: bool,
    ) -> Result<Server, String> {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.map_err(|error| format!("no runtime can be made: {error}"))?;
        let clock: Arc<dyn Clock> = clock.clone();
        let ids = Arc::new(IdSource::new(clock.clone(), number));
        let playbooks = Playbooks::new(store.clone(), ids.clone(), clock.clone());
        let bus = Bus::new(&format!("worker-{number}"), at_once);
        let guard = runtime.enter();
        let drive = Drive::spawn(config, store.clone(), playbooks, clock, ids, Arc::new(bus.clone()));
        drop(guard);
        Ok(Server { runtime: Some(runtime), drive, bus })
    }

    /// Lets the server work until this is done.
    pub fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.as_ref().expect("it is there until the server is dropped").block_on(work)
    }

    pub fn inputs(&self, inputs: Vec<(ExecutionId, Input)>) -> Vec<Result<Applied, DriveError>> {
        self.run(self.drive.inputs(inputs))
    }

    /// Lets everything happen that follows from what came before: news travel from task to task, and what the store did
    /// not take is tried again.
    pub fn come_to_rest(&self) {
        self.run(async {
            for _ in 0..4 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                // A task that answers has worked off what came before.
                let nobody = NOBODY.map(|number| (ExecutionId(-number), Input::Resume)).collect();
                self.drive.inputs(nobody).await;
            }
        });
    }

    pub fn recover(&self) -> Result<usize, DriveError> {
        self.run(tasks::recover(&self.drive))
    }

    pub fn fire_timers(&self) -> Result<(), noetl_store::Error> {
        self.run(tasks::fire_due_timers(&self.drive)).map(|_| ())
    }

    pub fn expire_leases(&self) -> Result<(), noetl_store::Error> {
        self.run(tasks::expire_leases(&self.drive))
    }
}

/// The end of a server is always a crash: its tasks are gone wherever they stand.
impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
