//! Which attempts were stopped lately, for workers that ask from afar.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use noetl_types::{CommandKey, ExecutionId};
use tokio::sync::Notify;

/// Names one attempt at a command.
pub type Attempt = (ExecutionId, CommandKey, u16);

/// Stops that are remembered. A worker that asks too late for one hears of it with its next renewal.
const KEPT: usize = 4096;

/// The latest stops, numbered, so that a worker gets each once however its questions fall.
#[derive(Debug, Default)]
pub struct Stops {
    state: Mutex<State>,
    added: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// How many there were.
    count: u64,
    latest: VecDeque<Attempt>,
    closed: bool,
}

impl Stops {
    pub fn add(&self, stop: Attempt) {
        let mut state = self.state();
        if state.latest.len() >= KEPT {
            state.latest.pop_front();
        }
        state.latest.push_back(stop);
        state.count += 1;
        drop(state);
        self.added.notify_waiters();
    }

    /// How many there were so far.
    pub fn count(&self) -> u64 {
        self.state().count
    }

    /// Those after the first `seen`, as soon as there are any, and how many there were with them. None once it is closed.
    pub async fn after(&self, seen: u64) -> (Vec<Attempt>, u64) {
        loop {
            let added = self.added.notified();
            tokio::pin!(added);
            added.as_mut().enable();
            {
                let state = self.state();
                if state.closed || state.count > seen {
                    let forgotten = state.count - state.latest.len() as u64;
                    let told = seen.saturating_sub(forgotten).min(state.latest.len() as u64) as usize;
                    return (state.latest.range(told..).copied().collect(), state.count);
                }
            }
            added.await;
        }
    }

    /// Ends all waiting.
    pub fn close(&self) {
        self.state().closed = true;
        self.added.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::VisitId;

    use super::*;

    fn stop(execution: i64) -> Attempt {
        (ExecutionId(execution), CommandKey::whole(VisitId(1)), 1)
    }

    #[tokio::test]
    async fn each_stop_is_told_once_however_the_questions_fall() {
        let stops = Stops::default();
        stops.add(stop(1));
        stops.add(stop(2));
        let (told, seen) = stops.after(0).await;
        assert_eq!((told, seen), (vec![stop(1), stop(2)], 2));
        stops.add(stop(3));
        assert_eq!(stops.after(seen).await, (vec![stop(3)], 3));
    }

    #[tokio::test]
    async fn what_was_forgotten_is_passed_over() {
        let stops = Stops::default();
        for execution in 0..KEPT as i64 + 10 {
            stops.add(stop(execution));
        }
        let (told, seen) = stops.after(3).await;
        assert_eq!((told.len(), told[0], seen), (KEPT, stop(10), KEPT as u64 + 10));
    }

    #[tokio::test]
    async fn who_has_heard_everything_waits_for_the_next() {
        let stops = std::sync::Arc::new(Stops::default());
        let waiting = tokio::spawn({
            let stops = stops.clone();
            async move { stops.after(0).await }
        });
        tokio::task::yield_now().await;
        stops.add(stop(1));
        assert_eq!(waiting.await.expect("no panic"), (vec![stop(1)], 1));
    }
}
