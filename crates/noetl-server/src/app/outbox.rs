//! Messages that leave the server: claimed, published or put back by whoever carries them.

use std::time::Duration;

use noetl_store::ClaimedMessage;

use super::{App, Code, Error};

/// A claimer that has not said what came of its messages by then is taken for dead.
const VISIBILITY: Duration = Duration::from_secs(60);

const USUAL_CLAIM: i64 = 100;
const LARGEST_CLAIM: i64 = 1000;

impl App {
    /// Takes messages to publish; the limit is brought into 1 to 1000.
    pub async fn claim_outbox(&self, limit: Option<i64>) -> Result<Vec<ClaimedMessage>, Error> {
        let limit = limit.unwrap_or(USUAL_CLAIM).clamp(1, LARGEST_CLAIM) as usize;
        Ok(self.store().claim_outbox(self.now(), limit, VISIBILITY).await?)
    }

    /// How many of these messages exist; they are published now.
    pub async fn mark_published(&self, ids: &[i64]) -> Result<u64, Error> {
        if ids.is_empty() {
            return Err(Error::new(Code::ParameterMissing, "'outbox_ids' is empty")
                .help("name the messages that were published"));
        }
        Ok(self.store().mark_published(ids, self.now()).await?)
    }

    /// Puts a message back for later and says in how many seconds.
    pub async fn mark_failed(
        &self,
        id: i64,
        error: &str,
        attempts: u32,
        max_delay_seconds: u32,
    ) -> Result<Option<u64>, Error> {
        let limit = u64::from(max_delay_seconds);
        Ok(self.store().mark_failed(id, error, attempts, limit, self.now()).await?)
    }

    pub async fn count_pending(&self) -> Result<u64, Error> {
        Ok(self.store().count_pending(self.now()).await?)
    }
}
