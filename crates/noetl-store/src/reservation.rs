//! Reservations: for a while, a key starts at most one execution.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use crate::Error;

/// A key that an execution takes when it begins, with [`ExecutionWrite::reserve`](crate::ExecutionWrite::reserve). Taking
/// it and beginning is one act: a key is never held by an execution that did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Whose key it is: the parent, such as a subscription. Without one the key is everybody's.
    pub scope: Option<ExecutionId>,
    pub key: Arc<str>,
    /// Now.
    pub seen_at: Timestamp,
    /// From then on the key is free again.
    pub expires_at: Timestamp,
}

/// An execution that did not begin because its key was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    pub execution: ExecutionId,
    /// The one that has the key.
    pub original: ExecutionId,
}

/// Looking at reservations. They are made by [`Store::commit`](crate::Store::commit) alone.
#[async_trait]
pub trait Reservations {
    /// The execution that has the key at `now`.
    async fn find_reservation(
        &self,
        scope: Option<ExecutionId>,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<ExecutionId>, Error>;

    /// Removes reservations that expired at `now` or before, at most `limit`, and says how many.
    async fn purge_reservations(&self, now: Timestamp, limit: usize) -> Result<u64, Error>;
}
