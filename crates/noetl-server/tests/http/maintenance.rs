//! Housekeeping: what is old goes, states are stored, and what is not done here is said.

use std::time::Duration;

use noetl_store::Executions;
use noetl_types::Value;
use serde_json::json;

use crate::support::{START, Server, playbook};

#[tokio::test]
async fn what_is_older_than_it_is_kept_goes_and_the_rest_stays() {
    let server = Server::new();
    server.register_text(&playbook("a")).await;
    let ended = server.start("a").await;
    server.work(Value::Null).await;
    let running = server.start("a").await;
    server.clock.set(START.after(Duration::from_secs(10 * 86_400)));
    let usual = server.post("/api/internal/cleanup/purge", json!({})).await.ok();
    assert_eq!(
        usual,
        json!({"commands_purged": 1, "runtime_purged": 0, "events_purged": 0, "executions_purged": 0})
    );
    let purged = server.post("/api/internal/cleanup/purge", json!({"event_retention_days": 9})).await.ok();
    assert_eq!(purged["executions_purged"], 1);
    assert!(purged["events_purged"].as_u64().expect("a number") > 0);
    assert!(server.store.find_execution(ended).await.expect("a store").is_none());
    assert!(server.store.find_execution(running).await.expect("a store").is_some());
    let wrong = server.post("/api/internal/cleanup/purge", json!({"event_retention_days": -1})).await;
    assert_eq!(wrong.refused(), (422, "body_invalid".to_owned()));
}

#[tokio::test]
async fn the_state_of_a_run_is_stored_as_of_its_newest_event() {
    let server = Server::new();
    server.register_text(&playbook("a")).await;
    let execution = server.start("a").await;
    assert!(server.store.load_snapshot(execution).await.expect("a store").is_none());
    let body = json!({"execution_ids": [execution.0, "404"]});
    let answer = server.post("/api/internal/projection/advance", body).await.ok();
    let stored = server.store.find_execution(execution).await.expect("a store").expect("a run");
    assert_eq!(
        answer["advanced"],
        json!([{"execution_id": execution.0, "version": stored.last.id.0, "events": stored.seq}])
    );
    assert_eq!(answer["failed"], json!([{"execution_id": 404, "error": "there is no execution 404"}]));
    let snapshot = server.store.load_snapshot(execution).await.expect("a store").expect("a snapshot");
    assert_eq!(snapshot.seq, stored.seq);
    server.work(Value::Null).await;
    let ended = server.store.find_execution(execution).await.expect("a store").expect("a run");
    assert!(ended.row.status.is_terminal(), "the run goes on from there");
}

#[tokio::test]
async fn cells_and_callbacks_have_their_answers() {
    let server = Server::new();
    let cells = server.get("/api/internal/cells").await.ok();
    assert_eq!((&cells["shard_count"], &cells["default_cell"]), (&json!(256), &json!("local-0")));
    assert_eq!(cells["cells"][0]["cell"], "local-0");
    let refused =
        server.post("/api/internal/container-callback/1/build", json!({"state": "succeeded"})).await;
    assert_eq!(refused.refused(), (501, "not_supported".to_owned()));
}
