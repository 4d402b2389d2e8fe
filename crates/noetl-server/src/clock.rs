//! The one place where time comes in.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use noetl_types::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    fn now(&self) -> Timestamp;
}

/// The machine's clock. It never goes back within a process.
#[derive(Debug, Default)]
pub struct SystemClock {
    latest: AtomicI64,
}

impl SystemClock {
    pub fn shared() -> Arc<dyn Clock> {
        Arc::new(SystemClock::default())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64);
        let before = self.latest.fetch_max(now, Ordering::Relaxed);
        Timestamp(now.max(before))
    }
}

/// A clock that is moved by hand.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicI64,
}

impl ManualClock {
    pub fn at(now: Timestamp) -> ManualClock {
        ManualClock { now: AtomicI64::new(now.0) }
    }

    pub fn set(&self, now: Timestamp) {
        self.now.fetch_max(now.0, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::Relaxed))
    }
}
