//! When a call has to end: after its time, or when somebody cancels it.

use std::time::Duration;

use noetl_types::{ErrorKind, ToolError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The end of a call's time, and the sign that it is no longer wanted.
#[derive(Clone, Debug)]
pub struct Deadline {
    limit: Option<(Duration, Instant)>,
    cancel: CancellationToken,
}

/// Why a call was cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    TimedOut(Duration),
    Cancelled,
}

impl Deadline {
    /// The time starts to run now.
    pub fn new(limit: Option<Duration>, cancel: CancellationToken) -> Deadline {
        let limit = limit.and_then(|limit| Some((limit, Instant::now().checked_add(limit)?)));
        Deadline { limit, cancel }
    }

    /// Waits for whatever interrupts the call.
    pub async fn interrupted(&self) -> Interrupt {
        let timed_out = async {
            match self.limit {
                Some((limit, end)) => {
                    tokio::time::sleep_until(end).await;
                    limit
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Interrupt::Cancelled,
            limit = timed_out => Interrupt::TimedOut(limit),
        }
    }

    /// Runs `work` to its end or to the interruption, whichever comes first.
    pub async fn guard<F: Future>(&self, work: F) -> Result<F::Output, Interrupt> {
        tokio::select! {
            biased;
            output = work => Ok(output),
            interrupt = self.interrupted() => Err(interrupt),
        }
    }

    /// Whether the call is already over, for code that cannot wait.
    pub fn has_passed(&self) -> Option<Interrupt> {
        if self.cancel.is_cancelled() {
            return Some(Interrupt::Cancelled);
        }
        self.limit.filter(|(_, end)| Instant::now() >= *end).map(|(limit, _)| Interrupt::TimedOut(limit))
    }
}

impl Interrupt {
    /// The error to report; `what` says what was going on, such as "the shell command".
    pub fn into_error(self, what: &str) -> ToolError {
        match self {
            Interrupt::TimedOut(limit) => ToolError::new(
                ErrorKind::Timeout,
                format!("{what} was stopped at its timeout of {} s", limit.as_secs_f64()),
            )
            .with_code("TIMEOUT"),
            Interrupt::Cancelled => ToolError::new(ErrorKind::Cancelled, format!("{what} was cancelled")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_time_ends_the_work() {
        let deadline = Deadline::new(Some(Duration::from_secs(2)), CancellationToken::new());
        let interrupt = deadline.guard(std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(interrupt.into_error("the work").message, "the work was stopped at its timeout of 2 s");
        assert_eq!(deadline.has_passed(), Some(Interrupt::TimedOut(Duration::from_secs(2))));
    }

    #[tokio::test]
    async fn cancelling_ends_the_work_without_a_limit() {
        let cancel = CancellationToken::new();
        let deadline = Deadline::new(None, cancel.clone());
        cancel.cancel();
        assert_eq!(deadline.guard(std::future::pending::<()>()).await, Err(Interrupt::Cancelled));
    }

    #[tokio::test]
    async fn a_limit_beyond_the_clock_is_no_limit() {
        let deadline = Deadline::new(Some(Duration::MAX), CancellationToken::new());
        assert_eq!(deadline.guard(async { 5 }).await, Ok(5));
        assert_eq!(deadline.has_passed(), None);
    }
}
