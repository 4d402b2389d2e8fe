//! The outbox: filled with the commands it announces, claimed, published or put back.

use std::time::Duration;

use noetl_server::drive::DriveConfig;
use noetl_store::{CommandFilter, Commands, Outbox};
use serde_json::{Value, json};

use crate::support::{START, Server, playbook};

/// A server that announces its commands, with a run of three commands under way.
async fn announcing() -> Server {
    let config = DriveConfig { announce_as: Some("http://here:8082".into()), ..DriveConfig::default() };
    let server = Server::driven(config);
    let looped = playbook("a").replace(
        "- step: start\n",
        "- step: start\n    loop: {in: 3, iterator: i, spec: {mode: parallel}}\n",
    );
    server.register_text(&looped).await;
    server.post("/api/execute", json!({"path": "a", "trace": {"traceparent": "00-1"}})).await.ok();
    server
}

async fn claim(server: &Server, body: Value) -> Vec<Value> {
    let answer = server.post("/api/internal/outbox/claim", body).await.ok();
    let rows = answer["rows"].as_array().expect("rows").clone();
    assert_eq!(answer["claimed"], rows.len());
    rows
}

async fn pending(server: &Server) -> u64 {
    server.get("/api/internal/outbox/pending-count").await.ok()["pending"].as_u64().expect("a number")
}

fn ids(rows: &[Value]) -> Vec<i64> {
    rows.iter().map(|row| row["outbox_id"].as_i64().expect("a number")).collect()
}

#[tokio::test]
async fn a_command_is_announced_with_the_commit_that_issues_it() {
    let server = announcing().await;
    let commands = server.store.list_open_commands(&CommandFilter::default(), 10).await.expect("commands");
    assert_eq!(pending(&server).await, 3);
    let rows = claim(&server, json!({})).await;
    for (index, (row, command)) in rows.iter().zip(&commands).enumerate() {
        let (execution, event) = (command.execution.0, command.row.event.0);
        assert_eq!(row["subject"], format!("noetl.commands.shared.{execution}"));
        assert_eq!((&row["event_id"], &row["execution_id"]), (&json!(event), &json!(execution)));
        assert_eq!((&row["attempts"], &row["payload_codec"]), (&json!(1), &json!("json")));
        assert_eq!(
            row["payload"],
            json!({
                "execution_id": execution, "event_id": event, "step": "start", "server_url": "http://here:8082",
                "command_id": format!("{execution}:start:{event}:i{index}"), "execution_pool": "shared",
                "trace": {"traceparent": "00-1"},
            })
        );
    }
    assert_eq!(rows.len(), 3);
}

#[tokio::test]
async fn nothing_is_announced_without_a_bus_outside() {
    let server = Server::new();
    server.register_text(&playbook("a")).await;
    server.start("a").await;
    assert_eq!(pending(&server).await, 0);
}

#[tokio::test]
async fn limits_are_brought_into_their_range_and_order_is_kept() {
    let server = announcing().await;
    let first = claim(&server, json!({"limit": 0})).await;
    assert_eq!(first.len(), 1, "at least one");
    let second = claim(&server, json!({"limit": -5, "unknown": true})).await;
    assert_eq!(second.len(), 1);
    let third = claim(&server, json!({"limit": 1_000_000_000})).await;
    assert_eq!(third.len(), 1);
    let order = [ids(&first), ids(&second), ids(&third)].concat();
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(claim(&server, json!({})).await.len(), 0, "all are in flight");
}

#[tokio::test]
async fn published_messages_are_done_and_marking_them_again_changes_nothing() {
    let server = announcing().await;
    let all = ids(&claim(&server, json!({})).await);
    for _ in 0..2 {
        let body = json!({"outbox_ids": [all[0], all[1], 404]});
        assert_eq!(server.post("/api/internal/outbox/mark-published", body).await.ok(), json!({"marked": 2}));
    }
    let empty = server.post("/api/internal/outbox/mark-published", json!({"outbox_ids": []})).await;
    assert_eq!(empty.refused(), (400, "parameter_missing".to_owned()));
    server.clock.set(START.after(Duration::from_secs(3600)));
    assert_eq!(ids(&claim(&server, json!({})).await), all[2..], "only the third is left");
}

#[tokio::test]
async fn failed_messages_rest_longer_each_time() {
    let server = announcing().await;
    let id = ids(&claim(&server, json!({})).await)[0];
    let fail = async |attempts: i64, max: i64| {
        let body =
            json!({"outbox_id": id, "error": "no route", "attempts": attempts, "max_delay_seconds": max});
        server.post("/api/internal/outbox/mark-failed", body).await.ok()
    };
    for (attempts, max, delay) in
        [(0, 300, 1), (1, 300, 1), (2, 300, 2), (5, 300, 16), (9, 300, 256), (50, 300, 256), (50, 60, 60)]
    {
        assert_eq!(
            fail(attempts, max).await,
            json!({"marked": true, "available_at_in": delay}),
            "{attempts}"
        );
    }
    let defaults = server
        .post("/api/internal/outbox/mark-failed", json!({"outbox_id": id, "error": "x".repeat(3000)}))
        .await;
    assert_eq!(defaults.ok(), json!({"marked": true, "available_at_in": 1}));
    let kept = server.store.find_outbox_error(id).await.expect("a store").expect("an error");
    assert_eq!(kept.len(), 2000);
    assert_eq!(pending(&server).await, 0, "it rests");
    server.clock.set(START.after(Duration::from_secs(1)));
    assert_eq!(pending(&server).await, 1);
    let again = claim(&server, json!({})).await;
    assert_eq!((ids(&again), &again[0]["attempts"]), (vec![id], &json!(2)));
    let unknown =
        server.post("/api/internal/outbox/mark-failed", json!({"outbox_id": 404, "error": ""})).await;
    assert_eq!(unknown.ok(), json!({"marked": false, "available_at_in": 0}));
}

#[tokio::test]
async fn messages_of_a_claimer_that_died_are_claimed_again() {
    let server = announcing().await;
    let first = ids(&claim(&server, json!({})).await);
    server.clock.set(START.after(Duration::from_secs(59)));
    assert_eq!(claim(&server, json!({})).await.len(), 0);
    server.clock.set(START.after(Duration::from_secs(61)));
    let again = claim(&server, json!({})).await;
    assert_eq!(ids(&again), first);
    assert!(again.iter().all(|row| row["attempts"] == 2));
}
