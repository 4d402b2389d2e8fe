//! Events as they happen.
//!
//! The store is read, and the drive loop only rings when there is more to read. So a reader sees every event once and in
//! order, wherever it began and whatever it missed. Each reader has a task that puts pages into a short queue; one that
//! does not take them in time is cut off and comes back with the place it has reached.

use std::time::Duration;

use noetl_store::{FedEvent, FeedPosition};
use noetl_types::{Event, EventBody, ExecutionId};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

use crate::app::{App, Error};
use crate::drive::Progress;

/// Events read at a time.
const PAGE: usize = 200;

/// Pages that may wait for a reader.
const QUEUE: usize = 8;

/// How long a reader may leave the queue full.
const PATIENCE: Duration = Duration::from_secs(20);

/// The store is looked at after this long even if nobody rang: another server may have written to it.
const NAP: Duration = Duration::from_secs(2);

/// Something for a reader.
#[derive(Clone, Debug)]
pub enum Live<E> {
    Events(Vec<E>),
    /// Nothing more will come.
    End,
}

/// The sending side of a reader.
struct Reader<E> {
    queue: mpsc::Sender<Live<E>>,
}

impl<E> Reader<E> {
    /// Whether the reader took it.
    async fn send(&self, what: Live<E>) -> bool {
        self.queue.send_timeout(what, PATIENCE).await.is_ok()
    }

    /// Waits until there may be more to read. False when nobody reads any more.
    async fn wait(&self, rings: &mut broadcast::Receiver<Progress>, of: Option<ExecutionId>) -> bool {
        let nap = tokio::time::sleep(NAP);
        tokio::pin!(nap);
        loop {
            tokio::select! {
                () = self.queue.closed() => return false,
                () = &mut nap => return true,
                ring = rings.recv() => match ring {
                    Ok(progress) if of.is_some_and(|of| of != progress.execution) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => return true,
                    Err(RecvError::Closed) => return false,
                },
            }
        }
    }
}

impl App {
    /// The events of an execution after this one, first those that are stored, then as they come, until the execution is
    /// over.
    pub async fn follow(&self, id: ExecutionId, after: u64) -> Result<mpsc::Receiver<Live<Event>>, Error> {
        self.execution(id).await?;
        let (queue, receiver) = mpsc::channel(QUEUE);
        let reader = Reader { queue };
        // Listening begins before reading, so that nothing falls in between.
        let rings = self.drive().watch();
        let app = self.clone();
        tokio::spawn(async move {
            if let Err(error) = app.feed_one(&reader, rings, id, after).await {
                tracing::warn!(execution = %id, %error, "a stream of events breaks off");
            }
        });
        Ok(receiver)
    }

    async fn feed_one(
        &self,
        reader: &Reader<Event>,
        mut rings: broadcast::Receiver<Progress>,
        id: ExecutionId,
        mut after: u64,
    ) -> Result<(), Error> {
        loop {
            let mut events = self.store().load_events(id, after, PAGE).await?;
            let is_full = events.len() == PAGE;
            // What comes after the end, such as outcomes that were too late, is no news.
            let end = events.iter().position(|event| is_end(&event.body));
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
            if !is_full && !reader.wait(&mut rings, Some(id)).await {
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
        let (queue, receiver) = mpsc::channel(QUEUE);
        let reader = Reader { queue };
        let rings = self.drive().watch();
        let app = self.clone();
        tokio::spawn(async move {
            if let Err(error) = app.feed_all(&reader, rings, after).await {
                tracing::warn!(%error, "a stream of all events breaks off");
            }
        });
        Ok(receiver)
    }

    async fn feed_all(
        &self,
        reader: &Reader<FedEvent>,
        mut rings: broadcast::Receiver<Progress>,
        mut after: FeedPosition,
    ) -> Result<(), Error> {
        loop {
            let events = self.store().read_feed(after, PAGE).await?;
            let is_full = events.len() == PAGE;
            if let Some(last) = events.last() {
                after = last.position;
                if !reader.send(Live::Events(events)).await {
                    return Ok(());
                }
            }
            if !is_full && !reader.wait(&mut rings, None).await {
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
        let (queue, receiver) = mpsc::channel(QUEUE);
        let reader = Reader { queue };
        let rings = self.drive().watch();
        let app = self.clone();
        tokio::spawn(async move {
            if let Err(error) = app.feed_logs(&reader, rings, id, filter).await {
                tracing::warn!(execution = %id, %error, "a stream of logs breaks off");
            }
        });
        Ok(receiver)
    }

    async fn feed_logs(
        &self,
        reader: &Reader<noetl_store::StoredLogChunk>,
        mut rings: broadcast::Receiver<Progress>,
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
            if !is_full && !reader.wait(&mut rings, Some(id)).await {
                return Ok(());
            }
        }
    }
}

fn is_end(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::PlaybookCompleted { .. }
            | EventBody::PlaybookFailed { .. }
            | EventBody::PlaybookCancelled { .. }
    )
}
