//! Events as they happen.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use noetl_store::MemoryStore;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::history;
use crate::support::Server;
use crate::worker::{CHAIN, ONE, run, start, work, work_until_over};

/// A client of a stream.
struct Reader {
    body: Body,
    unread: String,
}

#[derive(Debug)]
struct Message {
    id: Option<u64>,
    kind: String,
    data: Value,
}

impl Reader {
    async fn open(server: &Server, path: &str, last: Option<u64>) -> Reader {
        let mut request = Request::builder().uri(path);
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        let router = noetl_server::http::router(server.app.clone());
        let request = request.body(Body::empty()).expect("a request");
        let response = router.oneshot(request).await.expect("an answer");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Reader { body: response.into_body(), unread: String::new() }
    }

    /// The next message; nothing once the stream has ended.
    async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some((message, rest)) = self.unread.split_once("\n\n") {
                let (message, rest) = (message.to_owned(), rest.to_owned());
                self.unread = rest;
                let field = |name: &str| {
                    let lines = message.lines().filter_map(|line| line.strip_prefix(name));
                    lines.map(str::trim).next().map(str::to_owned)
                };
                // A comment is no message.
                let Some(data) = field("data:") else { continue };
                return Some(Message {
                    id: field("id:").map(|id| id.parse().expect("a number")),
                    kind: field("event:").unwrap_or_default(),
                    data: serde_json::from_str(&data).expect("JSON"),
                });
            }
            let frame = self.body.frame().await?.expect("a whole stream");
            self.unread.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("UTF-8"));
        }
    }

    /// The ids of all messages until the stream ends, which it does with a message that says so.
    async fn rest(&mut self) -> Vec<u64> {
        let mut ids = Vec::new();
        loop {
            let message = self.next().await.expect("a message that ends the stream");
            if message.kind == "end" {
                assert!(self.next().await.is_none());
                return ids;
            }
            ids.push(message.id.expect("an id"));
        }
    }
}

#[tokio::test]
async fn readers_that_come_back_see_every_event_once() {
    let server = Server::new();
    server.register("chain", CHAIN).await;
    let id = start(&server, "chain", json!({})).await;
    let path = format!("/api/executions/{id}/stream");
    let mut steady = Reader::open(&server, &path, None).await;
    let mut leaving = Reader::open(&server, &path, None).await;
    let mut seen = Vec::new();
    for _ in 0..2 {
        seen.push(leaving.next().await.expect("an event").id.expect("an id"));
    }
    drop(leaving);
    work(&server, 1).await;
    let mut back = Reader::open(&server, &path, seen.last().copied()).await;
    seen.push(back.next().await.expect("an event").id.expect("an id"));
    drop(back);
    let mut again = Reader::open(&server, &format!("{path}?after={}", seen.len()), None).await;
    work_until_over(&server, &id).await;
    seen.extend(again.rest().await);
    let steady = steady.rest().await;
    assert_eq!(seen, steady);
    assert!(steady.iter().copied().eq(1..=steady.len() as u64));
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_nothing_is_cut_and_comes_back_without_gap_or_repeat() {
    const EVENTS: u64 = 5000;
    let patience = Duration::from_secs(20);
    let server = Server::over(MemoryStore::default(), |builder| builder.reader_patience(patience));
    let id = history::long(&server, EVENTS, 1).await;
    let path = format!("/api/executions/{id}/stream");
    let mut seen: Vec<u64> = Vec::new();
    let mut cuts = 0;
    loop {
        let mut reader = Reader::open(&server, &path, seen.last().copied()).await;
        // The server fills what waits for the reader, and then waits for it as long as it will.
        tokio::task::yield_now().await;
        tokio::time::advance(patience * 2).await;
        tokio::task::yield_now().await;
        let mut is_whole = false;
        while let Some(message) = reader.next().await {
            is_whole = message.kind == "end";
            seen.extend(message.id);
        }
        if is_whole {
            break;
        }
        cuts += 1;
    }
    assert!(cuts > 1, "it was cut {cuts} times");
    assert!(seen.iter().copied().eq(1..=EVENTS), "{} of {EVENTS} events", seen.len());
}

#[tokio::test]
async fn a_stream_of_a_run_that_is_over_tells_it_and_ends() {
    let server = Server::new();
    server.register("one", ONE).await;
    let id = run(&server, "one", json!({})).await;
    let path = format!("/api/executions/{id}/stream");
    let mut reader = Reader::open(&server, &path, None).await;
    let first = reader.next().await.expect("an event");
    assert_eq!((first.id, first.data["event_type"].as_str()), (Some(1), Some("playbook_started")));
    let last = *reader.rest().await.last().expect("events");
    assert_eq!(Reader::open(&server, &path, Some(last)).await.rest().await, [0; 0]);
    assert_eq!(Reader::open(&server, &path, Some(last + 100)).await.rest().await, [0; 0]);
}

#[tokio::test]
async fn the_stream_of_all_goes_on_where_a_reader_left() {
    let server = Server::new();
    server.register("one", ONE).await;
    run(&server, "one", json!({})).await;
    // Without a place it begins now.
    let mut fresh = Reader::open(&server, "/api/executions/stream", None).await;
    let mut whole = Reader::open(&server, "/api/executions/stream?after=0", None).await;
    let mut places = Vec::new();
    for _ in 0..3 {
        places.push(whole.next().await.expect("an event").id.expect("an id"));
    }
    drop(whole);
    let second = run(&server, "one", json!({})).await;
    let first_fresh = fresh.next().await.expect("an event");
    assert_eq!(first_fresh.data["execution_id"], second.as_str());
    assert_eq!(first_fresh.data["event_type"], "playbook_started");
    let mut back = Reader::open(&server, "/api/executions/stream", places.last().copied()).await;
    let mut ended = 0;
    while ended < 2 {
        let message = back.next().await.expect("an event");
        ended += usize::from(message.data["event_type"] == "playbook.completed");
        places.push(message.id.expect("an id"));
    }
    assert!(places.windows(2).all(|pair| pair[1] == pair[0] + 1), "{places:?}");
    let mut endings =
        Reader::open(&server, "/api/executions/stream?after=0&event_type=playbook.completed", None).await;
    for _ in 0..2 {
        assert_eq!(endings.next().await.expect("an event").data["event_type"], "playbook.completed");
    }
}

#[tokio::test]
async fn a_place_that_is_none_is_refused() {
    let server = Server::new();
    server.register("one", ONE).await;
    let id = run(&server, "one", json!({})).await;
    for path in ["/api/executions/stream", &format!("/api/executions/{id}/stream")] {
        let request = Request::builder().uri(path).header("last-event-id", "soon").body(Body::empty());
        let answer = server.send(request.expect("a request")).await;
        assert_eq!(answer.refused(), (422, "parameter_invalid".to_owned()));
    }
}

#[tokio::test]
async fn logs_are_followed_until_the_run_is_over() {
    use noetl_store::{LogChunk, LogLimit, LogStream, StepLogs};
    use noetl_types::{CommandKey, Timestamp, VisitId};
    let server = Server::new();
    server.register("one", ONE).await;
    let id = start(&server, "one", json!({})).await;
    let chunk = |chunk: u32, text: &str| LogChunk {
        execution: crate::worker::execution(&id),
        step: "start".into(),
        command: CommandKey::whole(VisitId(1)),
        attempt: 1,
        stream: LogStream::Stdout,
        chunk,
        at: Timestamp::from_millis(1_800_000_000_000),
        bytes: text.as_bytes().into(),
    };
    server.store.append_logs(&[chunk(0, "one\n")], LogLimit::default()).await.expect("a log");
    let mut reader = Reader::open(&server, &format!("/api/executions/{id}/logs/stream"), None).await;
    assert_eq!(reader.next().await.expect("a line").data["text"], "one\n");
    server.store.append_logs(&[chunk(1, "two\n")], LogLimit::default()).await.expect("a log");
    work_until_over(&server, &id).await;
    assert_eq!(reader.next().await.expect("a line").data["text"], "two\n");
    assert_eq!(reader.rest().await, [0; 0]);
    let page = server.get(&format!("/api/executions/{id}/logs?limit=1")).await.ok();
    assert_eq!((&page["logs"][0]["text"], &page["has_more"]), (&json!("one\n"), &json!(true)));
    let next = page["next"].as_str().expect("a place").to_owned();
    let page = server.get(&format!("/api/executions/{id}/logs?after={next}&stream=stdout")).await.ok();
    assert_eq!((&page["logs"][0]["text"], &page["has_more"]), (&json!("two\n"), &json!(false)));
}
