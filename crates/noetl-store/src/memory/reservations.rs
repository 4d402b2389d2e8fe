//! Keys that start at most one execution.

use std::sync::Arc;

use async_trait::async_trait;
use noetl_types::{ExecutionId, Timestamp};

use super::MemoryStore;
use super::state::{Reserved, State};
use crate::{Error, ExecutionWrite, Reservations};

impl State {
    /// The execution that has this key already.
    pub fn reserved_by(
        &self,
        scope: Option<ExecutionId>,
        key: &Arc<str>,
        now: Timestamp,
    ) -> Option<ExecutionId> {
        let reserved = self.reservations.get(&(scope, key.clone()))?;
        (reserved.expires_at > now).then_some(reserved.execution)
    }

    pub fn reserve(&mut self, write: &ExecutionWrite) {
        if let Some(new) = &write.reserve {
            let reserved = Reserved { execution: write.execution, expires_at: new.expires_at };
            self.reservations.insert((new.scope, new.key.clone()), reserved);
        }
    }
}

#[async_trait]
impl Reservations for MemoryStore {
    async fn find_reservation(
        &self,
        scope: Option<ExecutionId>,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<ExecutionId>, Error> {
        self.with(|state| state.reserved_by(scope, &key.into(), now))
    }

    async fn purge_reservations(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        self.with(|state| {
            let over = state.reservations.iter().filter(|(_, reserved)| reserved.expires_at <= now);
            let over: Vec<_> = over.map(|(place, _)| place.clone()).take(limit).collect();
            for place in &over {
                state.reservations.remove(place);
            }
            over.len() as u64
        })
    }
}
