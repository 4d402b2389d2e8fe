//! Answers requests on a listener until it is told to stop, then lets those under way finish.

use std::future::IntoFuture;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::router;
use crate::app::App;

/// How long requests under way may take once the server is to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Runs until `stop` fires.
pub async fn serve(listener: TcpListener, app: App, stop: CancellationToken) -> std::io::Result<()> {
    let graceful = stop.clone();
    let serving = axum::serve(listener, router(app)).with_graceful_shutdown(graceful.cancelled_owned());
    let mut serving = tokio::spawn(serving.into_future());
    tokio::select! {
        ended = &mut serving => ended.unwrap_or_else(|panic| Err(std::io::Error::other(panic))),
        () = after(stop, GRACE) => {
            serving.abort();
            Ok(())
        }
    }
}

async fn after(stop: CancellationToken, delay: Duration) {
    stop.cancelled().await;
    tokio::time::sleep(delay).await;
}
