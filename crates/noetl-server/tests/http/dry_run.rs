//! What a run would do, without doing it.

use serde_json::json;

use crate::support::Server;

const PLAYBOOK: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: tried, path: tried}
workload: {who: world, times: 2}
workflow:
  - step: start
    tool: {kind: noop, result: {who: \"{{ workload.who }}\"}}
    next:
      spec: {mode: inclusive}
      arcs: [{step: greet}, {step: keep}]
  - step: greet
    tool:
      kind: http
      url: https://example.invalid/{{ start.who }}
      auth: greeter
      input: {times: \"{{ workload.times }}\"}
  - step: keep
    tool: {kind: playbook, path: other/one}
  - step: lost
    tool: {kind: noop}
";

#[tokio::test]
async fn the_first_calls_are_rendered_and_nothing_is_recorded() {
    let server = Server::new();
    let request = json!({"content": PLAYBOOK, "payload": {"who": "Ada"}});
    let tried = server.post("/api/catalog/dry-run", request).await.ok();
    assert_eq!(tried["workload"], json!({"who": "Ada", "times": 2}));
    assert_eq!((&tried["entry"], &tried["unreachable"]), (&json!("start"), &json!(["lost"])));
    let needs = json!({"tools": ["http", "noop", "playbook"], "credentials": ["greeter"], "playbooks": ["other/one"]});
    assert_eq!(tried["needs"], needs);
    let first = tried["first"].as_array().expect("first steps");
    assert_eq!(first[0]["step"], "start", "{tried}");
    let executions = server.get("/api/executions").await.ok();
    assert_eq!(executions.as_array().map(Vec::len), Some(0), "{executions}");
    assert_eq!(server.get("/api/audit").await.ok()["items"], json!([]));
}

#[tokio::test]
async fn another_entry_and_a_registered_playbook_can_be_tried() {
    let server = Server::new();
    let registered = server.post("/api/catalog/register", json!({ "content": PLAYBOOK })).await.ok();
    let request = json!({"catalog_id": registered["catalog_id"], "entry": "greet"});
    let tried = server.post("/api/catalog/dry-run", request).await.ok();
    let first = &tried["first"][0];
    assert_eq!(
        (&tried["entry"], &first["step"], &first["error"]),
        (&json!("greet"), &json!("greet"), &json!(null))
    );
    let call = &first["calls"][0];
    assert_eq!(
        (&call["kind"], &call["input"], &call["settings"]["auth"]),
        (&json!("http"), &json!({"times": 2}), &json!("greeter"))
    );
}

#[tokio::test]
async fn what_can_not_start_is_refused_with_its_reason() {
    let server = Server::new();
    let ask = async |body| server.post("/api/catalog/dry-run", body).await.refused().1;
    assert_eq!(ask(json!({"content": "kind: Playbook"})).await, "playbook_invalid");
    assert_eq!(ask(json!({"content": PLAYBOOK, "entry": "nowhere"})).await, "execution_refused");
    assert_eq!(ask(json!({"content": PLAYBOOK, "payload": [1]})).await, "execution_refused");
    assert_eq!(ask(json!({"catalog_id": "1"})).await, "catalog_entry_not_found");
    assert_eq!(ask(json!({})).await, "body_invalid");
}

#[tokio::test]
async fn what_a_step_was_called_with_can_be_said_after_its_end() {
    let server = Server::new();
    let playbook = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: asks, path: asks}
workload: {who: Ada}
workflow:
  - step: start
    tool: {kind: noop}
    next: {arcs: [{step: ask}]}
  - step: ask
    tool: {kind: http, url: \"https://example.invalid/{{ workload.who }}\", input: {name: \"{{ workload.who }}\"}}
";
    server.register_text(playbook).await;
    let id = server.start("asks").await;
    server.work(noetl_types::Value::from(1)).await;
    let status = server.get(&format!("/api/executions/{id}/status")).await.ok();
    assert_eq!(status["status"], "COMPLETED", "{status}");
    let asked = server.get(&format!("/api/executions/{id}/steps/ask/calls")).await.ok();
    let call = &asked["calls"][0];
    assert_eq!((&call["kind"], &call["input"]), (&json!("http"), &json!({"name": "Ada"})), "{asked}");
    assert_eq!(call["settings"]["url"], "https://example.invalid/Ada");
    let inline = server.get(&format!("/api/executions/{id}/steps/start/calls")).await.ok();
    assert_eq!(inline["untold"], "the step gave no work to a worker");
    let refused = server.get(&format!("/api/executions/{id}/steps/nowhere/calls")).await.refused();
    assert_eq!(refused, (404, "step_not_found".to_owned()));
}
