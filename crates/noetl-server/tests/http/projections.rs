//! Events that others hand in: in the shapes of the specification, each counted once.

use noetl_store::{CommandFilter, Commands, Executions, Projections};
use noetl_types::{ExecutionId, RunStatus};
use serde_json::{Value, json};

use crate::support::{Server, playbook};

const PROJECT: &str = "/api/internal/events/project";
const MATERIALIZE: &str = "/api/internal/events/materialize";

/// A server with a run whose only command waits, and the id that workers know the command by.
async fn server_with_a_command() -> (Server, ExecutionId, String) {
    let server = Server::new();
    server.register_text(&playbook("a")).await;
    let execution = server.start("a").await;
    let open = server.store.list_open_commands(&CommandFilter::default(), 1).await.expect("a store");
    let command = format!("{execution}:start:{}", open[0].row.event);
    (server, execution, command)
}

async fn status(server: &Server, execution: ExecutionId) -> RunStatus {
    server.store.find_execution(execution).await.expect("a store").expect("a run").row.status
}

/// A row as it lies in the log of another server.
fn envelope(execution: ExecutionId, id: i64, event_type: &str, context: Value) -> Value {
    json!({
        "event_id": id, "execution_id": execution.0, "catalog_id": 5, "parent_event_id": null, "prev_event_id": 1,
        "event_type": event_type, "node_id": "start", "node_name": "start", "node_type": "python",
        "status": "COMPLETED", "duration": 0.5, "timestamp": "2026-08-20T10:00:00.123",
        "result": {"status": "COMPLETED", "context": context}, "meta": {"attempts": 0}, "stack_trace": null,
        "error": null, "tenant_id": "default", "organization_id": "default", "trace_component": null,
        "somebody": {"added": "this"},
    })
}

#[tokio::test]
async fn an_outcome_that_is_handed_in_ends_the_command_and_counts_once() {
    let (server, execution, command) = server_with_a_command().await;
    let said = json!({"command_id": command, "call_index": 0,
        "result": {"status": "success", "context": {"status": "success", "data": {"greet": "hi"}}}});
    let done = envelope(execution, 900, "call.done", said);
    let completed =
        envelope(execution, 901, "command.completed", json!({"command_id": command, "status": "success"}));
    let body = json!({"events": [done, completed, done], "unknown": 1});
    let first = server.post(PROJECT, body.clone()).await.ok();
    assert_eq!(first, json!({"projected": 2, "duplicates": 1}));
    assert_eq!(status(&server, execution).await, RunStatus::Completed);
    let again = server.post(PROJECT, body).await.ok();
    assert_eq!(again, json!({"projected": 0, "duplicates": 3}));
    let result = server.get(&format!("/api/executions/{execution}")).await.ok();
    assert_eq!(result["result"]["greet"], "hi", "{result}");
    let kept = server.store.list_projected(execution, 10).await.expect("a store");
    assert_eq!(kept[0].envelope.to_json(), done, "it is kept as it came");
}

#[tokio::test]
async fn an_event_of_the_log_itself_is_a_duplicate() {
    let (server, execution, _) = server_with_a_command().await;
    let recorded = server.store.load_events(execution, 0, 1).await.expect("a store").remove(0);
    let known = envelope(execution, recorded.id.0, "playbook_started", json!({}));
    let answer = server.post(PROJECT, json!({"events": [known]})).await.ok();
    assert_eq!(answer, json!({"projected": 0, "duplicates": 1}));
}

#[tokio::test]
async fn what_belongs_to_no_run_here_is_kept_and_harms_nobody() {
    let server = Server::new();
    let events = json!({"events": [
        {"event_id": "901"},
        {"event_id": 902, "execution_id": "404", "event_type": "call.done", "context": {"command_id": "404:x:1"}},
        {"event_id": 903, "execution_id": 404, "event_type": "subscription.message.directives_applied",
            "created_at": "2026-08-20T10:00:00Z"},
    ]});
    assert_eq!(server.post(PROJECT, events.clone()).await.ok(), json!({"projected": 3, "duplicates": 0}));
    assert_eq!(server.post(PROJECT, events).await.ok(), json!({"projected": 0, "duplicates": 3}));
    assert_eq!(
        server.post(PROJECT, json!({"events": []})).await.ok(),
        json!({"projected": 0, "duplicates": 0})
    );
}

#[tokio::test]
async fn events_as_workers_post_them_are_materialized_once() {
    let (server, execution, command) = server_with_a_command().await;
    let failed = json!({"execution_id": execution.to_string(), "step": "start", "name": "command.failed",
        "payload": {"command_id": command, "error": "boom"}, "event_id": 77, "worker_id": "w", "extra": true});
    let answer = server.post(MATERIALIZE, json!([failed.clone()])).await.ok();
    assert_eq!(answer, json!({"materialized": 1, "duplicates": 0}));
    assert_eq!(status(&server, execution).await, RunStatus::Failed);
    let again = server.post(MATERIALIZE, json!([failed])).await.ok();
    assert_eq!(again, json!({"materialized": 0, "duplicates": 1}));
}

#[tokio::test]
async fn what_is_no_event_is_refused_whole() {
    let (server, execution, _) = server_with_a_command().await;
    let good = envelope(execution, 900, "note", json!({}));
    for (path, body) in [
        (PROJECT, json!({})),
        (PROJECT, json!({"events": [good, {"execution_id": 1}]})),
        (PROJECT, json!({"events": [good, {"event_id": 1, "created_at": "soon"}]})),
        (PROJECT, json!({"events": [good, {"event_id": -1}]})),
        (PROJECT, json!({"events": vec![good.clone(); 1001]})),
        (MATERIALIZE, json!([{"step": "start"}])),
    ] {
        assert_eq!(server.post(path, body).await.refused(), (422, "body_invalid".to_owned()));
    }
    assert_eq!(server.store.list_projected(execution, 10).await.expect("a store"), []);
}
