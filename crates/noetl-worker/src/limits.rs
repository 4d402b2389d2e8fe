//! How many calls of each kind of tool may be under way at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug)]
pub(crate) struct KindLimits {
    by_kind: BTreeMap<Arc<str>, Arc<Semaphore>>,
}

impl KindLimits {
    /// A limit of zero would stop its kind for ever and counts as one.
    pub fn new(limits: &BTreeMap<Arc<str>, usize>) -> KindLimits {
        let semaphore = |limit: usize| Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS)));
        KindLimits { by_kind: limits.iter().map(|(kind, limit)| (kind.clone(), semaphore(*limit))).collect() }
    }

    /// Waits for a place; it is free again when the permit is dropped. Kinds without a limit need none.
    pub async fn acquire(&self, kind: &str) -> Option<OwnedSemaphorePermit> {
        let places = self.by_kind.get(kind)?.clone();
        Some(places.acquire_owned().await.expect("the semaphore is never closed"))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_kind_with_a_limit_waits_for_its_turn() {
        let limits = KindLimits::new(&BTreeMap::from([("python".into(), 1)]));
        let first = limits.acquire("python").await;
        assert!(limits.acquire("python").now_or_never().is_none(), "the one place is taken");
        assert!(limits.acquire("http").now_or_never().is_some(), "other kinds have no limit");
        drop(first);
        assert!(limits.acquire("python").now_or_never().is_some(), "the place is free again");
    }
}
