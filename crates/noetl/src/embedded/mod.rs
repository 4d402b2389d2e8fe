//! Server and worker in one process: the drive loop over a store on this machine, with workers beside it.

mod at_once;
mod control;
mod credentials;
mod keys;
mod trouble;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use noetl_objects::ObjectPlace;
use noetl_server::catalog::Playbooks;
use noetl_server::clock::{Clock, SystemClock};
use noetl_server::drive::{Drive, DriveConfig, WorkQueue};
use noetl_server::ids::IdSource;
use noetl_server::tasks;
use noetl_server::vault::Vault;
use noetl_store::Store;
use noetl_store_sqlite::{Options, SqliteStore};
use noetl_tools::{ToolConfig, Toolbox};
use noetl_worker::{Inline, Worker, WorkerConfig};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, Surroundings};
use crate::exit::WrongUse;
use at_once::WithoutWorker;
use control::LocalControl;
use credentials::LocalCredentials;
pub use keys::Keys;
use trouble::Trouble;

/// The name under which the workers of this process hold their leases. It is the same in every process on the same data,
/// since only one can have it at a time.
const WORKER: &str = "embedded";

/// A whole NoETL in this process.
pub struct Embedded {
    pub drive: Drive,
    /// Opens the secrets of the data folder, when it has a key.
    pub vault: Option<Vault>,
    queue: WorkQueue,
    stop: CancellationToken,
    /// Nothing when all workers are elsewhere.
    worker: Option<JoinHandle<()>>,
    trouble: Trouble,
}

/// What an embedded NoETL is made of.
pub struct Settings {
    pub storage: Options,
    /// Where large values go, as a URL; a folder of the data folder when left out.
    pub objects: Option<String>,
    pub drive: DriveConfig,
    pub worker: WorkerConfig,
    pub tools: ToolConfig,
    pub credentials: LocalCredentials,
    pub keys: Keys,
}

impl Settings {
    /// What the configuration says, with credentials from these files besides.
    pub fn of(config: Config, credentials: &[PathBuf]) -> anyhow::Result<Settings> {
        let environment = Surroundings::of_this_process().variables;
        Ok(Settings {
            storage: config.storage,
            objects: config.objects.url,
            drive: config.drive,
            worker: config.worker,
            tools: config.tools,
            keys: Keys::read(environment.clone()).or_given(config.credentials.encryption_key),
            credentials: LocalCredentials::read(credentials, config.credentials.folder, environment)
                .map_err(|error| WrongUse(format!("{error:#}")))?,
        })
    }
}

impl Embedded {
    /// Opens the data folder and starts everything. Runs that were under way go on once [`Embedded::recover`] is called.
    pub fn start(data: &Path, settings: Settings) -> anyhow::Result<Embedded> {
        Embedded::start_with(WorkQueue::new(WORKER), data, settings)
    }

    /// The same without a worker: commands wait for workers elsewhere.
    pub fn start_server(data: &Path, settings: Settings) -> anyhow::Result<Embedded> {
        Embedded::start_with(WorkQueue::without_workers(WORKER), data, settings)
    }

    fn start_with(queue: WorkQueue, data: &Path, settings: Settings) -> anyhow::Result<Embedded> {
        if data.exists() && !data.is_dir() {
            bail!("the data folder {} can't be used: it is a file", data.display());
        }
        std::fs::create_dir_all(data)
            .with_context(|| format!("the data folder {} can't be made", data.display()))?;
        let objects = match &settings.objects {
            Some(url) => ObjectPlace::at(url, Surroundings::of_this_process().variables)?,
            None => ObjectPlace::folder(&data.join("objects"))?,
        };
        let options = Options { objects: Some(Arc::new(objects)), ..settings.storage };
        let store = SqliteStore::open(data.join("noetl.db"), &options)?;
        let vault = settings.keys.vault(data)?;
        let store: Arc<dyn Store> = Arc::new(store);
        let clock: Arc<dyn Clock> = SystemClock::shared();
        let ids = Arc::new(IdSource::new(clock.clone(), 0));
        let playbooks = Playbooks::new(store.clone(), ids.clone(), clock.clone());
        let lease = settings.drive.lease;
        let worker = WorkerConfig {
            name: WORKER.into(),
            pools: vec!["shared".into(), "system".into(), "subscription".into()],
            ..settings.worker
        };
        let tools = Toolbox::builtin(settings.tools);
        let queue = match queue.has_workers {
            true => queue.with_at_once(Arc::new(WithoutWorker {
                inline: Inline::new(&worker, tools.clone()),
                pools: worker.pools.clone(),
            })),
            false => queue,
        };
        let drive = Drive::spawn(
            settings.drive,
            store,
            playbooks,
            clock.clone(),
            ids.clone(),
            Arc::new(queue.clone()),
        );
        let stop = CancellationToken::new();
        tokio::spawn(tasks::fire_timers(drive.clone(), stop.clone()));
        tokio::spawn(tasks::watch_leases(drive.clone(), stop.clone()));
        tokio::spawn(tasks::collect_garbage(drive.clone(), stop.clone()));
        let control =
            LocalControl::new(drive.clone(), queue.clone(), clock, ids, lease, settings.credentials)
                .with_vault(vault.clone());
        let trouble = control.trouble();
        let worker = queue.has_workers.then(|| {
            let worker = Worker::new(worker, Arc::new(control), tools);
            tokio::spawn({
                let stop = stop.clone();
                async move {
                    if let Err(error) = worker.run(stop).await {
                        tracing::error!(%error, "the worker could not start");
                    }
                }
            })
        });
        Ok(Embedded { drive, vault, queue, stop, worker, trouble })
    }

    /// Takes up what an earlier process on the same data left. Returns how many runs go on.
    pub async fn recover(&self) -> anyhow::Result<usize> {
        Ok(tasks::recover(&self.drive).await?)
    }

    /// Waits until the store can take no more, and says why. Workers keep what they have and try again meanwhile.
    pub async fn trouble(&self) -> anyhow::Error {
        anyhow::Error::msg(self.trouble.told().await)
    }

    /// Gives no more commands out. Reports are still taken.
    pub fn close(&self) {
        self.queue.close();
    }

    /// Stops tools, lets outcomes that are at hand become durable, and ends.
    pub async fn stop(self) {
        self.stop.cancel();
        self.queue.close();
        if let Some(worker) = self.worker {
            // A worker that panicked has nothing left to end.
            let _ = worker.await;
        }
    }
}
