//! Removes what has served its time: stored values that nobody can need any more, keys that are free again, secrets past
//! their date, and messages that were published long ago.

use std::time::Duration;

use noetl_store::Error;
use tokio_util::sync::CancellationToken;

use crate::drive::Drive;

const INTERVAL: Duration = Duration::from_secs(60 * 60);

/// An object this old that nothing points to was left by a crash; a younger one may belong to a commit under way.
const LONGEST_COMMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Published messages are kept for a while, for people who wonder what was sent.
const PUBLISHED_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

const BATCH: usize = 500;

/// Collects now and then until `stop` fires.
pub async fn collect_garbage(drive: Drive, stop: CancellationToken) {
    loop {
        match collect(&drive).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "values that nobody needs were removed"),
            Err(error) => tracing::warn!(%error, "garbage could not be collected, trying again later"),
        }
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Collects once and says how many values were removed.
pub async fn collect(drive: &Drive) -> Result<u64, Error> {
    let shared = drive.shared();
    let now = shared.clock.now();
    let mut removed = 0;
    loop {
        let expired = shared.store.collect_expired(now, BATCH).await?.len();
        removed += expired as u64;
        if expired < BATCH {
            break;
        }
    }
    while shared.store.purge_reservations(now, BATCH).await? == BATCH as u64 {}
    while shared.store.purge_keychain(now, BATCH).await? == BATCH as u64 {}
    while shared.store.purge_published(now.before(PUBLISHED_KEPT), BATCH).await? == BATCH as u64 {}
    Ok(removed + shared.store.collect_objects(now.before(LONGEST_COMMIT)).await?)
}
