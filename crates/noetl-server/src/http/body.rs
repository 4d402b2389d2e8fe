//! The body of a request on its way in: cut off when its sender pauses too long, and read to its end when nobody wants the
//! rest, so that the sender comes to see the answer instead of a broken connection.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

/// How much of an unwanted body is read, and for how long.
const DISCARD_BYTES: u64 = 256 << 20;
const DISCARD_TIME: Duration = Duration::from_secs(10);

/// Why a body broke off.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the sender paused for too long")]
    Stalled,
    #[error(transparent)]
    Broken(#[from] hyper::Error),
}

pub struct RequestBody {
    /// Gone once it is handed on to be discarded.
    inner: Option<Incoming>,
    patience: Duration,
    deadline: Pin<Box<Sleep>>,
}

impl RequestBody {
    pub fn new(inner: Incoming, patience: Duration) -> RequestBody {
        RequestBody { inner: Some(inner), patience, deadline: Box::pin(tokio::time::sleep(patience)) }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        let Some(inner) = &mut this.inner else {
            return Poll::Ready(None);
        };
        match Pin::new(inner).poll_frame(context) {
            Poll::Ready(frame) => {
                this.deadline.as_mut().reset(Instant::now() + this.patience);
                Poll::Ready(frame.map(|frame| frame.map_err(BodyError::Broken)))
            }
            Poll::Pending => {
                ready!(this.deadline.as_mut().poll(context));
                this.inner = None;
                Poll::Ready(Some(Err(BodyError::Stalled)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let Some(inner) = self.inner.take().filter(|inner| !inner.is_end_stream()) else {
            return;
        };
        // Without a runtime the connection is gone as well.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(tokio::time::timeout(DISCARD_TIME, discard(inner)));
        }
    }
}

async fn discard(mut body: Incoming) {
    let mut read = 0;
    while let Some(Ok(frame)) = body.frame().await {
        read += frame.data_ref().map_or(0, |data| data.len() as u64);
        if read > DISCARD_BYTES {
            return;
        }
    }
}
