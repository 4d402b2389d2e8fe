//! What only shows on real connections: slow, silent and greedy clients, and the end of a server.

use std::net::SocketAddr;
use std::time::Duration;

use noetl_server::app::App;
use noetl_server::http::{HttpConfig, no_pages, serve_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::history;
use crate::support::Server;

struct Listening {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

/// Limits that are over soon, so that nobody waits for long.
fn short() -> HttpConfig {
    let soon = Duration::from_millis(200);
    HttpConfig { head_timeout: soon, stall_timeout: soon, grace: soon, ..HttpConfig::default() }
}

async fn listen(config: HttpConfig) -> Listening {
    listen_as(Server::new().app, config).await
}

async fn listen_as(app: App, config: HttpConfig) -> Listening {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve_with(listener, app, config, no_pages, stop.clone()));
    Listening { address, stop, serving }
}

impl Listening {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("a connection")
    }

    /// Sends a text and reads until the server closes.
    async fn say(&self, text: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(text.as_bytes()).await.expect("the server reads");
        rest(&mut stream).await
    }
}

/// What comes until the end. A connection that is cut has ended too.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

const ASK: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn who_says_nothing_or_only_begins_is_cut() {
    let server = listen(short()).await;
    for beginning in ["", "G", "PRI * HTTP/2.0\r\n", "GET /health HTTP/1.1\r\nHost: loc"] {
        let heard = server.say(beginning).await;
        assert!(!heard.contains("200 OK"), "{beginning:?}: {heard}");
    }
    assert!(server.say(ASK).await.contains("200 OK"));
}

#[tokio::test]
async fn a_body_that_stops_coming_is_refused() {
    let server = listen(short()).await;
    let head = "POST /api/credentials HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    let heard = server.say(head).await;
    assert!(heard.starts_with("HTTP/1.1 400") && heard.contains("body_malformed"), "{heard}");
}

#[tokio::test]
async fn a_huge_body_gets_an_answer_although_it_is_not_wanted() {
    let server = listen(HttpConfig::default()).await;
    let mut stream = server.connect().await;
    let length = 100 << 20;
    let head = format!(
        "POST /api/credentials HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("the server reads");
    let piece = vec![b' '; 1 << 20];
    for _ in 0..100 {
        stream.write_all(&piece).await.expect("the server reads on");
    }
    let heard = rest(&mut stream).await;
    assert!(heard.starts_with("HTTP/1.1 413") && heard.contains("body_too_large"), "{heard}");
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let server = listen(HttpConfig { head_limit: 8 << 10, ..HttpConfig::default() }).await;
    let heard = server
        .say(&format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(20 << 10)))
        .await;
    assert!(heard.starts_with("HTTP/1.1 431"), "{heard}");
}

#[tokio::test]
async fn a_client_that_never_reads_is_cut() {
    let server = listen(short()).await;
    let mut stream = server.connect().await;
    // Answers pile up until neither side has room for more; then the server waits for a while and gives up.
    let ask = "GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(64);
    while stream.write_all(ask.as_bytes()).await.is_ok() {}
    assert!(server.say(ASK).await.contains("200 OK"), "others are served");
}

#[tokio::test]
async fn a_client_that_stops_reading_a_stream_is_cut_and_can_come_back() {
    const EVENTS: u64 = 3000;
    let memory = Server::new();
    // More than the buffers between the two take.
    let id = history::long(&memory, EVENTS, 8 << 10).await;
    let server = listen_as(memory.app, short()).await;
    let ask = |after: u64| {
        format!(
            "GET /api/executions/{id}/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nLast-Event-ID: {after}\r\n\r\n"
        )
    };
    let mut stream = server.connect().await;
    stream.write_all(ask(0).as_bytes()).await.expect("the server reads");
    while stream.write_all(&[b' '; 1024]).await.is_ok() {}
    assert!(server.say(ASK).await.contains("200 OK"), "others are served");
    let heard = server.say(&ask(EVENTS - 1)).await;
    assert_eq!(heard.matches("\nid:").count() + heard.matches("\ndata:").count(), 3, "{heard}");
    assert!(heard.contains(&format!("id: {EVENTS}")) && heard.contains("event: end"), "{heard}");
}

#[tokio::test]
async fn who_comes_when_all_places_are_taken_waits_for_one() {
    let server = listen(HttpConfig { connections: 1, ..HttpConfig::default() }).await;
    let mut first = server.connect().await;
    first.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("the server reads");
    let mut byte = [0];
    first.read_exact(&mut byte).await.expect("an answer");
    let mut second = server.connect().await;
    second.write_all(ASK.as_bytes()).await.expect("the system takes it");
    let waited = tokio::time::timeout(Duration::from_millis(50), second.read_exact(&mut byte)).await;
    assert!(waited.is_err(), "it is not served beside the first");
    drop(first);
    assert!(rest(&mut second).await.contains("200 OK"));
}

#[tokio::test]
async fn a_server_that_stops_takes_nobody_and_ends_though_connections_stay() {
    let server = listen(short()).await;
    let mut idle = server.connect().await;
    idle.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("the server reads");
    let mut byte = [0];
    idle.read_exact(&mut byte).await.expect("an answer");
    let silent = server.connect().await;
    server.stop.cancel();
    server.serving.await.expect("no panic").expect("no fault");
    assert!(TcpStream::connect(server.address).await.is_err(), "nobody listens");
    drop(silent);
}

#[tokio::test]
async fn both_versions_of_the_protocol_are_spoken() {
    let server = listen(HttpConfig::default()).await;
    let mut stream = server.connect().await;
    // The preface and an empty settings frame: the server answers with its own settings, a frame of type 4.
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .await
        .expect("the server reads");
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).await.expect("a frame");
    assert_eq!(frame[3], 4, "{frame:?}");
}
