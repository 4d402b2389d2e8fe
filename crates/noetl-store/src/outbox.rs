//! The outbox: messages that leave after the commit that caused them, at least once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use noetl_types::{EventId, ExecutionId, Timestamp, Value};

use crate::Error;

/// A message to publish. One execution has at most one message per event; a second one is passed over.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxRow {
    pub event: EventId,
    pub subject: Arc<str>,
    pub payload: Value,
    /// Not to be published before.
    pub available_at: Timestamp,
}

/// A message that its claimer is now to publish.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedMessage {
    pub id: i64,
    pub execution: ExecutionId,
    pub row: OutboxRow,
    /// How often it was claimed, this time included.
    pub attempts: u32,
}

/// Errors are kept up to this many characters.
pub const MAX_ERROR_CHARS: usize = 2000;

/// A claim takes no more messages than this, and always at least one if there is one.
pub const MAX_CLAIMED: usize = 1000;

/// How long a message rests after its `attempts`-th failure: a second, doubled each time up to 256, and never more than
/// `max_delay_seconds`.
pub fn back_off_seconds(attempts: u32, max_delay_seconds: u64) -> u64 {
    (1u64 << attempts.saturating_sub(1).min(8)).min(max_delay_seconds)
}

/// The part of an error text that is kept.
pub fn cut_error(error: &str) -> &str {
    error.char_indices().nth(MAX_ERROR_CHARS).map_or(error, |(end, _)| &error[..end])
}

/// Publishing messages. They are added by [`Store::commit`](crate::Store::commit) alone.
#[async_trait]
pub trait Outbox {
    /// Takes up to `limit` messages, but see [`MAX_CLAIMED`], available at `now` in the order they were added. Those claimed and neither
    /// published nor failed within `visibility` can be claimed again.
    async fn claim_outbox(
        &self,
        now: Timestamp,
        limit: usize,
        visibility: Duration,
    ) -> Result<Vec<ClaimedMessage>, Error>;

    /// How many of the given messages exist and are published now. Those that were already stay as they are.
    async fn mark_published(&self, ids: &[i64], now: Timestamp) -> Result<u64, Error>;

    /// Puts a message back for later and says in how many seconds; nothing when there is no such message, or when it is
    /// published.
    async fn mark_failed(
        &self,
        id: i64,
        error: &str,
        attempts: u32,
        max_delay_seconds: u64,
        now: Timestamp,
    ) -> Result<Option<u64>, Error>;

    /// Messages that wait to be claimed at `now`.
    async fn count_pending(&self, now: Timestamp) -> Result<u64, Error>;

    /// The error of the last failure, cut to [`MAX_ERROR_CHARS`].
    async fn find_outbox_error(&self, id: i64) -> Result<Option<String>, Error>;

    /// Removes messages published before `before`, at most `limit`, and says how many.
    async fn purge_published(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_doubles_up_to_256_seconds_or_the_given_limit() {
        let rests: Vec<u64> = [0, 1, 2, 3, 9, 10, u32::MAX].map(|n| back_off_seconds(n, 300)).into();
        assert_eq!(rests, [1, 1, 2, 4, 256, 256, 256]);
        assert_eq!(back_off_seconds(7, 30), 30);
    }

    #[test]
    fn errors_are_cut_by_characters_not_bytes() {
        assert_eq!(cut_error(&"é".repeat(2001)), "é".repeat(2000));
        assert_eq!(cut_error("short"), "short");
    }
}
