//! Values stored aside: put, found by reference, expired and removed.

use std::time::Duration;

use noetl_server::tasks::collect;
use noetl_store::{Executions, ResultRef, ResultRow, Results};
use noetl_types::{ExecutionId, Value};
use serde_json::json;

use crate::support::{START, Server, playbook};

async fn server_with_a_run() -> (Server, ExecutionId) {
    let server = Server::new();
    server.register_text(&playbook("a")).await;
    let execution = server.start("a").await;
    (server, execution)
}

#[tokio::test]
async fn a_value_is_put_and_found_by_its_reference() {
    let (server, execution) = server_with_a_run().await;
    let value = json!({"rows": [1, 2.5, "é", null], "b": {"z": 1, "a": 2}});
    let body = json!({"name": "dir/fetch", "data": value, "source_step": "fetch", "store": "kv", "compress": false,
        "correlation": {"a": 1}});
    let stored = server.put(&format!("/api/result/{execution}"), body).await.ok();
    let reference = stored["ref"].as_str().expect("a reference");
    let start = format!("noetl://execution/{execution}/result/dir/fetch/");
    assert!(reference.starts_with(&start), "{reference}");
    assert_eq!((&stored["store"], &stored["scope"]), (&json!("db"), &json!("execution")));
    assert_eq!(stored["expires_at"], json!(null));
    let text = value.to_string();
    assert_eq!(stored["bytes"], text.len());
    assert_eq!(stored["sha256"], noetl_store::sha256_hex(text.as_bytes()));
    let found = server.get(&format!("/api/result/resolve?ref={reference}")).await;
    assert_eq!(found.header("content-type"), Some("application/json"));
    assert_eq!(found.text, text);
    assert_eq!(server.get(&format!("/api/result/{execution}/dir%2Ffetch")).await.ok(), value);

    let listed = server.get(&format!("/api/result/{execution}")).await.ok();
    let row = &listed["results"][0];
    assert_eq!((&row["ref"], &row["name"]), (&json!(reference), &json!("dir/fetch")));
    assert_eq!((&row["source_step"], &row["media_type"]), (&json!("fetch"), &json!("application/json")));
    assert_eq!(row["created_at"], START.to_string());
}

#[tokio::test]
async fn a_megabyte_passes_and_more_than_the_limit_does_not() {
    let (server, execution) = server_with_a_run().await;
    let uri = format!("/api/result/{execution}");
    let large = "x".repeat(5 << 20);
    let stored = server.put(&uri, json!({"name": "large", "data": large})).await.ok();
    assert_eq!(stored["bytes"], (5 << 20) + 2);
    let too_large = "x".repeat((64 << 20) + 1);
    let refused = server.put(&uri, json!({"name": "large", "data": too_large})).await;
    assert_eq!(refused.refused(), (413, "body_too_large".to_owned()));
}

#[tokio::test]
async fn what_is_no_reference_or_leads_nowhere_is_refused() {
    let (server, execution) = server_with_a_run().await;
    for reference in
        ["", "x", "noetl://execution/1/result/2", "https://example.com", "noetl://execution/x/loop/1"]
    {
        let refused = server.get(&format!("/api/result/resolve?ref={reference}")).await;
        assert_eq!(refused.refused(), (400, "reference_invalid".to_owned()), "{reference}");
    }
    for reference in [
        format!("noetl://execution/{execution}/result/a/1"),
        format!("noetl://execution/{execution}/loop/99"),
        "noetl://execution/1/loop/1".to_owned(),
    ] {
        let refused = server.get(&format!("/api/result/resolve?ref={reference}")).await;
        assert_eq!(refused.refused(), (404, "result_not_found".to_owned()), "{reference}");
    }
    let refused = server.get("/api/result/resolve").await;
    assert_eq!(refused.refused(), (422, "parameter_invalid".to_owned()));
    let put = async |uri: &str, body| server.put(uri, body).await.refused();
    assert_eq!(
        put("/api/result/1", json!({"name": "a", "data": 1})).await,
        (404, "execution_not_found".to_owned())
    );
    let uri = format!("/api/result/{execution}");
    for body in [
        json!({"name": "", "data": 1}),
        json!({"name": "a", "data": 1, "scope": "planet"}),
        json!({"name": "a", "data": 1, "ttl": "soon"}),
        json!({"name": "a", "data": 1, "ttl": -1}),
        json!({"name": "a", "data": 1, "ttl": 18446744073709551615u64}),
        json!({"data": 1}),
    ] {
        assert_eq!(put(&uri, body.clone()).await, (422, "body_invalid".to_owned()), "{body}");
    }
    assert_eq!(
        put("/api/result/x", json!({"name": "a", "data": 1})).await,
        (422, "parameter_invalid".to_owned())
    );
}

#[tokio::test]
async fn a_value_that_changed_behind_the_servers_back_is_not_handed_out() {
    let (server, execution) = server_with_a_run().await;
    let at = ResultRef { execution, name: "a".into(), id: 1 };
    let mut row = ResultRow::json(at.clone(), b"[1]".to_vec(), START);
    row.sha256 = noetl_store::sha256_hex(b"[2]");
    server.store.put_result(&row).await.expect("a row");
    let refused = server.get(&format!("/api/result/resolve?ref={at}")).await;
    assert_eq!(refused.refused(), (500, "result_damaged".to_owned()));
}

#[tokio::test]
async fn the_results_of_a_long_loop_are_found_by_the_reference_of_its_visit() {
    let server = Server::new();
    let text = playbook("a").replace(
        "  - step: start\n    tool: {kind: python, code: pass}\n",
        "  - step: start\n    loop: {in: 300, iterator: i, spec: {mode: sequential}}\n    tool: {kind: python, code: pass}\n",
    );
    server.register_text(&text).await;
    let execution = server.start("a").await;
    for i in 0..300 {
        server.work(Value::text(format!("{i}{}", "x".repeat(400)))).await;
    }
    let events = server.store.load_events_back(execution, u64::MAX, 5).await.expect("events");
    let events = serde_json::to_string(&events).expect("JSON");
    let reference = format!("noetl://execution/{execution}/loop/");
    let from = events.find(&reference).expect("a reference in the last events");
    let reference = events[from..].split('"').next().expect("its end");
    let value = server.get(&format!("/api/result/resolve?ref={reference}")).await.ok();
    assert_eq!(value["results"].as_array().expect("a list").len(), 300);
    assert_eq!(value["stats"]["success"], 300);
    assert!(value["results"][299].as_str().expect("text").starts_with("299x"));
}

#[tokio::test]
async fn expired_values_go_once_no_live_execution_can_reach_them() {
    let (server, execution) = server_with_a_run().await;
    let uri = format!("/api/result/{execution}");
    let short = server.put(&uri, json!({"name": "short", "data": 1, "ttl": "1m"})).await.ok();
    assert_eq!(short["expires_at"], START.after(Duration::from_secs(60)).to_string());
    server.put(&uri, json!({"name": "long", "data": 2, "ttl": 7200})).await.ok();
    server.put(&uri, json!({"name": "always", "data": 3})).await.ok();
    server.clock.set(START.after(Duration::from_secs(3600)));
    assert_eq!(collect(server.app.drive()).await.expect("a store"), 0, "it runs");
    server.work(Value::Null).await;
    assert_eq!(collect(server.app.drive()).await.expect("a store"), 1);
    let names = |list: serde_json::Value| -> Vec<String> {
        let all = list["results"].as_array().expect("a list").clone();
        all.iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(server.get(&uri).await.ok()), ["long", "always"]);
}

#[tokio::test]
async fn what_a_rerun_took_over_stays_as_long_as_the_rerun() {
    let server = Server::new();
    let two = playbook("a")
        + "    next: {arcs: [{step: last}]}\n  - step: last\n    tool: {kind: python, code: pass}\n";
    server.register_text(&two).await;
    let first = server.start("a").await;
    server.work(Value::text("x".repeat(100_000))).await;
    server.work(Value::Null).await;
    let rerun = json!({"from": "last"});
    let second = server.post(&format!("/api/executions/{first}/rerun"), rerun).await.ok();
    let second = second["execution_id"].as_str().expect("an id").to_owned();
    server.work(Value::Null).await;
    let uri = format!("/api/result/{first}");
    assert_eq!(server.delete(&uri).await.refused(), (409, "conflict".to_owned()));
    server.clock.set(START.after(Duration::from_secs(100 * 86_400)));
    let purge = async || {
        let body = json!({"event_retention_days": 1});
        server.post("/api/internal/cleanup/purge", body).await.ok()["executions_purged"].clone()
    };
    assert_eq!(purge().await, 1, "the rerun goes first");
    assert_eq!(server.get(&format!("/api/executions/{second}")).await.status, 404);
    assert_eq!(purge().await, 1);
    assert_eq!(server.get(&format!("/api/executions/{first}")).await.status, 404);
}

#[tokio::test]
async fn values_of_an_ended_execution_can_be_removed() {
    let (server, execution) = server_with_a_run().await;
    let uri = format!("/api/result/{execution}");
    server.put(&uri, json!({"name": "a", "data": 1})).await.ok();
    assert_eq!(server.delete(&uri).await.refused(), (409, "execution_running".to_owned()));
    server.work(Value::Null).await;
    assert_eq!(server.delete(&uri).await.ok()["deleted"], 1);
    assert_eq!(server.get(&uri).await.ok()["results"], json!([]));
}
