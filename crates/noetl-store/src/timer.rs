//! Timers: instants at which an execution wants to be driven.

use std::time::Duration;

use async_trait::async_trait;
use noetl_types::{ExecutionId, TimerKey, Timestamp};

use crate::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerRow {
    pub key: TimerKey,
    pub due: Timestamp,
}

/// A timer whose time has come, claimed by whoever got this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueTimer {
    pub execution: ExecutionId,
    pub row: TimerRow,
}

/// Claiming timers. They are started and cancelled by [`Store::commit`](crate::Store::commit) alone: the commit that
/// answers a timer cancels it.
#[async_trait]
pub trait Timers {
    /// Timers due at `now` or before, earliest first. The others see them again only after `visibility`, in case the
    /// claimer does not get to answer them.
    async fn claim_due_timers(
        &self,
        now: Timestamp,
        limit: usize,
        visibility: Duration,
    ) -> Result<Vec<DueTimer>, Error>;

    /// When the next timer can be claimed, if there is one.
    async fn next_timer(&self) -> Result<Option<Timestamp>, Error>;

    /// The timers of one execution, claimed or not, the first due first.
    async fn list_timers(&self, execution: ExecutionId) -> Result<Vec<TimerRow>, Error>;
}
