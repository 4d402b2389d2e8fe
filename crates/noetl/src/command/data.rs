//! What the commands have in common that look into a data folder or ask a server. They only read, so they work beside a
//! live run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use noetl_client::Client;
use noetl_client::api::execution::ListParameters;
use noetl_store::{Execution, ExecutionFilter, Store};
use noetl_store_sqlite::SqliteStore;
use noetl_types::ExecutionId;

use crate::config::{Config, Flags, Surroundings};
use crate::connection::ServerFlags;
use crate::exit::WrongUse;

/// How often to look for news of a run that another process drives.
pub const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Which data folder, or none.
#[derive(Debug, Args)]
pub struct DataFolder {
    /// Look into this data folder, as given to `noetl run --data`, and ask no server
    #[arg(long, value_name = "DIR", conflicts_with_all = ["server", "host", "port", "context"])]
    data: Option<PathBuf>,
}

/// Who knows.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    Folder(PathBuf),
    Server,
}

impl DataFolder {
    /// The folder that was given; the server that was given; the folder of the configuration; the usual server.
    pub fn source(&self, flags: &Flags, server: &ServerFlags) -> Result<Source> {
        if let Some(folder) = &self.data {
            return Ok(Source::Folder(folder.clone()));
        }
        let is_server_named = server.server.is_some()
            || server.host.is_some()
            || server.port.is_some()
            || server.context.is_some()
            || Surroundings::of_this_process().variable("NOETL_SERVER").is_some();
        if is_server_named {
            return Ok(Source::Server);
        }
        Ok(Config::load(flags)?.run.data.map_or(Source::Server, Source::Folder))
    }
}

/// Which data folder if any, and which run.
#[derive(Debug, Args)]
pub struct RunOf {
    /// The id of the execution; the newest one when left out
    #[arg(value_name = "ID")]
    execution: Option<i64>,

    #[command(flatten)]
    pub folder: DataFolder,
}

impl RunOf {
    /// Opens the store for reading and finds the run in it.
    pub async fn open(&self, data: &Path) -> Result<(Arc<dyn Store>, ExecutionId)> {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open_for_reading(database(data)?)?);
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

    /// The run on the server.
    pub async fn on_server(&self, client: &Client) -> Result<i64> {
        if let Some(id) = self.execution {
            return Ok(id);
        }
        let mut asked = ListParameters::default();
        loop {
            let page = client.list_executions(&asked).await?;
            let Some(last) = page.last() else {
                return Err(WrongUse(format!("there is no execution on {}", client.base())).into());
            };
            asked.before = Some(last.execution_id);
            if let Some(found) = page.iter().find(|execution| execution.parent_execution_id.is_none()) {
                return Ok(found.execution_id.0);
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
