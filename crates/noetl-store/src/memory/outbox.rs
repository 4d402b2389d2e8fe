//! Publishing messages.

use std::time::Duration;

use async_trait::async_trait;
use noetl_types::Timestamp;

use super::MemoryStore;
use super::state::{Message, MessageState};
use crate::{ClaimedMessage, Error, MAX_CLAIMED, Outbox, back_off_seconds, cut_error};

fn is_available(message: &Message, now: Timestamp) -> bool {
    matches!(message.state, MessageState::Waiting(at) if at <= now)
}

fn is_published(message: &Message) -> bool {
    matches!(message.state, MessageState::Published(_))
}

#[async_trait]
impl Outbox for MemoryStore {
    async fn claim_outbox(
        &self,
        now: Timestamp,
        limit: usize,
        visibility: Duration,
    ) -> Result<Vec<ClaimedMessage>, Error> {
        let limit = limit.clamp(1, MAX_CLAIMED);
        self.with(|state| {
            let claimable = |message: &Message| match message.state {
                MessageState::Claimed(at) => at.after(visibility) <= now,
                _ => is_available(message, now),
            };
            let taken = state.messages.iter_mut().filter(|(_, message)| claimable(message)).take(limit);
            taken
                .map(|(id, message)| {
                    message.state = MessageState::Claimed(now);
                    message.attempts += 1;
                    ClaimedMessage {
                        id: *id,
                        execution: message.execution,
                        row: message.row.clone(),
                        attempts: message.attempts,
                    }
                })
                .collect()
        })
    }

    async fn mark_published(&self, ids: &[i64], now: Timestamp) -> Result<u64, Error> {
        self.with(|state| {
            let mut marked = 0;
            for id in ids {
                if let Some(message) = state.messages.get_mut(id) {
                    if !is_published(message) {
                        message.state = MessageState::Published(now);
                        message.error = None;
                    }
                    marked += 1;
                }
            }
            marked
        })
    }

    async fn mark_failed(
        &self,
        id: i64,
        error: &str,
        attempts: u32,
        max_delay_seconds: u64,
        now: Timestamp,
    ) -> Result<Option<u64>, Error> {
        self.with(|state| {
            let message = state.messages.get_mut(&id).filter(|message| !is_published(message))?;
            let delay = back_off_seconds(attempts, max_delay_seconds);
            message.state = MessageState::Waiting(now.after(Duration::from_secs(delay)));
            message.error = Some(cut_error(error).to_owned());
            Some(delay)
        })
    }

    async fn count_pending(&self, now: Timestamp) -> Result<u64, Error> {
        self.with(|state| state.messages.values().filter(|message| is_available(message, now)).count() as u64)
    }

    async fn find_outbox_error(&self, id: i64) -> Result<Option<String>, Error> {
        self.with(|state| state.messages.get(&id).and_then(|message| message.error.clone()))
    }

    async fn purge_published(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        self.with(|state| {
            let old = |message: &Message| matches!(message.state, MessageState::Published(at) if at < before);
            let ids: Vec<i64> = state
                .messages
                .iter()
                .filter(|(_, message)| old(message))
                .map(|(id, _)| *id)
                .take(limit)
                .collect();
            for id in &ids {
                let message = state.messages.remove(id).expect("it was listed under the same lock");
                state.message_events.remove(&(message.execution, message.row.event));
            }
            ids.len() as u64
        })
    }
}
