//! What SQLite's failures mean to the callers of the store.

use std::path::Path;

use noetl_store::Error;
use rusqlite::ffi::{self, ErrorCode};

/// A failure inside a call: SQLite's, or one that the call itself has found.
#[derive(Debug)]
pub enum Fault {
    Sqlite(rusqlite::Error),
    Store(Error),
    /// The call wants to be run once more after a rollback. It has changed itself so that it will get further.
    Again,
}

pub type Outcome<T> = Result<T, Fault>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sqlite(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Store(error)
    }
}

impl Fault {
    pub fn into_store_error(self, database: &Path) -> Error {
        match self {
            Fault::Sqlite(error) => store_error(&error, database),
            Fault::Store(error) => error,
            Fault::Again => Error::unavailable("the call was not run to its end"),
        }
    }

    /// Whether a row with the same key is there already.
    pub fn is_constraint_violation(&self) -> bool {
        matches!(self, Fault::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation))
    }
}

/// The meaning of an error of SQLite about this database.
pub fn store_error(error: &rusqlite::Error, database: &Path) -> Error {
    let place = || database.display().to_string();
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::DiskFull => Error::Full { place: place() },
            ErrorCode::ReadOnly => Error::ReadOnly { place: place() },
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                Error::corrupt(place(), error.to_string())
            }
            // The shared index beside the log could not grow: the disk is full there too.
            ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
                Error::Full { place: place() }
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                Error::Locked { place: place(), holder: None }
            }
            _ => unavailable(error),
        },
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::Utf8Error(..) => Error::corrupt(place(), error.to_string()),
        _ => unavailable(error),
    }
}

fn unavailable(error: &rusqlite::Error) -> Error {
    Error::unavailable(format!("SQLite says: {error}"))
}
