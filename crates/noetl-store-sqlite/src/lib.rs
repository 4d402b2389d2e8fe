//! The store in one SQLite file: write-ahead log, one writer, several readers.
//!
//! The tables live in a file that is attached as schema `noetl`, so that `SELECT … FROM noetl.event` works. One process
//! works with a file at a time; others may read it with [`query()`] and [`SqliteStore::open_for_reading`].

mod audit;
mod blobs;
mod catalog;
mod checkpoint;
mod columns;
mod commands;
mod commit;
mod connect;
mod credentials;
mod error;
mod executions;
mod family;
mod feed;
mod filter;
mod keychain;
mod list;
mod lock;
mod log_space;
mod log_writes;
mod logs;
mod migrate;
mod outbox;
#[cfg(test)]
mod plan;
mod plugins;
mod projections;
mod query;
mod reader;
mod reservations;
mod results;
mod retention;
mod search;
mod subscriptions;
mod test_suites;
mod timers;
mod tokens;
mod variables;
mod workers;
mod writer;
pub mod yardstick;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use noetl_store::{Batch, Committed, Error, Objects, Shelf, Store};
use rusqlite::Connection;

use catalog::KnownIds;
use error::Outcome;
use lock::FileLock;
use reader::Readers;
use writer::{Durability, Writer};

pub use query::query;

/// When a commit counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// When it is on the disk: a power failure loses nothing that was acknowledged.
    #[default]
    Full,
    /// When the system has it: the death of the process loses nothing, a power failure may lose the last moments.
    Normal,
}

/// How to open a store.
#[derive(Clone, Debug)]
pub struct Options {
    pub synchronous: Synchronous,
    /// Connections that read at the same time.
    pub readers: usize,
    /// Where values go that are too large for the file. Without it, the file takes them all.
    pub objects: Option<Arc<dyn Objects>>,
}

impl Default for Options {
    fn default() -> Options {
        Options { synchronous: Synchronous::Full, readers: 4, objects: None }
    }
}

/// A handle to an open file, cheap to clone. When the last one is dropped, the file is closed and unlocked.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

// The order of the fields is the order of closing: the writer goes last, so that it can clean up the log.
#[derive(Debug)]
struct Inner {
    database: PathBuf,
    shelf: Option<Shelf>,
    known_ids: KnownIds,
    readers: Readers,
    /// Nobody when the file was opened for reading alone.
    writer: Option<Writer>,
}

impl SqliteStore {
    /// Opens a file, or makes one with its folder, and brings it to the current schema.
    ///
    /// Fails with [`Error::Locked`] while another process has it open, and with [`Error::NewerSchema`] when a later
    /// release has written it.
    pub fn open(database: impl AsRef<Path>, options: &Options) -> Result<SqliteStore, Error> {
        let database = absolute(database.as_ref())?;
        if let Some(folder) = database.parent() {
            std::fs::create_dir_all(folder).map_err(|error| lock::cannot_open(&database, &error))?;
        }
        let lock = FileLock::take(&database)?;
        connect::make_private(&database)?;
        let mut connection = connect::open_writer(&database, options.synchronous)?;
        migrate::migrate(&mut connection, &database)?;
        let readers = Readers::open(&database, options.readers)?;
        let writer = Writer::start(connection, database.clone(), options.synchronous, lock)?;
        let shelf = options.objects.clone().map(Shelf::new);
        Ok(SqliteStore {
            inner: Arc::new(Inner {
                database,
                shelf,
                known_ids: KnownIds::default(),
                readers,
                writer: Some(writer),
            }),
        })
    }

    /// Opens a file for reading alone, also while another process works with it. Changes are refused.
    pub fn open_for_reading(database: impl AsRef<Path>) -> Result<SqliteStore, Error> {
        let database = absolute(database.as_ref())?;
        let connection = connect::open_for_reading(&database)?;
        migrate::check_current(&connection, &database)?;
        let readers = Readers::over(&database, vec![connection]);
        let known_ids = KnownIds::default();
        Ok(SqliteStore { inner: Arc::new(Inner { database, shelf: None, known_ids, readers, writer: None }) })
    }

    fn writer(&self) -> Result<&Writer, Error> {
        let place = || self.inner.database.display().to_string();
        self.inner.writer.as_ref().ok_or_else(|| Error::ReadOnly { place: place() })
    }

    /// Changes something for good.
    async fn write<T: Send + 'static>(
        &self,
        call: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer()?.call(Durability::Durable, call).await
    }

    /// Changes something that may be lost in a power failure.
    async fn write_relaxed<T: Send + 'static>(
        &self,
        call: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer()?.call(Durability::Relaxed, call).await
    }

    async fn read<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.inner.readers.call(call).await
    }
}

/// The file itself, wherever the process may go later.
fn absolute(database: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(database)
        .map_err(|error| Error::invalid(format!("{} is not a usable path: {error}", database.display())))
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, batch: &Batch) -> Result<Committed, Error> {
        batch.validate()?;
        if batch.executions.is_empty() {
            return Ok(Committed::default());
        }
        let batch = match &self.inner.shelf {
            Some(shelf) => shelf.put_all(batch).await?,
            None => Cow::Borrowed(batch),
        };
        let mut encoded = commit::Encoded::new(&batch)?;
        self.write(move |connection| encoded.apply(connection)).await
    }

    async fn check(&self) -> Result<(), Error> {
        self.read(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM noetl.resource", [], |_| Ok(()))?)
        })
        .await
    }
}
