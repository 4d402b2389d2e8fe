//! What the commands that look into a data folder have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use noetl_store::Store;
use noetl_store_sqlite::{Options, SqliteStore};
use noetl_types::ExecutionId;

/// Which data folder, and which run in it.
#[derive(Debug, Args)]
pub struct RunOf {
    /// The id of the execution
    #[arg(value_name = "ID")]
    execution: i64,

    /// The data folder, as given to `noetl run --data`
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
}

impl RunOf {
    pub fn execution(&self) -> ExecutionId {
        ExecutionId(self.execution)
    }

    /// Opens the store and makes sure that the run is in it.
    pub async fn open(&self) -> Result<Arc<dyn Store>> {
        let store = open(&self.data)?;
        if store.find_execution(self.execution()).await?.is_none() {
            bail!("there is no execution {} in {}", self.execution, self.data.display());
        }
        Ok(store)
    }
}

fn open(data: &Path) -> Result<Arc<dyn Store>> {
    let database = database(data)?;
    Ok(Arc::new(SqliteStore::open(database, &Options::default())?))
}

/// The database file of a data folder that exists.
pub fn database(data: &Path) -> Result<PathBuf> {
    let database = data.join("noetl.db");
    if !database.is_file() {
        bail!("{} is not a data folder; it is made by `noetl run --data`", data.display());
    }
    Ok(database)
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
