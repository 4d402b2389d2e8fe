//! Moving pages from the write-ahead log into the database, so that the log stays bounded.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use noetl_store::Error;
use rusqlite::Connection;

use crate::connect::open_reader;

/// Pages in the log after which, and after each further time as many, a checkpoint runs beside the writer.
const BESIDE: i32 = 2_000;

/// Pages after which, and after each further time `BESIDE` as many, the writer itself waits for a checkpoint. With
/// nobody writing it reaches the end of the log, which then starts over: so the log stays bounded under load that never
/// pauses. Only a reader that never ends could keep it growing.
const WAITING: i32 = 12_000;

/// Decides when checkpoints run and runs them.
#[derive(Debug)]
pub struct Checkpoints {
    /// The length of the log at which the next one is due.
    due: i32,
    /// Held while one runs. SQLite refuses a second one at once instead of letting it wait.
    turn: Arc<Mutex<()>>,
    bell: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    pub fn start(database: &Path) -> Result<Checkpoints, Error> {
        let connection = open_reader(database)?;
        let (bell, rings) = sync_channel(1);
        let turn = Arc::new(Mutex::new(()));
        let turn_beside = turn.clone();
        let thread = std::thread::Builder::new()
            .name("noetl-checkpoint".to_owned())
            .spawn(move || serve(connection, rings, &turn_beside))
            .map_err(|error| {
                Error::unavailable(format!("the checkpoint thread could not be started: {error}"))
            })?;
        Ok(Checkpoints { due: BESIDE, turn, bell: Some(bell), thread: Some(thread) })
    }

    /// Called by the writer between transactions, with the length of the log.
    pub fn consider(&mut self, pages: i32, writer: &Connection) {
        if pages < self.due - BESIDE {
            // The log has started over.
            self.due = BESIDE;
        }
        if pages < self.due {
            return;
        }
        self.due = pages + BESIDE;
        if pages >= WAITING {
            checkpoint(writer, &self.turn);
        } else if let Some(bell) = &self.bell {
            // A full bell means that one is about to run anyway.
            let _ = bell.try_send(());
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.bell = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

fn serve(connection: Connection, rings: Receiver<()>, turn: &Mutex<()>) {
    while rings.recv().is_ok() {
        checkpoint(&connection, turn);
    }
}

/// Moves what can be moved without making readers wait, after the one that may be running. If it fails, everything is still in the log; what is wrong with
/// the disk shows in the next write.
fn checkpoint(connection: &Connection, turn: &Mutex<()>) {
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = connection.query_row("PRAGMA noetl.wal_checkpoint(PASSIVE)", [], |_| Ok(()));
}
