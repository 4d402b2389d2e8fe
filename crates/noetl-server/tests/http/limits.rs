use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use noetl_server::drive::DriveConfig;
use noetl_server::http::HttpConfig;
use serde_json::json;

use crate::support::{Server, request, with};

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_whether_it_says_so_or_not() {
    let server = Server::behind(HttpConfig { body_limit: 100, ..HttpConfig::default() });
    let large = json!({"name": "a", "type": "b", "data": {"x": "y".repeat(100)}});
    let answer = server.post("/api/credentials", large.clone()).await;
    assert_eq!(answer.refused(), (413, "body_too_large".to_owned()));
    let announced = Request::builder()
        .method(Method::POST)
        .uri("/api/credentials")
        .header("content-type", "application/json")
        .header("content-length", "104857600")
        .body(Body::empty())
        .expect("a request");
    assert_eq!(server.send(announced).await.refused(), (413, "body_too_large".to_owned()));
    let small = json!({"name": "a", "type": "b", "data": {}});
    assert_eq!(server.post("/api/credentials", small).await.status, 200);
}

#[tokio::test]
async fn who_calls_too_often_is_told_when_to_come_back() {
    let server = Server::behind(HttpConfig { rate: Some(1), burst: 2, ..HttpConfig::default() });
    assert_eq!(server.get("/api/credentials").await.status, 200);
    assert_eq!(server.get("/api/credentials").await.status, 200);
    let answer = server.get("/api/credentials").await;
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(answer.refused(), (429, "too_many_requests".to_owned()));
    server.clock.set(server.app.now().after(Duration::from_secs(1)));
    assert_eq!(server.get("/api/credentials").await.status, 200);
}

#[tokio::test]
async fn answers_carry_an_id_and_keep_browsers_careful() {
    let server = Server::new();
    let asked = with(request(Method::GET, "/api/health", None), &[("x-request-id", "abc-1")]);
    let answer = server.send(asked).await;
    assert_eq!(answer.headers["x-request-id"], "abc-1");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(answer.headers["cache-control"], "no-store");
    let odd = with(request(Method::GET, "/api/nowhere", None), &[("x-request-id", "a b\"c")]);
    let answer = server.send(odd).await;
    let own = answer.headers["x-request-id"].to_str().expect("text");
    assert!(own.bytes().all(|byte| byte.is_ascii_digit()) && !own.is_empty(), "{own}");
}

#[tokio::test(start_paused = true)]
async fn when_too_much_waits_for_workers_starts_are_put_off() {
    let server = Server::driven(DriveConfig { backlog: 1, ..DriveConfig::default() });
    server.register("flow", "workflow: [{step: start, tool: {kind: python, code: pass}}]\n").await;
    let start = json!({"path": "flow"});
    server.post("/api/execute", start.clone()).await.ok();
    let answer = server.post("/api/execute", start.clone()).await;
    assert_eq!(answer.headers["retry-after"], "5");
    assert_eq!(answer.refused(), (429, "too_many_requests".to_owned()));
    server.work(noetl_types::Value::Null).await;
    server.post("/api/execute", start).await.ok();
}
