use axum::http::Method;
use noetl_server::app::Scope;
use noetl_server::http::{Auth, HttpConfig};
use serde_json::{Value, json};

use crate::support::{Server, request, with};

fn credential(name: &str) -> Value {
    json!({"name": name, "type": "bearer", "data": {"token": "hush-canary-7"}})
}

#[tokio::test]
async fn every_change_is_written_down_without_values() {
    let server = Server::new();
    server.post("/api/credentials", credential("github")).await.ok();
    server.get("/api/credentials/github").await.ok();
    server.get("/api/credentials/github?include_data=true&execution_id=42").await.ok();
    server.delete("/api/credentials/github").await.ok();
    server.delete("/api/credentials/github").await.refused();
    server.register("flow", "workflow: [{step: start, tool: {kind: noop}}]\n").await;
    server.post("/api/catalog/resource", json!({"path": "flow"})).await.ok();
    let answer = server.get("/api/audit").await;
    assert!(!answer.text.contains("hush"), "{}", answer.text);
    let trail = answer.ok();
    let entries: Vec<(&str, &str, &str, &str)> = trail["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| {
            let text = |key: &str| entry[key].as_str().expect("text");
            (text("actor"), text("action"), text("target"), text("outcome"))
        })
        .collect();
    let expected = [
        ("anonymous", "POST /api/catalog/register", "/api/catalog/register", "success"),
        ("anonymous", "DELETE /api/credentials/{identifier}", "/api/credentials/github", "error"),
        ("anonymous", "credential.delete", "github", "success"),
        ("anonymous", "credential.read", "github", "success"),
        ("anonymous", "credential.put", "github", "success"),
    ];
    assert_eq!(entries, expected);
    assert_eq!(trail["items"][3]["execution_id"], "42");
}

#[tokio::test]
async fn a_start_is_in_the_trail_as_soon_as_it_is_answered() {
    let server = Server::new();
    server.register("flow", "workflow: [{step: start, tool: {kind: noop}}]\n").await;
    let once = json!({"path": "flow", "dedup": {"key": "k", "window_secs": 60}});
    let started = server.post("/api/execute", once.clone()).await.ok();
    server.post("/api/execute", once).await.ok();
    server.post("/api/execute", json!({"path": "nowhere"})).await.refused();
    let batch = json!({"executions": [{"path": "flow"}, {"path": "nowhere"}]});
    let batch = server.post("/api/execute/batch", batch).await.ok();
    let trail = server.get("/api/audit?from=2020-01-01").await.ok();
    let entries: Vec<_> = trail["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| (&entry["action"], &entry["target"], &entry["outcome"], &entry["execution_id"]))
        .collect();
    let (of, started_in_batch) = (json!("execution.start"), &batch["results"][0]["execution_id"]);
    let (request, requests) = (json!("POST /api/execute"), json!("POST /api/execute/batch"));
    let (flow, good, bad) = (json!("flow"), json!("success"), json!("error"));
    let (path, paths) = (json!("/api/execute"), json!("/api/execute/batch"));
    let expected = [
        // The batch has a part that did not begin, so it has an entry of its own.
        (&requests, &paths, &good, &Value::Null),
        (&of, &flow, &good, started_in_batch),
        (&request, &path, &bad, &Value::Null),
        // One that was there already.
        (&request, &path, &good, &Value::Null),
        (&of, &flow, &good, &started["execution_id"]),
    ];
    assert_eq!(entries[..5], expected);
}

#[tokio::test]
async fn who_was_refused_is_written_down_by_name() {
    let server = Server::behind(HttpConfig { auth: Auth::Tokens, ..HttpConfig::default() });
    let viewer = format!("Bearer {}", server.token(Scope::Viewer).await);
    let put = request(Method::POST, "/api/credentials", Some(credential("github")));
    assert_eq!(server.send(with(put, &[("authorization", &viewer)])).await.status, 403);
    let admin = format!("Bearer {}", server.token(Scope::Admin).await);
    let list = request(Method::GET, "/api/audit?actor=viewer", None);
    let trail = server.send(with(list, &[("authorization", &admin)])).await.ok();
    assert_eq!(trail["items"][0]["outcome"], "denied");
    assert_eq!(trail["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn the_trail_is_paged_and_narrowed() {
    let server = Server::new();
    for name in ["a", "b", "c"] {
        server.post("/api/credentials", credential(name)).await.ok();
    }
    let first = server.get("/api/audit?limit=2").await.ok();
    assert_eq!((&first["items"][0]["target"], &first["items"][1]["target"]), (&json!("c"), &json!("b")));
    let next = first["next"].as_str().expect("more").to_owned();
    let second = server.get(&format!("/api/audit?limit=2&before={next}")).await.ok();
    assert_eq!((&second["items"][0]["target"], second.get("next")), (&json!("a"), None));
    let one = server.get("/api/audit?target=b&action=credential.put&from=2020-01-01").await.ok();
    assert_eq!(one["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(server.get("/api/audit?until=2020-01-01").await.ok()["items"], json!([]));
    for query in ["limit=0", "from=soon", "before=x"] {
        let answer = server.get(&format!("/api/audit?{query}")).await;
        assert_eq!(answer.refused(), (422, "parameter_invalid".to_owned()), "{query}");
    }
}
