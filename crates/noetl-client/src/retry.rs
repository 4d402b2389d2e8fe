//! When to try again, and after how long.

use std::time::Duration;

/// How often a call is tried and how long to pause in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// All tries together; 1 means once.
    pub tries: u32,
    /// The pause after the first try. It doubles from there.
    pub first: Duration,
    pub longest: Duration,
}

impl Retry {
    /// For callers who see to it themselves.
    pub const NEVER: Retry = Retry { tries: 1, first: Duration::ZERO, longest: Duration::ZERO };

    /// The pause after this try, counted from 1. What the server asks for counts if it is longer.
    pub(crate) fn pause(&self, after: u32, asked: Option<Duration>) -> Duration {
        let doubled = self.first.saturating_mul(1 << after.saturating_sub(1).min(16)).min(self.longest);
        asked.map_or(doubled, |asked| asked.min(self.longest).max(doubled))
    }
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { tries: 5, first: Duration::from_millis(100), longest: Duration::from_secs(5) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_follow_what_the_server_asks_for() {
        let retry = Retry::default();
        let pauses: Vec<u128> = [1, 2, 3, 8, 40].map(|after| retry.pause(after, None).as_millis()).to_vec();
        assert_eq!(pauses, [100, 200, 400, 5000, 5000]);
        assert_eq!(retry.pause(1, Some(Duration::from_secs(2))), Duration::from_secs(2));
        assert_eq!(retry.pause(1, Some(Duration::from_secs(3600))), Duration::from_secs(5));
    }
}
