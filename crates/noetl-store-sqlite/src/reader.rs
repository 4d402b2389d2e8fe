//! Connections that read, lent out one call at a time.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use noetl_store::Error;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::connect::open_reader;
use crate::error::Outcome;

/// A bounded number of reading connections.
#[derive(Debug)]
pub struct Readers {
    database: PathBuf,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub fn open(database: &Path, count: usize) -> Result<Readers, Error> {
        let count = count.max(1);
        let connections = (0..count).map(|_| open_reader(database)).collect::<Result<Vec<_>, _>>()?;
        Ok(Readers::over(database, connections))
    }

    /// Lends these connections.
    pub fn over(database: &Path, connections: Vec<Connection>) -> Readers {
        Readers {
            database: database.to_owned(),
            permits: Arc::new(Semaphore::new(connections.len())),
            idle: Arc::new(Mutex::new(connections)),
        }
    }

    /// Runs a call on a thread for blocking work. It sees one state of the database from beginning to end.
    pub async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = self.permits.clone().acquire_owned().await;
        let permit = permit.map_err(|_| Error::unavailable("the store is being closed"))?;
        let idle = self.idle.clone();
        let answer = tokio::task::spawn_blocking(move || {
            let lent = Lent::take(idle);
            let answer = lent.in_transaction(call);
            drop(lent);
            drop(permit);
            answer
        });
        match answer.await {
            Ok(answer) => answer.map_err(|fault| fault.into_store_error(&self.database)),
            Err(error) => Err(Error::unavailable(format!("a reading call did not end: {error}"))),
        }
    }
}

fn lock(idle: &Mutex<Vec<Connection>>) -> MutexGuard<'_, Vec<Connection>> {
    idle.lock().expect("nobody panics while holding the lock")
}

/// A connection that goes back when dropped, after a panic too.
struct Lent {
    connection: Option<Connection>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Lent {
    fn take(idle: Arc<Mutex<Vec<Connection>>>) -> Lent {
        let connection = lock(&idle).pop();
        Lent { connection, idle }
    }

    fn in_transaction<T>(&self, call: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
        let connection = self.connection.as_ref().expect("there are as many connections as permits");
        let transaction = connection.unchecked_transaction()?;
        let answer = call(connection)?;
        transaction.finish()?;
        Ok(answer)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        lock(&self.idle).extend(self.connection.take());
    }
}
