//! One process per file: a lock that lives as long as its holder and dies with it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use noetl_store::Error;

/// The right to work with a database file. Given up when dropped, and by the system when the process dies.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock beside a database file, or says who has it.
    pub fn take(database: &Path) -> Result<FileLock, Error> {
        let path = lock_path(database);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| cannot_open(database, &error))?;
        match file.try_lock() {
            Ok(()) => {
                // The number only serves the message of whoever comes second; without it the lock holds as well.
                let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                Ok(FileLock { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                Err(Error::Locked { place: database.display().to_string(), holder: read_holder(&mut file) })
            }
            Err(TryLockError::Error(error)) => {
                Err(Error::unavailable(format!("{} cannot be locked: {error}", path.display())))
            }
        }
    }
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

fn read_holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Why a file beside the database cannot be made or opened.
pub fn cannot_open(database: &Path, error: &std::io::Error) -> Error {
    let place = database.display().to_string();
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::ReadOnly { place },
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full { place },
        _ => Error::unavailable(format!("{place} cannot be opened: {error}")),
    }
}
