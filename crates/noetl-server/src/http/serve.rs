//! Takes connections on a listener and answers their requests until it is told to stop, then lets those under way finish.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures_util::StreamExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::body::RequestBody;
use super::config::HttpConfig;
use super::connection::Patient;
use super::gate::Peer;
use super::{Pages, event_stream, router_with};
use crate::app::App;

/// How long to wait before taking connections again when the system has no room for more.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs until `stop` fires.
pub async fn serve_with(
    listener: TcpListener,
    app: App,
    config: HttpConfig,
    pages: Pages,
    stop: CancellationToken,
) -> io::Result<()> {
    let server = Arc::new(Server {
        router: router_with(app.clone(), &config, pages),
        app,
        protocol: protocol(&config),
        stop: stop.clone(),
        config,
    });
    let places = Arc::new(Semaphore::new(server.config.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let connections = TaskTracker::new();
    let cut = CancellationToken::new();
    loop {
        // Those who come when all places are taken wait in the queue of the system.
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place.expect("nobody closes the places"),
            () = stop.cancelled() => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (server, cut) = (server.clone(), cut.clone());
                connections.spawn(async move {
                    tokio::select! {
                        () = server.converse(stream, peer) => {}
                        () = cut.cancelled() => {}
                    }
                    drop(place);
                });
            }
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be taken now");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(server.config.grace, connections.wait()).await.is_err() {
        tracing::info!(connections = connections.len(), "connections that do not end are cut");
        cut.cancel();
        connections.wait().await;
    }
    Ok(())
}

struct Server {
    app: App,
    router: Router,
    protocol: auto::Builder<TokioExecutor>,
    stop: CancellationToken,
    config: HttpConfig,
}

impl Server {
    /// Answers the requests of one connection, and ends it when its first one does not come.
    async fn converse(self: Arc<Self>, stream: TcpStream, peer: SocketAddr) {
        let _counted = self.app.metrics().requests.connected();
        // Small answers must not wait for more to send.
        let _ = stream.set_nodelay(true);
        let asked = Arc::new(AtomicBool::new(false));
        let service = service_fn({
            let (server, asked) = (self.clone(), asked.clone());
            move |request: Request<Incoming>| {
                asked.store(true, Ordering::Relaxed);
                let server = server.clone();
                async move { server.answer(request, peer).await }
            }
        });
        let io = TokioIo::new(Patient::new(stream, self.config.stall_timeout));
        let mut conversation = pin!(self.protocol.serve_connection(io, service));
        let mut first_request = pin!(tokio::time::sleep(self.config.head_timeout));
        let mut waits = true;
        let mut stopping = false;
        loop {
            tokio::select! {
                ended = conversation.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, %error, "a connection broke off");
                    }
                    return;
                }
                () = &mut first_request, if waits => {
                    if !asked.load(Ordering::Relaxed) {
                        return;
                    }
                    waits = false;
                }
                () = self.stop.cancelled(), if !stopping => {
                    conversation.as_mut().graceful_shutdown();
                    stopping = true;
                }
            }
        }
    }

    async fn answer(&self, request: Request<Incoming>, peer: SocketAddr) -> Result<Response, Infallible> {
        let patience = self.config.stall_timeout;
        let mut request = request.map(|body| Body::new(RequestBody::new(body, patience)));
        request.extensions_mut().insert(Peer(peer));
        let response = self.router.clone().oneshot(request).await?;
        Ok(if event_stream::is(&response) { self.until_stop(response) } else { response })
    }

    /// A stream of events would never end by itself.
    fn until_stop(&self, response: Response) -> Response {
        let stop = self.stop.clone();
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(stop.cancelled_owned())))
    }
}

fn protocol(config: &HttpConfig) -> auto::Builder<TokioExecutor> {
    /// What clients may have under way on one connection.
    const STREAMS: u32 = 256;
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.head_timeout)
        // Below this hyper refuses to work.
        .max_buf_size(config.head_limit.max(8 << 10));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(u32::try_from(config.head_limit).unwrap_or(u32::MAX))
        .keep_alive_interval(config.stall_timeout)
        .keep_alive_timeout(config.stall_timeout);
    builder
}

/// Faults of one connection that say nothing about the next.
fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
