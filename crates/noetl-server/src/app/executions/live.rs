//! Events as they happen.
//!
//! The store is read, and the drive loop only rings when there is more to read. So a reader sees every event once and in
//! order, wherever it began and whatever it missed. Each reader has a task that puts pages into a short queue; one that
//! does not take them in time is cut off and comes back with the place it has reached.

use std::time::Duration;

use noetl_store::{FedEvent, FeedPosition};
use noetl_types::{Event, ExecutionId};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use crate::app::{App, Error};
use crate::drive::Progress;

/// Events read at a time.
const PAGE: usize = 200;

/// Pages that may wait for a reader.
const QUEUE: usize = 8;

/// How long a reader may leave the queue full, unless the server is set up otherwise.
pub const READER_PATIENCE: Duration = Duration::from_secs(20);

/// The store is looked at after this long even if nobody rang: another server may have written to it.
const NAP: Duration = Duration::from_secs(2);

/// Something for a reader.
#[derive(Clone, Debug)]
pub enum Live<E> {
    Events(Vec<E>),
    /// Nothing more will come.
    End,
}

/// The sending side of a reader, with the bell that rings when there may be more to read.
struct Reader<E> {
    queue: mpsc::Sender<Live<E>>,
    rings: broadcast::Receiver<Progress>,
    patience: Duration,
}

impl<E> Reader<E> {
    /// Whether the reader took it.
    async fn send(&self, what: Live<E>) -> bool {
        self.queue.send_timeout(what, self.patience).await.is_ok()
    }

    /// Waits until there may be more to read. False when nobody reads any more.
    async fn wait(&mut self, of: Option<ExecutionId>) -> bool {
        let nap = tokio::time::sleep(NAP);
        tokio::pin!(nap);
        loop {
            tokio::select! {
                () = self.queue.closed() => return false,
                () = &mut nap => return true,
                ring = self.rings.recv() => match ring {
                    Ok(progress) if of.is_some_and(|of| of != progress.execution) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => return true,
                    Err(RecvError::Closed) => return false,
                },
            }
        }
    }
}

impl App {
    /// Feeds a reader in a task of its own and gives what the reader takes from.
    fn attend<E, Feeding>(&self, feed: impl FnOnce(App, Reader<E>) -> Feeding) -> mpsc::Receiver<Live<E>>
    where
        Feeding: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let (queue, receiver) = mpsc::channel(QUEUE);
        // Listening begins before reading, so that nothing falls in between.
        let reader = Reader { queue, rings: self.drive().watch(), patience: self.reader_patience() };
        let feeding = feed(self.clone(), reader);
        tokio::spawn(async move {
            if let Err(error) = feeding.await {
                tracing::warn!(%error, "a live stream breaks off");
            }
        });
        receiver
    }

    /// The events of an execution after this one, first those that are stored, then as they come, until the execution is
    /// over.
    pub async fn follow(&self, id: ExecutionId, after: u64) -> Result<mpsc::Receiver<Live<Event>>, Error> {
        self.execution(id).await?;
        Ok(self.attend(move |app, reader| async move { app.feed_one(reader, id, after).await }))
    }

    async fn feed_one(
        &self,
        mut reader: Reader<Event>,
        id: ExecutionId,
        mut after: u64,
    ) -> Result<(), Error> {
        loop {
            let mut events = self.store().load_events(id, after, PAGE).await?;
            let is_full = events.len() == PAGE;
            // What comes after the end, such as outcomes that were too late, is no news.
            let end = events.iter().position(|event| event.body.is_end());
            if let Some(end) = end {
                events.truncate(end + 1);
            }
            if let Some(last) = events.last() {
                after = last.seq;
                if !reader.send(Live::Events(events)).await {
                    return Ok(());
                }
            }
            if end.is_some() || (!is_full && self.was_over(id, after).await?) {
                reader.send(Live::End).await;
                return Ok(());
            }
            if !is_full && !reader.wait(Some(id)).await {
                return Ok(());
            }
        }
    }

    /// Whether the execution was over at or before this event.
    async fn was_over(&self, id: ExecutionId, seq: u64) -> Result<bool, Error> {
        let Some(execution) = self.store().find_execution(id).await? else {
            return Ok(true);
        };
        Ok(execution.row.status.is_terminal() && execution.seq <= seq)
    }

    /// The events of all executions after this place, or from now on.
    pub async fn follow_all(
        &self,
        after: Option<FeedPosition>,
    ) -> Result<mpsc::Receiver<Live<FedEvent>>, Error> {
        let after = match after {
            Some(after) => after,
            None => self.store().end_of_feed().await?,
        };
        Ok(self.attend(move |app, reader| async move { app.feed_all(reader, after).await }))
    }

    async fn feed_all(&self, mut reader: Reader<FedEvent>, mut after: FeedPosition) -> Result<(), Error> {
        loop {
            let events = self.store().read_feed(after, PAGE).await?;
            let is_full = events.len() == PAGE;
            if let Some(last) = events.last() {
                after = last.position;
                if !reader.send(Live::Events(events)).await {
                    return Ok(());
                }
            }
            if !is_full && !reader.wait(None).await {
                return Ok(());
            }
        }
    }

    /// What the steps of an execution print from this place on, until the execution is over.
    pub async fn follow_logs(
        &self,
        id: ExecutionId,
        filter: noetl_store::LogFilter,
    ) -> Result<mpsc::Receiver<Live<noetl_store::StoredLogChunk>>, Error> {
        self.execution(id).await?;
        Ok(self.attend(move |app, reader| async move { app.feed_logs(reader, id, filter).await }))
    }

    async fn feed_logs(
        &self,
        mut reader: Reader<noetl_store::StoredLogChunk>,
        id: ExecutionId,
        mut filter: noetl_store::LogFilter,
    ) -> Result<(), Error> {
        loop {
            // Asked before the log is read: what was printed before the end is there by then.
            let over = self.was_over(id, u64::MAX).await?;
            let chunks = self.store().list_logs(id, &filter, PAGE).await?;
            let is_full = chunks.len() == PAGE;
            if let Some(last) = chunks.last() {
                filter.after = last.cursor;
                if !reader.send(Live::Events(chunks)).await {
                    return Ok(());
                }
            }
            if over && !is_full {
                reader.send(Live::End).await;
                return Ok(());
            }
            if !is_full && !reader.wait(Some(id)).await {
                return Ok(());
            }
        }
    }
}
