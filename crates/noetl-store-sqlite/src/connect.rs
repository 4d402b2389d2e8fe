//! Opening connections: the file is attached as schema `noetl` beside an empty database in memory, so that the
//! documented names (`noetl.event`) work. All changes are in that one file, so transactions are atomic as usual.

use std::ffi::CStr;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use noetl_store::Error;
use rusqlite::{Connection, OpenFlags};

use crate::Synchronous;
use crate::error::{Outcome, store_error};
use crate::lock::cannot_open;
use crate::log_writes;

/// Marks our files, so that nobody migrates somebody else's database.
pub const APPLICATION_ID: i32 = 0x4e6f_4554;

/// A commit writes every page that it touches whole, and a lone start touches nearly twenty: measured, it takes two thirds of
/// the time with pages of this size that it takes with twice as large ones.
pub const PAGE_SIZE: u32 = 4096;
const WRITER_CACHE_KIB: u32 = 24 * 1024;
const READER_CACHE_KIB: u32 = 8 * 1024;

/// After a checkpoint the write-ahead log is cut down to this size.
const WAL_KEPT_BYTES: u64 = 64 * 1024 * 1024;

/// Only others that read the file from outside can make us wait, and only for moments.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const STATEMENT_CACHE: usize = 128;

/// A connection to the file, which may work through a layer of ours.
fn attach(database: &Path, flags: OpenFlags, layer: Option<&CStr>) -> Result<Connection, Error> {
    let Some(path) = database.to_str() else {
        return Err(Error::invalid(format!("the path {} is not valid Unicode", database.display())));
    };
    let open = || -> rusqlite::Result<Connection> {
        let connection = match layer {
            Some(layer) => Connection::open_in_memory_with_flags_and_vfs(flags, layer)?,
            None => Connection::open_in_memory_with_flags(flags)?,
        };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
        connection.execute("ATTACH ?1 AS noetl", [path])?;
        Ok(connection)
    };
    open().map_err(|error| store_error(&error, database))
}

/// Makes the file if there is none, for its owner alone: what runs work with may be nobody else's business.
pub fn make_private(database: &Path) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(database) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(cannot_open(database, &error)),
        _ => Ok(()),
    }
}

/// The connection that writes. Makes the file if there is none.
pub fn open_writer(database: &Path, synchronous: Synchronous) -> Result<Connection, Error> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = attach(database, flags, log_writes::layer())?;
    let prepare = || -> Outcome<()> {
        check_owner(&connection, database)?;
        connection.execute_batch(&format!(
            "PRAGMA noetl.page_size = {PAGE_SIZE};
             PRAGMA noetl.journal_mode = WAL;
             PRAGMA noetl.journal_size_limit = {WAL_KEPT_BYTES};
             PRAGMA noetl.wal_autocheckpoint = 0;
             PRAGMA noetl.cache_size = -{WRITER_CACHE_KIB};
             PRAGMA foreign_keys = ON;
             PRAGMA temp_store = MEMORY;"
        ))?;
        set_synchronous(&connection, synchronous)?;
        Ok(())
    };
    prepare().map_err(|fault| fault.into_store_error(database))?;
    Ok(connection)
}

/// The size of the file's pages, which it has from its first day on.
pub fn page_size(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(Some("noetl"), "page_size", |row| row.get(0))
}

/// A connection that reads what the writer has committed.
pub fn open_reader(database: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = attach(database, flags, None)?;
    let pragmas = format!(
        "PRAGMA noetl.cache_size = -{READER_CACHE_KIB};
         PRAGMA temp_store = MEMORY;
         PRAGMA query_only = ON;"
    );
    connection.execute_batch(&pragmas).map_err(|error| store_error(&error, database))?;
    Ok(connection)
}

/// A connection that can do nothing but read, to a file that others may work with.
pub fn open_for_reading(database: &Path) -> Result<Connection, Error> {
    if !database.exists() {
        return Err(Error::NotFound { what: format!("the file {}", database.display()) });
    }
    let connection =
        attach(database, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX, None)?;
    connection.execute_batch("PRAGMA query_only = ON").map_err(|error| store_error(&error, database))?;
    Ok(connection)
}

/// A connection for one change beside the writer, which waits for its turn.
pub fn open_for_changing(database: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = attach(database, flags, None)?;
    let pragmas = "
        PRAGMA noetl.wal_autocheckpoint = 0;
        PRAGMA foreign_keys = ON;
        PRAGMA temp_store = MEMORY;";
    connection.execute_batch(pragmas).map_err(|error| store_error(&error, database))?;
    set_synchronous(&connection, Synchronous::Full).map_err(|error| store_error(&error, database))?;
    Ok(connection)
}

/// Whether commits wait until they are on the disk.
pub fn set_synchronous(connection: &Connection, synchronous: Synchronous) -> rusqlite::Result<()> {
    connection.execute_batch(match synchronous {
        Synchronous::Full => "PRAGMA noetl.synchronous = FULL",
        Synchronous::Normal => "PRAGMA noetl.synchronous = NORMAL",
    })
}

/// Refuses files of other programs. An empty database is nobody's.
fn check_owner(connection: &Connection, database: &Path) -> Outcome<()> {
    let owner: i32 = connection.query_row("PRAGMA noetl.application_id", [], |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM noetl.sqlite_schema", [], |row| row.get(0))?;
    if owner != APPLICATION_ID && tables > 0 {
        let place = database.display();
        return Err(
            Error::invalid(format!("{place} is a database of another program; choose another file")).into()
        );
    }
    Ok(())
}
