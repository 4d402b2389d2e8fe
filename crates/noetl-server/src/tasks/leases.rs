//! Takes commands away from workers that have gone quiet, and notes that they are offline.

use std::time::Duration;

use noetl_engine::Input;
use tokio_util::sync::CancellationToken;

use crate::drive::Drive;

/// Attempts looked at at a time.
const BATCH: usize = 500;

/// Runs until it is told to stop. Workers elsewhere could not renew anything while no server ran, so after a start they get
/// a lease's time to be heard of.
pub async fn watch_leases(drive: Drive, stop: CancellationToken) {
    let lease = drive.config().lease;
    let mut nap = lease;
    loop {
        tokio::select! {
            () = tokio::time::sleep(nap) => {}
            () = stop.cancelled() => return,
        }
        nap = lease / 6;
        if let Err(error) = expire_leases(&drive).await {
            tracing::warn!(%error, "leases can't be read, trying again");
        }
        if let Err(error) = note_silence(&drive).await {
            tracing::warn!(%error, "the workers can't be looked through, trying again");
        }
    }
}

/// Takes away what is overdue now.
pub async fn expire_leases(drive: &Drive) -> Result<(), noetl_store::Error> {
    let shared = drive.shared();
    loop {
        let expired = shared.store.list_expired_leases(shared.clock.now(), BATCH).await?;
        let full = expired.len() == BATCH;
        let inputs = expired
            .into_iter()
            .map(|command| {
                tracing::info!(execution = %command.execution, step = %command.row.step, "a lease ran out");
                let (key, attempt) = (command.row.key, command.row.attempt);
                (command.execution, Input::LeaseExpired { command: key, attempt })
            })
            .collect();
        for result in drive.inputs(inputs).await {
            if let Err(error) = result {
                tracing::warn!(%error, "a lease that ran out could not be dealt with and is looked at again");
            }
        }
        if !full {
            return Ok(());
        }
    }
}

/// Idle workers show that they live several times in this span.
const SILENCE: Duration = Duration::from_secs(60);

/// A worker that let two leases go by without a word is offline until it speaks again.
async fn note_silence(drive: &Drive) -> Result<(), noetl_store::Error> {
    let shared = drive.shared();
    let now = shared.clock.now();
    for worker in shared.store.sweep_workers(now.before((shared.config.lease * 2).max(SILENCE)), now).await? {
        tracing::warn!(worker = %worker.worker.name, "a worker has gone quiet");
    }
    Ok(())
}
