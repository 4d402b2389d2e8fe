//! Asking again later, less and less often.

use std::time::Duration;

use tracing::warn;

use crate::ControlError;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// The pauses between tries.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub fn new() -> Backoff {
        Backoff { next: FIRST }
    }

    pub async fn wait(&mut self) {
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(LONGEST);
    }
}

/// Asks until the control plane answers, one way or the other. Whoever has less patience drops the future.
pub(crate) async fn until_answered<T, F>(what: &str, mut ask: impl FnMut() -> F) -> Result<T, ControlError>
where
    F: Future<Output = Result<T, ControlError>>,
{
    let mut backoff = Backoff::new();
    loop {
        match ask().await {
            Err(ControlError::Unavailable { reason }) => {
                warn!(%reason, "{what} did not work; trying again");
                backoff.wait().await;
            }
            answered => return answered,
        }
    }
}
