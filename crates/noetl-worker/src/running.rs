//! The attempts that this worker holds, and how to stop them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::AttemptId;

#[derive(Debug, Default)]
pub(crate) struct Running {
    state: Mutex<State>,
    /// Rings when the first attempt comes, or one with a shorter lease.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    attempts: HashMap<AttemptId, CancellationToken>,
    /// The shortest lease that was given.
    lease: Option<Duration>,
}

impl Running {
    /// Adds an attempt and gives the token that fires when it is to stop.
    pub fn add(&self, attempt: AttemptId, lease: Duration) -> CancellationToken {
        let mut state = self.state();
        let shorter = state.lease.is_none_or(|known| lease < known);
        if shorter {
            state.lease = Some(lease);
        }
        let first = state.attempts.is_empty();
        let token = state.attempts.entry(attempt).or_default().clone();
        drop(state);
        if shorter || first {
            self.changed.notify_one();
        }
        token
    }

    pub fn remove(&self, attempt: AttemptId) {
        self.state().attempts.remove(&attempt);
    }

    /// Tells an attempt to stop and forgets it: its lease is not renewed any more.
    pub fn stop(&self, attempt: AttemptId) {
        if let Some(token) = self.state().attempts.remove(&attempt) {
            token.cancel();
        }
    }

    pub fn list(&self) -> Vec<AttemptId> {
        self.state().attempts.keys().copied().collect()
    }

    /// How long to wait between renewals: long enough for two of them to fail before a lease runs out. Nothing while
    /// there is nothing to renew.
    pub fn renewal_interval(&self) -> Option<Duration> {
        let state = self.state();
        state.lease.filter(|_| !state.attempts.is_empty()).map(|lease| lease / 3)
    }

    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
