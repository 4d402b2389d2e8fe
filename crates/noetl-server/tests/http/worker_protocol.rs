//! The protocol of workers in other processes.

use std::time::Duration;

use noetl_engine::Input;
use noetl_server::tasks;
use noetl_store::{CommandFilter, Commands, MemoryStore};
use noetl_types::{ExecutionId, Timestamp};
use serde_json::{Value, json};

use crate::support::Server;

const FLOW: &str = "workflow:\n  - step: start\n    tool: {kind: noop, result: {n: 1}}\n";

async fn registered(server: &Server, worker: &str) {
    let part = server
        .post("/api/worker/pool/register", json!({"name": worker, "runtime": {"kind": "rust"}}))
        .await
        .ok();
    assert_eq!((&part["name"], &part["kind"]), (&json!(worker), &json!("worker_pool")));
}

async fn started(server: &Server) -> i64 {
    server.register("flow", FLOW).await;
    let started = server.post("/api/execute", json!({"path": "flow"})).await.ok();
    started["execution_id"].as_str().and_then(|id| id.parse().ok()).expect("an id as text")
}

async fn take(server: &Server, worker: &str) -> Vec<Value> {
    let request = json!({"worker": worker, "pools": ["shared"], "room": 10, "wait_ms": 0});
    let taken = server.post("/api/worker/commands/take", request).await.ok();
    taken["commands"].as_array().expect("a list").clone()
}

/// The attempt that a command is.
fn attempt(assigned: &Value) -> Value {
    let command = &assigned["command"];
    json!({"execution_id": command["execution"], "command": command["key"], "number": command["attempt"]})
}

fn report(assigned: &Value, data: Value) -> Value {
    let outcome = json!({"outcome": "finished", "report": {"data": {"inline": data}}});
    json!({"attempt": attempt(assigned), "began": true, "outcome": outcome})
}

async fn status(server: &Server, execution: i64) -> String {
    let status = server.get(&format!("/api/executions/{execution}/status")).await.ok();
    status["status"].as_str().expect("a status").to_owned()
}

fn later(server: &Server, seconds: u64) {
    let now: Timestamp = noetl_server::clock::Clock::now(&*server.clock);
    server.clock.set(now.after(Duration::from_secs(seconds)));
}

#[tokio::test]
async fn a_command_is_taken_under_a_lease_and_its_report_ends_the_run() {
    let server = Server::new();
    registered(&server, "w1").await;
    let execution = started(&server).await;
    let taken = take(&server, "w1").await;
    assert_eq!(taken.len(), 1);
    assert_eq!((&taken[0]["pool"], &taken[0]["lease_ms"]), (&json!("shared"), &json!(30_000)));
    assert!(take(&server, "w1").await.is_empty(), "it is given out once");
    let held = CommandFilter { held_by: Some("w1".to_owned()), ..CommandFilter::default() };
    assert_eq!(server.store.list_open_commands(&held, 10).await.expect("a store").len(), 1);

    let reports = json!({"worker": "w1", "reports": [report(&taken[0], json!({"n": 1}))]});
    let answer = server.post("/api/worker/reports", reports.clone()).await.ok();
    assert_eq!(answer, json!({"accepted": ["counted"]}));
    assert_eq!(status(&server, execution).await, "COMPLETED");
    server.post("/api/worker/reports", reports).await.ok();
    assert_eq!(status(&server, execution).await, "COMPLETED");
}

#[tokio::test]
async fn who_is_not_registered_is_sent_to_do_so() {
    let server = Server::new();
    let requests = [
        (
            "/api/worker/commands/take",
            json!({"worker": "x", "pools": ["shared"], "room": 1, "wait_ms": 20_000}),
        ),
        ("/api/worker/renew", json!({"worker": "x", "running": []})),
        ("/api/worker/stops", json!({"worker": "x", "wait_ms": 20_000})),
    ];
    for (path, body) in requests {
        assert_eq!(server.post(path, body).await.refused(), (404, "worker_unknown".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn names_that_make_no_sense_are_refused() {
    let server = Server::new();
    for name in ["", "a\u{0}b", &"x".repeat(201)] {
        let answer = server.post("/api/worker/pool/register", json!({"name": name})).await;
        assert_eq!(answer.refused(), (422, "body_invalid".to_owned()), "{name:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_costs_the_time_of_a_lease() {
    let server = Server::new();
    registered(&server, "w1").await;
    let execution = started(&server).await;
    let lost = take(&server, "w1").await;
    // The worker lives, but knows nothing of the command.
    later(&server, 20);
    server.post("/api/worker/renew", json!({"worker": "w1", "running": []})).await.ok();
    later(&server, 11);
    tasks::expire_leases(server.app.drive()).await.expect("a store");
    let again = take(&server, "w1").await;
    assert_eq!(again[0]["command"]["attempt"], 2);
    let late = json!({"worker": "w1", "reports": [report(&lost[0], json!("late"))]});
    server.post("/api/worker/reports", late).await.ok();
    assert_eq!(status(&server, execution).await, "RUNNING", "the outcome of a lost attempt does not count");
    let reports = json!({"worker": "w1", "reports": [report(&again[0], json!(1))]});
    server.post("/api/worker/reports", reports).await.ok();
    assert_eq!(status(&server, execution).await, "COMPLETED");
}

#[tokio::test]
async fn what_is_renewed_stays_and_what_is_cancelled_is_to_stop() {
    let server = Server::new();
    registered(&server, "w1").await;
    let execution = started(&server).await;
    let taken = take(&server, "w1").await;
    let running = json!({"worker": "w1", "running": [attempt(&taken[0])]});
    for _ in 0..5 {
        later(&server, 20);
        let renewed = server.post("/api/worker/renew", running.clone()).await.ok();
        assert_eq!(renewed, json!({"stop": []}));
        tasks::expire_leases(server.app.drive()).await.expect("a store");
    }
    let silence = server.post("/api/worker/stops", json!({"worker": "w1", "wait_ms": 0})).await.ok();
    assert_eq!(silence["stops"], json!([]));

    let cancel = Input::Cancel { reason: "the test says so".into() };
    server.app.drive().input(ExecutionId(execution), cancel).await.expect("a run");
    let renewed = server.post("/api/worker/renew", running).await.ok();
    assert_eq!(renewed, json!({"stop": [attempt(&taken[0])]}));
    let asked = json!({"worker": "w1", "after": silence["next"], "wait_ms": 20_000});
    let told = server.post("/api/worker/stops", asked).await.ok();
    assert_eq!(told["stops"], json!([attempt(&taken[0])]));
    let asked = json!({"worker": "w1", "after": told["next"], "wait_ms": 0});
    let told = server.post("/api/worker/stops", asked).await.ok();
    assert_eq!(told["stops"], json!([]), "each stop is told once");
}

#[tokio::test]
async fn what_has_not_begun_goes_to_another_worker_as_it_is_and_the_rest_as_a_new_attempt() {
    let server = Server::new();
    registered(&server, "w1").await;
    registered(&server, "w2").await;
    started(&server).await;
    for (began, expected) in [(false, 1), (true, 2)] {
        let taken = take(&server, "w1").await;
        let attempts = json!([{"attempt": attempt(&taken[0]), "began": began}]);
        server.post("/api/worker/release", json!({"worker": "w1", "attempts": attempts})).await.ok();
        let again = take(&server, "w2").await;
        assert_eq!(again[0]["command"]["attempt"], expected);
        let attempts = json!([{"attempt": attempt(&again[0]), "began": false}]);
        // Only the worker that has it can give it back.
        server.post("/api/worker/release", json!({"worker": "w1", "attempts": attempts})).await.ok();
        assert!(take(&server, "w1").await.is_empty());
        server.post("/api/worker/release", json!({"worker": "w2", "attempts": attempts})).await.ok();
    }
}

#[tokio::test]
async fn what_a_worker_held_is_free_when_it_says_goodbye_or_starts_anew() {
    let server = Server::new();
    registered(&server, "w1").await;
    registered(&server, "w2").await;
    started(&server).await;
    take(&server, "w1").await;
    server
        .post("/api/worker/pool/deregister", json!({"name": "w1", "component_type": "worker_pool"}))
        .await
        .ok();
    assert_eq!(take(&server, "w2").await[0]["command"]["attempt"], 2);
    registered(&server, "w2").await;
    assert_eq!(take(&server, "w2").await[0]["command"]["attempt"], 3);
}

#[tokio::test]
async fn a_server_that_starts_again_leaves_the_commands_of_workers_elsewhere_alone() {
    let store = MemoryStore::default();
    let first = Server::over(store.clone(), |builder| builder);
    registered(&first, "w1").await;
    let held = started(&first).await;
    let taken = take(&first, "w1").await;
    first.post("/api/execute", json!({"path": "flow"})).await.ok();

    let second = Server::over(store, |builder| builder);
    assert_eq!(tasks::recover(second.app.drive()).await.expect("a store"), 2);
    let given = take(&second, "w1").await;
    assert_eq!(given.len(), 1, "only what nobody had is given out again");
    assert_ne!(given[0]["command"]["execution"], taken[0]["command"]["execution"]);
    let reports = json!({"worker": "w1", "reports": [report(&taken[0], json!(1))]});
    second.post("/api/worker/reports", reports).await.ok();
    assert_eq!(status(&second, held).await, "COMPLETED");
}

#[tokio::test]
async fn logs_and_values_go_through_the_server() {
    let server = Server::new();
    registered(&server, "w1").await;
    let execution = started(&server).await;
    let taken = take(&server, "w1").await;
    let chunk = json!({"attempt": attempt(&taken[0]), "step": "start", "stream": "stdout", "chunk": 0, "at": 5, "text": "hi"});
    assert_eq!(
        server.post("/api/worker/logs", json!({"chunks": [chunk]})).await.ok(),
        json!({"status": "ok"})
    );

    let large = "x".repeat(100_000);
    let reports = json!({"worker": "w1", "reports": [report(&taken[0], json!({"text": large}))]});
    server.post("/api/worker/reports", reports).await.ok();
    assert_eq!(status(&server, execution).await, "COMPLETED");
    let stored = json!({"uri": "noetl://execution/1/result/start/1", "store": "kv", "bytes": 1, "media_type": "application/json", "extract": null});
    let answer = server.post("/api/worker/values/load", json!({"stored": stored})).await;
    assert_eq!(answer.refused(), (404, "value_not_found".to_owned()));
}

#[tokio::test]
async fn the_shard_of_an_execution_is_the_one_that_workers_compute() {
    let server = Server::new();
    let info =
        server.get("/api/runtime/shard-info?execution_id=350000000000000001&shard_count=16").await.ok();
    assert_eq!((&info["shard_index"], &info["seed"]), (&json!(4), &json!(0)));
    assert_eq!(info["hash_function"], "twox_hash::XxHash64");
    let answer = server.get("/api/runtime/shard-info?execution_id=1&shard_count=0").await;
    assert_eq!(answer.refused(), (422, "parameter_invalid".to_owned()));
}
