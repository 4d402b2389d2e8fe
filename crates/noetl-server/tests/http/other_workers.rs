//! The protocol of workers of other makes, spoken by a stand-in for one.

use std::time::Duration;

use noetl_server::clock::Clock;
use noetl_server::tasks;
use noetl_store::{CommandFilter, Commands};
use noetl_types::{ExecutionId, Timestamp};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::Server;

/// What a tool of the stand-in does: a result, or the text of an error.
type Tool = fn(action: &str, config: &Value) -> Result<Value, String>;

/// Claims commands and posts every event twice, as a worker does that does not get the first answer.
struct StandIn<'s> {
    server: &'s Server,
    name: &'static str,
    tool: Tool,
    /// Its own ids, which the server takes as they are.
    next_event: std::cell::Cell<i64>,
}

impl<'s> StandIn<'s> {
    async fn start(server: &'s Server, name: &'static str, tool: Tool) -> StandIn<'s> {
        let registration = json!({
            "name": name, "component_type": "worker_pool", "runtime": {"kind": "rust", "worker_public_key": "a2V5"},
            "status": "ready", "hostname": "h", "labels": {"pool_name": "default"},
        });
        server.post("/api/worker/pool/register", registration).await.ok();
        StandIn { server, name, tool, next_event: std::cell::Cell::new(700_000_000_000_000_000) }
    }

    /// The events of the open commands of an execution, as a bus would announce them.
    async fn announced(&self, execution: i64) -> Vec<i64> {
        let filter = CommandFilter { execution: Some(ExecutionId(execution)), ..CommandFilter::default() };
        let open = self.server.store.list_open_commands(&filter, 100).await.expect("a store");
        open.iter().map(|command| command.row.event.0).collect()
    }

    async fn claim(&self, event: i64) -> Value {
        self.try_claim(event).await.expect("nobody else has it")
    }

    /// Nothing when the server says that the command is not for this worker.
    async fn try_claim(&self, event: i64) -> Option<Value> {
        let path = format!("/api/commands/{event}/claim");
        let claimed = self.server.post(&path, json!({"worker_id": self.name})).await;
        if claimed.status == 409 {
            return None;
        }
        let claimed = claimed.ok();
        let again = self.server.post(&path, json!({"worker_id": self.name})).await.ok();
        assert_eq!(claimed, again, "the same worker gets it again");
        assert_eq!((&claimed["status"], &claimed["event_id"]), (&json!("ok"), &json!(event)));
        Some(claimed)
    }

    async fn post(&self, claimed: &Value, event_type: &str, status: &str, mut context: Value) {
        context["command_id"] = claimed["meta"]["command_id"].clone();
        self.next_event.set(self.next_event.get() + 1);
        let event = json!({
            "execution_id": claimed["execution_id"], "event_type": event_type, "step": claimed["node_name"],
            "status": status, "created_at": "2026-08-20T10:00:00.123Z", "context": context,
            "event_id": self.next_event.get(), "worker_id": self.name, "meta": {"attempts": 0},
        });
        for _ in 0..2 {
            let answer = self.server.post("/api/events", event.clone()).await.ok();
            assert_eq!((&answer["status"], &answer["event_id"]), (&json!("ok"), &event["event_id"]));
        }
    }

    async fn run(&self, claimed: &Value) {
        let action = claimed["action"].as_str().expect("a kind");
        self.post(claimed, "command.started", "STARTED", json!({})).await;
        match (self.tool)(action, &claimed["context"]["tool_config"]) {
            Ok(result) => {
                let status = result["status"].clone();
                let result = json!({"status": status, "context": result});
                self.post(claimed, "call.done", "COMPLETED", json!({"call_index": 0, "result": result}))
                    .await;
                let word = status.as_str().expect("a status");
                self.post(claimed, "command.completed", word, json!({"status": status})).await;
            }
            Err(error) => {
                self.post(claimed, "call.error", "FAILED", json!({"call_index": 0, "error": error})).await;
                self.post(claimed, "command.failed", "FAILED", json!({"error": error})).await;
            }
        }
    }

    /// Works an execution off and gives its status.
    async fn work_off(&self, execution: i64) -> Value {
        let mut news = self.server.app.drive().watch();
        loop {
            let status = self.server.get(&format!("/api/executions/{execution}/status")).await.ok();
            if status["completed"] == json!(true) {
                return status;
            }
            let announced = self.announced(execution).await;
            if announced.is_empty() {
                let moved = tokio::time::timeout(Duration::from_secs(60), news.recv()).await;
                moved.expect("the run goes on").expect("the drive loop lives");
            }
            for event in announced {
                if let Some(claimed) = self.try_claim(event).await {
                    self.run(&claimed).await;
                }
            }
        }
    }
}

async fn started(server: &Server, workflow: &str) -> i64 {
    server.register("flow", workflow).await;
    let started = server.post("/api/execute", json!({"path": "flow"})).await.ok();
    started["execution_id"].as_str().and_then(|id| id.parse().ok()).expect("an id as text")
}

async fn result(server: &Server, execution: i64) -> Value {
    server.get(&format!("/api/executions/{execution}")).await.ok()["result"].clone()
}

/// Adds one, prints, or fails.
fn arithmetic(action: &str, config: &Value) -> Result<Value, String> {
    match action {
        "python" => {
            let n = config["args"]["n"].as_i64().ok_or("n is missing")?;
            Ok(json!({"status": "success", "data": {"n": n + 1}, "duration_ms": 3}))
        }
        "shell" if config["command"] == "exit 3" => {
            Ok(json!({"status": "error", "error": "exit code 3", "stdout": "", "exit_code": 3}))
        }
        "shell" => Ok(json!({"status": "success", "data": {"said": config["command"]}})),
        _ => Err(format!("there is no {action} here")),
    }
}

fn later(server: &Server, seconds: u64) {
    let now: Timestamp = server.clock.now();
    server.clock.set(now.after(Duration::from_secs(seconds)));
}

#[tokio::test]
async fn two_steps_run_one_after_the_other_with_everything_rendered() {
    let server = Server::new();
    let execution = started(
        &server,
        "workflow:\n  - step: start\n    tool: {kind: python, input: {n: 1}, code: \"result = n\"}\n    next: {arcs: [{step: say}]}\n  \
         - step: say\n    tool: {kind: shell, command: \"echo {{ start.n }}\"}\n",
    )
    .await;
    let worker = StandIn::start(&server, "w-1", arithmetic).await;
    let event = worker.announced(execution).await[0];
    let seen = server.get(&format!("/api/commands/{event}")).await.ok();
    assert_eq!((&seen["execution_id"], &seen["action"]), (&json!(execution), &json!("python")));
    let claimed = worker.claim(event).await;
    assert_eq!((&claimed["node_id"], &claimed["node_name"]), (&json!("start"), &json!("start")));
    assert_eq!(claimed["context"]["tool_config"], json!({"code": "result = n", "args": {"n": 1}}));
    assert_eq!(claimed["meta"]["command_id"], format!("{execution}:start:{event}"));
    assert_eq!((&claimed["meta"]["attempt"], &claimed["meta"]["max_attempts"]), (&json!(1), &json!(3)));
    assert_eq!(worker.work_off(execution).await["status"], "COMPLETED");
    assert_eq!(result(&server, execution).await, json!({"said": "echo 2"}));
}

#[tokio::test]
async fn another_worker_and_a_second_claim_after_the_end_are_conflicts() {
    let server = Server::new();
    let execution =
        started(&server, "workflow:\n  - step: start\n    tool: {kind: shell, command: ls}\n").await;
    let first = StandIn::start(&server, "w-1", arithmetic).await;
    let second = StandIn::start(&server, "w-2", arithmetic).await;
    let event = first.announced(execution).await[0];
    let claimed = first.claim(event).await;
    let claim = |event: i64| {
        let (server, name) = (second.server, second.name);
        async move { server.post(&format!("/api/commands/{event}/claim"), json!({"worker_id": name})).await }
    };
    assert_eq!(claim(event).await.refused(), (409, "command_taken".to_owned()));
    assert_eq!(claim(1).await.refused(), (409, "command_taken".to_owned()));
    let by_event = |worker: &str| {
        json!({"execution_id": execution.to_string(), "name": "command.claimed", "step": "start", "worker_id": worker,
            "payload": {"command_id": claimed["meta"]["command_id"]}})
    };
    let known = server.post("/api/events", by_event("w-1")).await.ok();
    assert_eq!(known["event_id"], 0, "it was known before");
    assert_eq!(
        server.post("/api/events", by_event("w-2")).await.refused(),
        (409, "command_taken".to_owned())
    );
    first.run(&claimed).await;
    assert_eq!(claim(event).await.refused(), (409, "command_taken".to_owned()));
    assert_eq!(server.get(&format!("/api/commands/{event}")).await.refused().0, 404);
}

#[tokio::test]
async fn every_item_of_a_loop_is_a_command() {
    let server = Server::new();
    let execution = started(
        &server,
        "workflow:\n  - step: start\n    loop: {in: [10, 20, 30], iterator: it, spec: {mode: parallel}}\n    \
         tool: {kind: python, input: {n: \"{{ iter.it }}\"}, code: \"result = n\"}\n    next: {arcs: [{step: end}]}\n  \
         - step: end\n    tool: {kind: noop, result: \"{{ start.results }}\"}\n",
    )
    .await;
    let worker = StandIn::start(&server, "w-1", arithmetic).await;
    let events = worker.announced(execution).await;
    assert_eq!(events.len(), 3);
    let claimed = worker.claim(events[1]).await;
    let meta = &claimed["meta"];
    assert_eq!(meta["command_id"], format!("{execution}:start:{}:i1", events[1]));
    assert_eq!((&meta["iteration_index"], &meta["iteration_total"]), (&json!(1), &json!(3)));
    assert_eq!((&meta["iterator_step"], &meta["item_var"]), (&json!("start"), &json!("it")));
    let names = &claimed["context"]["render_context"];
    assert_eq!((&names["it"], &names["_index"], &names["_total"]), (&json!(20), &json!(1), &json!(3)));
    for event in [events[2], events[0]] {
        let claimed = worker.claim(event).await;
        worker.run(&claimed).await;
    }
    worker.run(&claimed).await;
    // A step without a tool needs no worker: the claim says so, and the run is over.
    assert_eq!(worker.try_claim(worker.announced(execution).await[0]).await, None);
    assert_eq!(result(&server, execution).await, json!([{"n": 11}, {"n": 21}, {"n": 31}]));
}

#[tokio::test]
async fn the_tasks_of_a_pipeline_come_one_after_the_other() {
    let server = Server::new();
    let stop = CancellationToken::new();
    tokio::spawn(tasks::fire_timers(server.app.drive().clone(), stop.clone()));
    let execution = started(
        &server,
        "workflow:\n  - step: start\n    tool:\n      - add: {kind: python, input: {n: 1}, code: \"result = n\"}\n      \
         - again: {kind: python, input: {n: \"{{ add.n }}\"}, code: \"result = n\"}\n",
    )
    .await;
    let worker = StandIn::start(&server, "w-1", arithmetic).await;
    assert_eq!(worker.work_off(execution).await["status"], "COMPLETED");
    assert_eq!(result(&server, execution).await["again"], json!({"n": 3}));
    stop.cancel();
}

#[tokio::test]
async fn a_tool_that_fails_fails_its_step_whether_it_answers_or_not() {
    for (tool, sentence) in [
        ("{kind: shell, command: exit 3}", "exit code 3"),
        ("{kind: http, url: \"http://x\"}", "there is no http here"),
    ] {
        let server = Server::new();
        let execution = started(&server, &format!("workflow:\n  - step: start\n    tool: {tool}\n")).await;
        let worker = StandIn::start(&server, "w-1", arithmetic).await;
        let status = worker.work_off(execution).await;
        assert_eq!((&status["status"], &status["failed"]), (&json!("FAILED"), &json!(true)));
        assert!(status["error"].as_str().is_some_and(|error| error.contains(sentence)), "{status}");
    }
}

#[tokio::test]
async fn a_large_result_is_taken_from_where_the_worker_put_it() {
    let server = Server::new();
    let execution = started(
        &server,
        "workflow:\n  - step: start\n    tool: {kind: python, code: \"result = 1\"}\n    next: {arcs: [{step: end}]}\n  \
         - step: end\n    tool: {kind: shell, command: \"{{ start.text | length }}\"}\n",
    )
    .await;
    let worker = StandIn::start(&server, "w-1", arithmetic).await;
    let claimed = worker.claim(worker.announced(execution).await[0]).await;
    let data = json!({"status": "success", "data": {"text": "x".repeat(200_000)}});
    let put = json!({"name": "start", "data": data, "scope": "execution", "source_step": "start"});
    let uri = server.put(&format!("/api/result/{execution}"), put).await.ok()["ref"].clone();
    let reference = json!({"kind": "result_ref", "ref": uri, "store": "kv", "scope": "execution"});
    let result_of_call =
        json!({"status": "success", "context": {"data": {"_ref": uri}}, "reference": reference});
    worker.post(&claimed, "command.started", "STARTED", json!({})).await;
    worker.post(&claimed, "call.done", "COMPLETED", json!({"call_index": 0, "result": result_of_call})).await;
    worker.post(&claimed, "command.completed", "success", json!({"status": "success"})).await;
    assert_eq!(worker.work_off(execution).await["status"], "COMPLETED");
    assert_eq!(result(&server, execution).await, json!({"said": 200_000}));
}

#[tokio::test]
async fn a_worker_that_goes_quiet_loses_its_command_and_one_with_a_heartbeat_keeps_it() {
    let server = Server::new();
    let execution =
        started(&server, "workflow:\n  - step: start\n    tool: {kind: shell, command: ls}\n").await;
    let killed = StandIn::start(&server, "w-1", arithmetic).await;
    let first = killed.announced(execution).await[0];
    let claimed = killed.claim(first).await;
    killed.post(&claimed, "command.started", "STARTED", json!({})).await;
    for _ in 0..5 {
        later(&server, 15);
        server.post("/api/worker/pool/heartbeat", json!({"name": "w-1"})).await.ok();
        tasks::expire_leases(server.app.drive()).await.expect("a store");
    }
    assert_eq!(killed.announced(execution).await, [first], "it is alive");
    later(&server, 31);
    tasks::expire_leases(server.app.drive()).await.expect("a store");
    let second = StandIn::start(&server, "w-2", arithmetic).await;
    let again = second.announced(execution).await;
    assert_eq!(again.len(), 1);
    assert_ne!(again[0], first, "it is issued again, under a new event");
    let taken_over = second.claim(again[0]).await;
    assert_eq!(taken_over["meta"]["attempt"], 2);
    // What the first one says now comes too late.
    let late = json!({"result": {"status": "success", "context": {"status": "success", "data": "late"}}});
    killed.post(&claimed, "call.done", "COMPLETED", late).await;
    second.run(&taken_over).await;
    assert_eq!(result(&server, execution).await, json!({"said": "ls"}));
}

#[tokio::test]
async fn events_that_say_nothing_to_the_run_are_acknowledged() {
    let server = Server::new();
    let execution =
        started(&server, "workflow:\n  - step: start\n    tool: {kind: shell, command: ls}\n").await;
    let event =
        json!({"execution_id": execution, "name": "subscription.message.directives_applied", "step": "x"});
    let answer = server.post("/api/events", event).await.ok();
    assert!(answer["event_id"].as_i64().is_some_and(|id| id > 0), "{answer}");
    let batch = json!({"execution_id": execution, "events": [
        {"step": "start", "event_type": "step.note", "payload": {"a": 1}}, {"step": "start", "name": "other"}]});
    let answer = server.post("/api/events/batch", batch).await.ok();
    assert_eq!(answer["event_ids"].as_array().map(Vec::len), Some(2));
    let unknown = json!({"execution_id": 1, "event_type": "x", "step": "x"});
    assert_eq!(server.post("/api/events", unknown).await.refused(), (404, "execution_not_found".to_owned()));
}

#[tokio::test]
async fn an_unknown_worker_is_added_by_its_heartbeat_and_leaves_by_either_method() {
    let server = Server::new();
    let names = async || {
        let listed = server.get("/api/worker/pools?kind=worker_pool").await.ok();
        listed["items"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|part| part["name"].clone())
            .collect::<Vec<_>>()
    };
    for method in [axum::http::Method::POST, axum::http::Method::DELETE] {
        let heard = server.post("/api/worker/pool/heartbeat", json!({"name": "w-9"})).await.ok();
        assert_eq!(heard["status"], "ok");
        assert_eq!(names().await, [json!("w-9")]);
        let body = json!({"name": "w-9", "component_type": "worker_pool"});
        let request = crate::support::request(method, "/api/worker/pool/deregister", Some(body));
        server.send(request).await.ok();
        assert!(names().await.is_empty());
    }
}

#[tokio::test]
async fn variables_are_set_in_both_shapes_and_reads_are_counted() {
    let server = Server::new();
    let execution =
        started(&server, "workflow:\n  - step: start\n    tool: {kind: shell, command: ls}\n").await;
    let path = format!("/api/vars/{execution}");
    let list = json!({"variables": [{"var_name": "a", "var_value": 1, "var_type": "computed", "source_step": "start"}]});
    assert_eq!(server.post(&path, list).await.ok()["variables_set"], 1);
    assert_eq!(server.post(&path, json!({"b": {"x": [1]}, "c": null})).await.ok()["variables_set"], 2);
    let a = server.get(&format!("{path}/a")).await.ok();
    assert_eq!(
        (&a["var_value"], &a["var_type"], &a["access_count"]),
        (&json!(1), &json!("computed"), &json!(1))
    );
    assert_eq!(server.get(&format!("{path}/a")).await.ok()["access_count"], 2);
    let all = server.get(&path).await.ok();
    assert_eq!((&all["count"], &all["variables"][1]["var_value"]), (&json!(3), &json!({"x": [1]})));
    assert_eq!(server.delete(&format!("{path}/a")).await.ok()["deleted"], 1);
    assert_eq!(server.get(&format!("{path}/a")).await.refused(), (404, "variable_not_found".to_owned()));
    assert_eq!(server.delete(&path).await.ok()["deleted"], 2);
    let unknown = server.post("/api/vars/1", json!({"a": 1})).await;
    assert_eq!(unknown.refused(), (404, "execution_not_found".to_owned()));
}
