//! What the drive loop counts.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use noetl_types::EventBody;

use super::histogram::Histogram;
use crate::drive::Progress;

/// Counted by the drive tasks, after the commit.
#[derive(Debug)]
pub struct DriveMetrics {
    pub started: AtomicU64,
    pub completed: AtomicU64,
    pub failed: AtomicU64,
    pub cancelled: AtomicU64,
    pub events: AtomicU64,
    pub dispatched: AtomicU64,
    pub begun: AtomicU64,
    pub lost: AtomicU64,
    /// Executions in a commit.
    pub batches: Histogram,
    /// Seconds of a commit.
    pub commits: Histogram,
}

impl Default for DriveMetrics {
    fn default() -> DriveMetrics {
        DriveMetrics {
            started: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            events: AtomicU64::new(0),
            dispatched: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            batches: Histogram::new(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0]),
            commits: Histogram::new(&[0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0]),
        }
    }
}

impl DriveMetrics {
    pub fn committed(&self, executions: usize, took: Duration) {
        self.batches.observe(executions as f64);
        self.commits.observe(took.as_secs_f64());
    }

    /// Counts what has happened to runs and how many commands went out.
    pub fn told(&self, progress: &[Progress], dispatched: usize) {
        self.dispatched.fetch_add(dispatched as u64, Relaxed);
        for event in progress.iter().flat_map(|progress| progress.events.iter()) {
            self.events.fetch_add(1, Relaxed);
            let counter = match &event.body {
                EventBody::PlaybookStarted(_) => &self.started,
                EventBody::PlaybookCompleted { .. } => &self.completed,
                EventBody::PlaybookFailed { .. } => &self.failed,
                EventBody::PlaybookCancelled { .. } => &self.cancelled,
                EventBody::CommandStarted { .. } => &self.begun,
                EventBody::CommandLost { .. } => &self.lost,
                _ => continue,
            };
            counter.fetch_add(1, Relaxed);
        }
    }
}
