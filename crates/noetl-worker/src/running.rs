//! The attempts that this worker holds, and how to stop them.

use std::collections::{HashMap, VecDeque};
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
    /// Attempts that were to be stopped while they were on their way here, the latest ones.
    stopped_early: VecDeque<AttemptId>,
}

/// Stops that are remembered for attempts that have not arrived. Few are on their way at any time.
const EARLY_STOPS_KEPT: usize = 1024;

impl Running {
    /// Adds an attempt and gives the token that fires when it is to stop.
    pub fn add(&self, attempt: AttemptId, lease: Duration) -> CancellationToken {
        let mut state = self.state();
        let shorter = state.lease.is_none_or(|known| lease < known);
        if shorter {
            state.lease = Some(lease);
        }
        let first = state.attempts.is_empty();
        let token = if state.stopped_early.contains(&attempt) {
            let token = CancellationToken::new();
            token.cancel();
            token
        } else {
            state.attempts.entry(attempt).or_default().clone()
        };
        drop(state);
        if shorter || first {
            self.changed.notify_one();
        }
        token
    }

    pub fn remove(&self, attempt: AttemptId) {
        self.state().attempts.remove(&attempt);
    }

    /// Tells an attempt to stop and forgets it: its lease is not renewed any more. The word may be faster than the
    /// attempt itself.
    pub fn stop(&self, attempt: AttemptId) {
        let mut state = self.state();
        match state.attempts.remove(&attempt) {
            Some(token) => token.cancel(),
            None => {
                if state.stopped_early.len() >= EARLY_STOPS_KEPT {
                    state.stopped_early.pop_front();
                }
                state.stopped_early.push_back(attempt);
            }
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

#[cfg(test)]
mod tests {
    use noetl_types::{CommandKey, ExecutionId, VisitId};

    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    fn attempt(number: u16) -> AttemptId {
        AttemptId { execution: ExecutionId(1), key: CommandKey::whole(VisitId(1)), attempt: number }
    }

    #[test]
    fn an_attempt_that_is_stopped_is_told_and_not_renewed() {
        let running = Running::default();
        let (first, second) = (running.add(attempt(1), LEASE), running.add(attempt(2), LEASE));
        running.stop(attempt(1));
        assert!(first.is_cancelled() && !second.is_cancelled());
        assert_eq!(running.list(), [attempt(2)]);
    }

    #[test]
    fn a_stop_that_comes_before_its_attempt_counts() {
        let running = Running::default();
        running.stop(attempt(1));
        assert!(running.add(attempt(1), LEASE).is_cancelled());
        assert!(!running.add(attempt(2), LEASE).is_cancelled());
        for number in 10..10_000 {
            running.stop(attempt(number));
        }
        assert!(running.state().stopped_early.len() <= EARLY_STOPS_KEPT);
    }

    #[test]
    fn the_shortest_lease_sets_the_pace_while_there_is_something_to_renew() {
        let running = Running::default();
        assert_eq!(running.renewal_interval(), None);
        running.add(attempt(1), LEASE);
        running.add(attempt(2), LEASE / 10);
        assert_eq!(running.renewal_interval(), Some(Duration::from_secs(1)));
        running.remove(attempt(1));
        running.remove(attempt(2));
        assert_eq!(running.renewal_interval(), None);
    }
}
