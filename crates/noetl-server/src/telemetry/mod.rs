//! Traces of runs for whoever collects them.
//!
//! Spans follow from the events of a run, which are in the store. When a run has ended, its events are read and its spans
//! go out together. So nothing has to be remembered while a run goes on, and one that a restart interrupted comes out
//! whole. The drive loop is not involved: a run that ended is noted in a bounded queue, and when that is full it is passed
//! over and counted.

mod derive;
mod span;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use noetl_types::ExecutionId;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::drive::Progress;

pub use derive::Derivation;
pub use span::{Ending, Span};

/// Spans that go out together.
const BATCH: usize = 512;

/// Events read at a time.
const PAGE: usize = 1000;

/// Takes spans to where they are collected. Tries again by itself as long as that makes sense.
pub trait SpanSink: Send + Sync + fmt::Debug {
    fn send(&self, spans: Vec<Span>) -> Pin<Box<dyn Future<Output = Result<(), SinkError>> + Send + '_>>;
}

/// Spans could not be delivered and are gone.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SinkError(pub String);

/// Tells of every run that ends from now on, until `stop` fires and those that wait are told of. At most `queue` runs wait.
pub fn start(app: App, sink: Arc<dyn SpanSink>, queue: usize, stop: CancellationToken) -> JoinHandle<()> {
    let progress = app.drive().watch();
    let (queue, ended) = mpsc::channel(queue.max(1));
    tokio::spawn(async move {
        tokio::join!(watch(&app, progress, queue, stop), tell(&app, &*sink, ended));
    })
}

/// Notes which runs end. When it is to stop, what has happened until then still counts.
async fn watch(
    app: &App,
    mut progress: broadcast::Receiver<Progress>,
    queue: mpsc::Sender<ExecutionId>,
    stop: CancellationToken,
) {
    let metrics = &app.metrics().telemetry;
    loop {
        let news = tokio::select! {
            biased;
            news = progress.recv() => news,
            () = stop.cancelled() => return,
        };
        match news {
            Ok(news) if news.events.iter().any(|event| event.body.is_end()) => {
                if queue.try_send(news.execution).is_err() {
                    metrics.dropped_full.fetch_add(1, Relaxed);
                }
            }
            Ok(_) => {}
            Err(RecvError::Lagged(missed)) => {
                metrics.dropped_lagged.fetch_add(missed, Relaxed);
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Tells of runs one after the other.
async fn tell(app: &App, sink: &dyn SpanSink, mut ended: mpsc::Receiver<ExecutionId>) {
    let metrics = &app.metrics().telemetry;
    let mut in_trouble = false;
    while let Some(execution) = ended.recv().await {
        match tell_of(app, sink, execution).await {
            Ok(()) => {
                metrics.executions.fetch_add(1, Relaxed);
                in_trouble = false;
            }
            Err(error) => {
                metrics.dropped_refused.fetch_add(1, Relaxed);
                // Once is enough until it works again.
                if !in_trouble {
                    tracing::warn!(%execution, %error, "traces can't be delivered; runs are not affected");
                }
                in_trouble = true;
            }
        }
    }
}

async fn tell_of(app: &App, sink: &dyn SpanSink, execution: ExecutionId) -> Result<(), SinkError> {
    let unreadable = |error: noetl_store::Error| SinkError(error.to_string());
    let mut derivation: Option<Derivation> = None;
    let mut spans = Vec::new();
    let mut after = 0;
    loop {
        let page = app.store().load_events(execution, after, PAGE).await.map_err(unreadable)?;
        let is_last = page.len() < PAGE;
        for event in &page {
            after = event.seq;
            match &mut derivation {
                Some(derivation) => derivation.add(event),
                None => match Derivation::begin(event) {
                    Some(begun) => derivation = Some(begun),
                    // Nobody wants to see it.
                    None => return Ok(()),
                },
            }
        }
        let Some(derivation) = &mut derivation else {
            return Ok(());
        };
        spans.extend(derivation.take());
        let is_over = is_last || derivation.is_over();
        while spans.len() >= BATCH || (is_over && !spans.is_empty()) {
            let rest = spans.split_off(spans.len().min(BATCH));
            let batch = std::mem::replace(&mut spans, rest);
            let count = batch.len() as u64;
            sink.send(batch).await?;
            app.metrics().telemetry.spans.fetch_add(count, Relaxed);
        }
        if is_over {
            return Ok(());
        }
    }
}
