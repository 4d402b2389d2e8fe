//! Fires timers when they are due.

use std::time::Duration;

use noetl_engine::Input;
use tokio_util::sync::CancellationToken;

use crate::drive::Drive;

/// Timers taken at a time.
const BATCH: usize = 500;

/// A timer that was claimed and not answered is seen again after this long.
const VISIBILITY: Duration = Duration::from_secs(30);

/// The longest nap: timers of other servers that died are noticed by then.
const NAP: Duration = Duration::from_secs(5);

/// Runs until it is told to stop.
pub async fn fire_timers(drive: Drive, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let nap = match fire_due_timers(&drive).await {
            Ok(nap) => nap,
            Err(error) => {
                tracing::warn!(%error, "timers can't be read, trying again");
                Duration::from_secs(1)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(nap) => {}
            () = drive.shared().timer_started.notified() => {}
            () = stop.cancelled() => {}
        }
    }
}

/// Fires what is due and says how long until the next.
pub async fn fire_due_timers(drive: &Drive) -> Result<Duration, noetl_store::Error> {
    let shared = drive.shared();
    loop {
        let due = shared.store.claim_due_timers(shared.clock.now(), BATCH, VISIBILITY).await?;
        if due.is_empty() {
            break;
        }
        let inputs =
            due.into_iter().map(|timer| (timer.execution, Input::TimerFired(timer.row.key))).collect();
        for result in drive.inputs(inputs).await {
            if let Err(error) = result {
                tracing::warn!(%error, "a timer was not answered and comes again");
            }
        }
    }
    let next = shared.store.next_timer().await?;
    let now = shared.clock.now();
    Ok(next.map_or(NAP, |next| next.since(now)).min(NAP))
}
