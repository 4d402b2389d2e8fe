//! Queues by pool within one process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// First in, first out, one line per pool. Cheap to clone; all clones are the same queue.
#[derive(Debug)]
pub struct Queue<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    lines: Mutex<Lines<T>>,
    arrived: Notify,
    /// Rung when work is taken, for those who wait for room.
    taken: Notify,
}

#[derive(Debug)]
struct Lines<T> {
    by_pool: BTreeMap<Arc<str>, VecDeque<T>>,
    waiting: usize,
    closed: bool,
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Queue<T> {
        Queue { shared: self.shared.clone() }
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        let lines = Lines { by_pool: BTreeMap::new(), waiting: 0, closed: false };
        Queue {
            shared: Arc::new(Shared {
                lines: Mutex::new(lines),
                arrived: Notify::new(),
                taken: Notify::new(),
            }),
        }
    }
}

impl<T> Queue<T> {
    fn lines(&self) -> MutexGuard<'_, Lines<T>> {
        self.shared.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work at the end of the lines of its pools and wakes whoever waits.
    pub fn push(&self, work: impl IntoIterator<Item = (Arc<str>, T)>) {
        let mut lines = self.lines();
        let before = lines.waiting;
        for (pool, item) in work {
            lines.by_pool.entry(pool).or_default().push_back(item);
            lines.waiting += 1;
        }
        let added = lines.waiting - before;
        drop(lines);
        if added > 0 {
            self.shared.arrived.notify_waiters();
            // Someone who is about to wait finds this permit.
            self.shared.arrived.notify_one();
        }
    }

    /// Takes what is there for these pools, up to `most`, waiting until there is something. Nothing once it is closed.
    pub async fn take(&self, pools: &[Arc<str>], most: usize) -> Vec<T> {
        loop {
            let arrived = self.shared.arrived.notified();
            {
                let mut lines = self.lines();
                if lines.closed {
                    return Vec::new();
                }
                let taken = lines.take(pools, most);
                if !taken.is_empty() {
                    let more = lines.waiting > 0;
                    drop(lines);
                    self.shared.taken.notify_waiters();
                    if more {
                        self.shared.arrived.notify_one();
                    }
                    return taken;
                }
            }
            arrived.await;
        }
    }

    /// Waits until fewer than `limit` are in line, or it is closed.
    pub async fn wait_for_room(&self, limit: usize) {
        loop {
            let taken = self.shared.taken.notified();
            tokio::pin!(taken);
            taken.as_mut().enable();
            {
                let lines = self.lines();
                if lines.closed || lines.waiting < limit {
                    return;
                }
            }
            taken.await;
        }
    }

    /// Removes what is no longer wanted.
    pub fn retain(&self, mut keep: impl FnMut(&T) -> bool) {
        let mut lines = self.lines();
        for line in lines.by_pool.values_mut() {
            line.retain(&mut keep);
        }
        lines.waiting = lines.by_pool.values().map(VecDeque::len).sum();
    }

    pub fn len(&self) -> usize {
        self.lines().waiting
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends all waiting: nothing is given out any more.
    pub fn close(&self) {
        self.lines().closed = true;
        self.shared.arrived.notify_waiters();
        self.shared.arrived.notify_one();
        self.shared.taken.notify_waiters();
    }
}

impl<T> Lines<T> {
    fn take(&mut self, pools: &[Arc<str>], most: usize) -> Vec<T> {
        let mut taken = Vec::new();
        for pool in pools {
            if let Some(line) = self.by_pool.get_mut(pool) {
                let count = line.len().min(most - taken.len());
                taken.extend(line.drain(..count));
            }
        }
        self.waiting -= taken.len();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(name: &str) -> Arc<str> {
        Arc::from(name)
    }

    #[tokio::test]
    async fn work_is_taken_in_order_and_only_from_the_pools_asked_for() {
        let queue = Queue::default();
        queue.push([(pool("a"), 1), (pool("b"), 2), (pool("a"), 3)]);
        assert_eq!(queue.take(&[pool("a")], 10).await, [1, 3]);
        assert_eq!(queue.take(&[pool("b"), pool("a")], 1).await, [2]);
        assert!(queue.is_empty());
    }

    #[tokio::test]
    async fn a_taker_that_waits_is_woken_by_work_and_by_closing() {
        let queue: Queue<i32> = Queue::default();
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.take(&[pool("a")], 5).await }
        });
        tokio::task::yield_now().await;
        queue.push([(pool("a"), 7)]);
        assert_eq!(waiting.await.expect("no panic"), [7]);
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.take(&[pool("a")], 5).await }
        });
        tokio::task::yield_now().await;
        queue.close();
        assert!(waiting.await.expect("no panic").is_empty());
    }

    #[tokio::test]
    async fn room_is_there_once_enough_was_taken() {
        let queue = Queue::default();
        queue.push((0..5).map(|item| (pool("a"), item)));
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.wait_for_room(3).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        queue.take(&[pool("a")], 3).await;
        waiting.await.expect("no panic");
    }
}
