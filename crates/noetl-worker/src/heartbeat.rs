//! Keeps the leases of running attempts alive, and stops attempts that the control plane no longer wants.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tracing::{debug, warn};

use crate::ControlPlane;
use crate::running::Running;

/// An idle worker shows that it lives this often.
const IDLE_INTERVAL: Duration = Duration::from_secs(10);

/// Renews at a third of the shortest lease, for ever.
pub(crate) async fn renew_leases(control: Arc<dyn ControlPlane>, worker: Arc<str>, running: Arc<Running>) {
    let mut last = Instant::now();
    loop {
        let interval = running.renewal_interval().unwrap_or(IDLE_INTERVAL);
        tokio::select! {
            () = sleep_until(last + interval) => {}
            // The interval may be shorter now.
            () = running.changed() => continue,
        }
        last = Instant::now();
        match control.renew(&worker, &running.list()).await {
            Ok(stop) => {
                for attempt in stop {
                    debug!(%attempt, "stopped by the control plane");
                    running.stop(attempt);
                }
            }
            Err(error) => warn!(%worker, %error, "leases were not renewed"),
        }
    }
}

/// Stops attempts as soon as the control plane says so, for ever.
pub(crate) async fn follow_stops(control: Arc<dyn ControlPlane>, worker: Arc<str>, running: Arc<Running>) {
    loop {
        for attempt in control.wait_for_stops(&worker).await {
            debug!(%attempt, "stopped by the control plane");
            running.stop(attempt);
        }
    }
}
