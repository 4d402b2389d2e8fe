//! Ids that are unique across servers and grow with time: 41 bits of milliseconds, 10 of machine, 12 of sequence.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::Clock;

/// 2024-01-01 in milliseconds, as the ids of other NoETL parts count.
const EPOCH_MILLIS: i64 = 1_704_067_200_000;

/// Makes ids.
#[derive(Debug)]
pub struct IdSource {
    clock: Arc<dyn Clock>,
    machine: i64,
    /// The last id without its machine: milliseconds and sequence together, so that it only ever grows by one step.
    last: AtomicI64,
}

impl IdSource {
    pub fn new(clock: Arc<dyn Clock>, machine: u16) -> IdSource {
        IdSource { clock, machine: i64::from(machine & 1023), last: AtomicI64::new(0) }
    }

    pub fn next(&self) -> i64 {
        let millis = (self.clock.now().as_millis() - EPOCH_MILLIS).max(0) << 12;
        let previous = self
            .last
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(millis.max(last + 1)))
            .unwrap_or_else(|last| last);
        let ticks = millis.max(previous + 1);
        (ticks >> 12) << 22 | self.machine << 12 | ticks & 4095
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use noetl_types::Timestamp;

    #[test]
    fn ids_grow_also_when_the_clock_stands_still() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(EPOCH_MILLIS + 5)));
        let ids = IdSource::new(clock, 3);
        let made: Vec<i64> = (0..10_000).map(|_| ids.next()).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(made[0] >> 12 & 1023, 3);
        assert_eq!(made[0] >> 22, 5);
    }
}
