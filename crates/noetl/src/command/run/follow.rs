//! Follows a run to its end: tells what happens, and notices when it can't go on.

use std::time::Duration;

use anyhow::{Result, bail};
use noetl_server::drive::Progress as News;
use noetl_types::ExecutionId;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::progress::Progress;
use crate::embedded::Embedded;
use crate::exit::Exit;
use crate::interrupts::Interrupts;

/// How often to look into the store, in case that news were missed.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Events that are loaded in one go.
const PAGE: usize = 500;

/// Why there is nothing more to follow.
pub enum Ending {
    Over,
    /// Somebody wants the process to end, with this code.
    Unwanted(Exit),
    /// The store takes no more.
    Stuck(anyhow::Error),
}

/// Watches from the moment it is made.
pub struct Follower<'e> {
    embedded: &'e Embedded,
    news: Receiver<News>,
    /// The last event that was told.
    told: u64,
}

impl<'e> Follower<'e> {
    pub fn new(embedded: &'e Embedded) -> Follower<'e> {
        Follower { embedded, news: embedded.drive.watch(), told: 0 }
    }

    /// Passes over the events up to this one.
    pub fn pass_over(&mut self, seq: u64) {
        self.told = seq;
    }

    pub async fn follow(
        mut self,
        execution: ExecutionId,
        progress: &mut Progress,
        interrupts: &mut Interrupts,
    ) -> Result<Ending> {
        let mut look_again = tokio::time::interval(LOOK_AGAIN);
        loop {
            let is_over = tokio::select! {
                news = self.news.recv() => match news {
                    Ok(news) if news.execution != execution => false,
                    Ok(news) => self.tell(&news, progress).await?,
                    Err(RecvError::Lagged(_)) => self.catch_up(execution, progress).await?,
                    Err(RecvError::Closed) => bail!("the drive loop ended"),
                },
                _ = look_again.tick() => {
                    progress.tick();
                    self.catch_up(execution, progress).await?
                }
                trouble = self.embedded.trouble() => return Ok(Ending::Stuck(trouble)),
                exit = interrupts.next() => return Ok(Ending::Unwanted(exit)),
            };
            if is_over {
                return Ok(Ending::Over);
            }
        }
    }

    /// Tells news that follow on what was told; others are found in the store.
    async fn tell(&mut self, news: &News, progress: &mut Progress) -> Result<bool> {
        if news.events.first().is_some_and(|event| event.seq == self.told + 1) {
            self.told += news.events.len() as u64;
            return Ok(progress.tell(&news.events));
        }
        self.catch_up(news.execution, progress).await
    }

    /// Tells what the store has and was not told. True when the run is over.
    async fn catch_up(&mut self, execution: ExecutionId, progress: &mut Progress) -> Result<bool> {
        let store = self.embedded.drive.store();
        // Asked first: a run that is over has no events after those that are loaded then.
        let found = store.find_execution(execution).await?;
        let is_over = found.is_some_and(|found| found.row.status.is_terminal());
        loop {
            let events = store.load_events(execution, self.told, PAGE).await?;
            let Some(last) = events.last() else {
                return Ok(is_over);
            };
            self.told = last.seq;
            if progress.tell(&events) {
                return Ok(true);
            }
        }
    }
}
