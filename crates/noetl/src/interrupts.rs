//! The wish that a command ends: Ctrl-C, a request by the system, a terminal that is gone.

use anyhow::{Context, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// Hears the signals from the moment it is made; none is lost between two questions.
#[derive(Debug)]
pub struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Interrupts {
    pub fn listen() -> Result<Interrupts> {
        let hear = |kind| signal(kind).context("signals can't be heard");
        Ok(Interrupts {
            interrupt: hear(SignalKind::interrupt())?,
            terminate: hear(SignalKind::terminate())?,
            hang_up: hear(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one and says with which code to end.
    pub async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
            _ = self.hang_up.recv() => Exit::HungUp,
        }
    }
}
