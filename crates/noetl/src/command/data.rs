//! What the commands that look into a data folder have in common. They only read, so they work beside a live run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use noetl_store::{Execution, ExecutionFilter, Store};
use noetl_store_sqlite::SqliteStore;
use noetl_types::ExecutionId;

use crate::config::{Config, Flags};
use crate::exit::WrongUse;

/// How often to look for news of a run that another process drives.
pub const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Which data folder.
#[derive(Debug, Args)]
pub struct DataFolder {
    /// The data folder, as given to `noetl run --data`; `run.data` of the configuration when left out
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl DataFolder {
    /// The folder that is meant.
    pub fn choose(&self, flags: &Flags) -> Result<PathBuf> {
        let configured = || anyhow::Ok(Config::load(flags)?.run.data);
        match self.data.clone().map_or_else(configured, |data| Ok(Some(data)))? {
            Some(folder) => Ok(folder),
            None => Err(WrongUse("say which data folder with --data".to_owned()).into()),
        }
    }
}

/// Which data folder, and which run in it.
#[derive(Debug, Args)]
pub struct RunOf {
    /// The id of the execution; the newest one when left out
    #[arg(value_name = "ID")]
    execution: Option<i64>,

    #[command(flatten)]
    folder: DataFolder,
}

impl RunOf {
    /// Opens the store for reading and finds the run in it.
    pub async fn open(&self, flags: &Flags) -> Result<(Arc<dyn Store>, ExecutionId)> {
        let data = self.folder.choose(flags)?;
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open_for_reading(database(&data)?)?);
        let found = match self.execution {
            Some(id) => store.find_execution(ExecutionId(id)).await?,
            None => newest(&*store).await?,
        };
        match found {
            Some(found) => Ok((store, found.id)),
            None => {
                let which = self.execution.map_or(String::new(), |id| format!(" {id}"));
                Err(WrongUse(format!("there is no execution{which} in {}", data.display())).into())
            }
        }
    }
}

/// The newest run that no other run has called.
async fn newest(store: &dyn Store) -> Result<Option<Execution>> {
    const PAGE: usize = 100;
    let mut filter = ExecutionFilter::default();
    loop {
        let page = store.list_executions(&filter, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(None);
        };
        filter.before = Some(last.id);
        if let Some(found) = page.into_iter().find(|execution| execution.row.parent.is_none()) {
            return Ok(Some(found));
        }
    }
}

/// The database file of a data folder that exists.
pub fn database(data: &Path) -> Result<PathBuf> {
    let database = data.join("noetl.db");
    if database.is_file() {
        return Ok(database);
    }
    let data = data.display();
    Err(WrongUse(format!("{data} is not a data folder; it is made by `noetl run --data`")).into())
}

/// Runs something that waits.
pub fn wait<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("no threads can be started")?;
    runtime.block_on(work)
}
