//! A store in memory: the same behaviour as the databases, deterministic, with faults on request. For simulations and
//! tests; nothing outlives the process.

mod audit;
mod blobs;
mod catalog;
mod commands;
mod commit;
mod credentials;
mod executions;
mod feed;
mod keychain;
mod logs;
mod outbox;
mod plugins;
mod projections;
mod queries;
mod reservations;
mod results;
mod retention;
mod state;
mod subscriptions;
mod test_suites;
mod timers;
mod tokens;
mod variables;
mod workers;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;

use crate::{Batch, Committed, Error, Store};
use state::State;

/// What goes wrong with a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitFault {
    /// It fails and nothing is stored.
    BeforeApply,
    /// It is stored, but the caller is told that it failed, as when a connection breaks before the answer.
    AfterApply,
}

/// A handle to a store in memory. Clones share their data; see [`MemoryStore::snapshot`] for a copy.
#[derive(Clone, Default)]
pub struct MemoryStore {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    state: State,
    /// What happens to the next commits, in order.
    faults: VecDeque<Option<CommitFault>>,
    down: bool,
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl MemoryStore {
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// A store of its own with the same content and no faults pending. Cheap: executions are shared until one of the
    /// two changes them.
    pub fn snapshot(&self) -> MemoryStore {
        let state = self.lock().state.clone();
        MemoryStore { inner: Arc::new(Mutex::new(Inner { state, ..Inner::default() })) }
    }

    /// Lets a coming commit fail. Faults are used up in order, one per commit.
    pub fn fail_next_commit(&self, fault: CommitFault) {
        self.lock().faults.push_back(Some(fault));
    }

    /// Lets a coming commit pass, before others that are to fail.
    pub fn spare_next_commit(&self) {
        self.lock().faults.push_back(None);
    }

    /// The commits to come do not fail.
    pub fn forget_faults(&self) {
        self.lock().faults.clear();
    }

    /// While down, every call fails as unavailable.
    pub fn set_down(&self, down: bool) {
        self.lock().down = down;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no call panics while it holds the lock")
    }

    fn with<T>(&self, call: impl FnOnce(&mut State) -> T) -> Result<T, Error> {
        let mut inner = self.lock();
        if inner.down { Err(Error::unavailable("it was taken down")) } else { Ok(call(&mut inner.state)) }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn commit(&self, batch: &Batch) -> Result<Committed, Error> {
        batch.validate()?;
        let mut inner = self.lock();
        if inner.down {
            return Err(Error::unavailable("it was taken down"));
        }
        match inner.faults.pop_front().flatten() {
            None => Ok(inner.state.commit(batch)),
            Some(CommitFault::BeforeApply) => Err(Error::unavailable("the commit was made to fail")),
            Some(CommitFault::AfterApply) => {
                inner.state.commit(batch);
                Err(Error::unavailable("the answer to the commit was lost"))
            }
        }
    }

    async fn check(&self) -> Result<(), Error> {
        self.with(|_| ())
    }
}
