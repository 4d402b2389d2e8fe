//! Starting runs.

use noetl_types::{SpanId, Timestamp};
use serde_json::json;

use crate::support::Server;
use crate::worker::{CHAIN, ONE, WAITS, execution, run, start, work};

#[tokio::test]
async fn a_start_answers_with_the_id_as_text() {
    let server = Server::new();
    let catalog_id = server.register("one", ONE).await;
    for request in [
        json!({"path": "one"}),
        json!({"catalog_id": catalog_id, "workload": {"n": 2}, "resource_kind": "playbook"}),
        json!({"catalog_id": catalog_id.parse::<i64>().expect("a number"), "args": {}, "unknown": true}),
        json!({"path": "one", "version": 1}),
        json!({"path": "one", "version": "latest", "parent_execution_id": "12345"}),
    ] {
        let answer = server.post("/api/execute", request.clone()).await.ok();
        assert!(answer["execution_id"].is_string(), "{request}: {answer}");
        assert_eq!(answer["status"], "started");
        assert_eq!(answer["commands_generated"], 1);
        assert_eq!((&answer["path"], &answer["version"]), (&json!("one"), &json!(1)));
    }
}

#[tokio::test]
async fn what_can_not_be_started_is_refused() {
    let server = Server::new();
    server.register("one", ONE).await;
    for (request, refused) in [
        (json!({}), (422, "body_invalid")),
        (json!({"path": "other"}), (404, "catalog_entry_not_found")),
        (json!({"path": "one", "version": 9}), (404, "catalog_entry_not_found")),
        (json!({"path": "one", "payload": [1]}), (422, "body_invalid")),
        (json!({"path": "one", "entry": "nowhere"}), (422, "execution_refused")),
        (json!({"path": "one", "dedup": {"key": ""}}), (422, "body_invalid")),
        (json!({"path": "one", "dedup": {"key": "k", "window_secs": 0}}), (422, "body_invalid")),
        (json!({"path": "one", "dedup": {"key": "k", "window_secs": u64::MAX}}), (422, "body_invalid")),
    ] {
        let answer = server.post("/api/execute", request.clone()).await.refused();
        assert_eq!(answer, (refused.0, refused.1.to_owned()), "{request}");
    }
}

#[tokio::test]
async fn within_its_window_a_key_starts_one_run() {
    let server = Server::new();
    server.register("one", ONE).await;
    let request = json!({"path": "one", "dedup": {"key": "k", "window_secs": 60}});
    let first = server.post("/api/execute", request.clone()).await.ok();
    let again = server.post("/api/execute", request.clone()).await.ok();
    assert_eq!((&first["status"], &again["status"]), (&json!("started"), &json!("duplicate")));
    assert_eq!(first["execution_id"], again["execution_id"]);
    assert_eq!(again["commands_generated"], 0);
    // Another parent has keys of its own.
    let mut other = request.clone();
    other["parent_execution_id"] = json!(77);
    assert_eq!(server.post("/api/execute", other).await.ok()["status"], "started");
    server.clock.set(Timestamp::from_millis(1_800_000_000_000 + 60_000));
    let later = server.post("/api/execute", request).await.ok();
    assert_eq!(later["status"], "started");
    assert_ne!(later["execution_id"], first["execution_id"]);
}

#[tokio::test]
async fn a_start_that_is_refused_takes_no_key() {
    let server = Server::new();
    server.register("one", ONE).await;
    let dedup = json!({"key": "k"});
    let refused = json!({"path": "one", "entry": "nowhere", "dedup": dedup});
    assert_eq!(server.post("/api/execute", refused).await.status, 422);
    let started = server.post("/api/execute", json!({"path": "one", "dedup": dedup})).await.ok();
    assert_eq!(started["status"], "started");
}

#[tokio::test]
async fn the_starts_of_a_batch_stand_for_themselves() {
    let server = Server::new();
    server.register("one", ONE).await;
    let batch = json!({"executions": [
        {"path": "one", "dedup": {"key": "k"}},
        {"path": "unknown"},
        {"path": "one", "dedup": {"key": "k"}},
        {"path": "one"},
    ]});
    let answer = server.post("/api/execute/batch", batch).await.ok();
    assert_eq!(
        (&answer["count"], &answer["started"], &answer["duplicates"], &answer["failed"]),
        (&json!(4), &json!(2), &json!(1), &json!(1))
    );
    let results = answer["results"].as_array().expect("results");
    assert!(results.iter().enumerate().all(|(index, item)| item["index"] == index));
    assert_eq!(results[1]["status"], "error");
    assert_eq!(results[1]["code"], "catalog_entry_not_found");
    assert_eq!(results[0]["execution_id"], results[2]["execution_id"]);
    assert_eq!(results[3]["commands_generated"], 1);
}

#[tokio::test]
async fn a_batch_has_1_to_1000_starts() {
    let server = Server::new();
    for count in [0, 1001] {
        let executions = vec![json!({"path": "one"}); count];
        let answer = server.post("/api/execute/batch", json!({"executions": executions})).await;
        assert_eq!(answer.refused(), (422, "body_invalid".to_owned()));
    }
}

#[tokio::test]
async fn a_child_works_in_the_pool_and_trace_of_its_parent() {
    let server = Server::new();
    server.register("waits", WAITS).await;
    let trace = json!({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"});
    let parent = json!({"path": "waits", "execution_pool": "big", "trace": trace});
    let parent = server.post("/api/execute", parent).await.ok()["execution_id"].clone();
    let child = json!({"path": "waits", "parent_execution_id": parent});
    let child = server.post("/api/execute", child).await.ok()["execution_id"].clone();
    let detail = server.get(&format!("/api/executions/{}", child.as_str().expect("an id"))).await.ok();
    let above = SpanId::of_execution(execution(parent.as_str().expect("an id")));
    let below = json!({"traceparent": format!("00-0af7651916cd43dd8448eb211c80319c-{above}-01")});
    assert_eq!(detail["meta"], json!({"execution_pool": "big", "trace": below}), "it hangs from its parent");
    assert_eq!(detail["parent_execution_id"], parent);
}

#[tokio::test]
async fn rerun_starts_with_what_the_run_before_was_started_with() {
    let server = Server::new();
    server.register("chain", CHAIN).await;
    let first = run(&server, "chain", json!({"n": 5, "m": {"a": 1}})).await;
    let again =
        server.post(&format!("/api/executions/{first}/rerun"), json!({"workload": {"m": 2}})).await.ok();
    assert_eq!(again["rerun_of"], first);
    let id = again["execution_id"].as_str().expect("an id");
    assert_ne!(id, first);
    assert_eq!(crate::worker::work_until_over(&server, id).await, "COMPLETED");
    let detail = server.get(&format!("/api/executions/{id}")).await.ok();
    assert_eq!(detail["workload"], json!({"n": 5, "m": 2}));
    assert_eq!(detail["result"], json!({"n": 10}));
    let unknown = server.post("/api/executions/1/rerun", json!({})).await;
    assert_eq!(unknown.refused(), (404, "execution_not_found".to_owned()));
    let wrong = server.post(&format!("/api/executions/{first}/rerun"), json!({"workload": 3})).await;
    assert_eq!(wrong.refused(), (422, "body_invalid".to_owned()));
}

/// The second step fails for as long as it is told to.
const FRAGILE: &str = "workload: {way: fail, id: \"{{ execution_id }}\"}\nworkflow:\n  - step: start\n    tool: {kind: noop, result: {n: 7}}\n    set: {ctx.n: 7}\n    \
                       next: {arcs: [{step: second}]}\n  - step: second\n    tool: {kind: noop, result: \"{{ workload.way }}\"}\n    \
                       next: {arcs: [{step: third}]}\n  - step: third\n    tool: {kind: noop, result: {n: \"{{ start.n + ctx.n }}\", id: \"{{ workload.id }}\"}}\n";

#[tokio::test]
async fn a_rerun_from_the_failed_step_keeps_what_was_done_before_it() {
    let server = Server::new();
    server.register("fragile", FRAGILE).await;
    let failed = run(&server, "fragile", json!({})).await;
    let request = json!({"from_failed": true, "workload": {"way": "fine"}});
    let again = server.post(&format!("/api/executions/{failed}/rerun"), request).await.ok();
    assert_eq!(again["kept_steps"], json!(["start"]));
    let id = again["execution_id"].as_str().expect("an id");
    assert_eq!(crate::worker::work_until_over(&server, id).await, "COMPLETED");
    let detail = server.get(&format!("/api/executions/{id}")).await.ok();
    // Defaults that are templates are rendered anew, because only what was sent is taken over.
    assert_eq!(detail["result"], json!({"n": 14, "id": id}));
    let start = &detail["steps"][0];
    assert_eq!(
        (&start["name"], &start["status"], &start["runs"]),
        (&json!("start"), &json!("completed"), &json!(0))
    );
    let types: Vec<_> =
        detail["events"].as_array().expect("events").iter().map(|event| &event["event_type"]).collect();
    assert_eq!(types[1], "step.kept");
    assert_eq!(detail["events"][0]["context"]["rerun_of"], failed.as_str());
}

#[tokio::test]
async fn a_rerun_from_a_step_can_follow_another_version() {
    let server = Server::new();
    server.register("chain", CHAIN).await;
    let first = run(&server, "chain", json!({"n": 5})).await;
    server.register("chain", &CHAIN.replace("start.n * 2", "start.n * 100")).await;
    let path = format!("/api/executions/{first}/rerun");
    let same = server.post(&path, json!({"from": "double"})).await.ok();
    let newer = server.post(&path, json!({"from": "double", "version": "latest"})).await.ok();
    for (answer, n) in [(same, 10), (newer, 500)] {
        let id = answer["execution_id"].as_str().expect("an id");
        assert_eq!(answer["kept_steps"], json!(["start"]));
        assert_eq!(crate::worker::work_until_over(&server, id).await, "COMPLETED");
        assert_eq!(server.get(&format!("/api/executions/{id}")).await.ok()["result"], json!({"n": n}));
    }
}

#[tokio::test]
async fn a_rerun_that_makes_no_sense_is_refused() {
    let server = Server::new();
    server.register("chain", CHAIN).await;
    server.register("waits", WAITS).await;
    let done = run(&server, "chain", json!({})).await;
    let running = crate::worker::start(&server, "waits", json!({})).await;
    for (id, request, refused) in [
        (&done, json!({"from": "nowhere"}), (404, "step_not_found")),
        (&done, json!({"from_failed": true}), (422, "execution_refused")),
        (&done, json!({"from": "start", "from_failed": true}), (422, "body_invalid")),
        (&done, json!({"version": 9}), (404, "catalog_entry_not_found")),
        (&running, json!({"from": "ask"}), (409, "execution_running")),
    ] {
        let answer = server.post(&format!("/api/executions/{id}/rerun"), request.clone()).await;
        assert_eq!(answer.refused(), (refused.0, refused.1.to_owned()), "{request}");
    }
}

#[tokio::test]
async fn an_execution_is_finalized_once() {
    let server = Server::new();
    server.register("waits", WAITS).await;
    for (request, status) in [
        (json!({"status": "COMPLETED"}), "COMPLETED"),
        (json!({"status": "failed", "error": "no"}), "FAILED"),
        (json!({"reason": "no"}), "FAILED"),
    ] {
        let id = crate::worker::start(&server, "waits", json!({})).await;
        let path = format!("/api/executions/{id}/finalize");
        let answer = server.post(&path, request.clone()).await.ok();
        assert_eq!(
            (&answer["status"], &answer["execution_status"]),
            (&json!("finalized"), &json!(status)),
            "{request}"
        );
        let again = server.post(&path, json!({})).await.ok();
        assert_eq!(
            (&again["status"], &again["execution_status"]),
            (&json!("already_completed"), &json!(status))
        );
        let wrong = server.post(&path, json!({"status": "ODD"})).await;
        assert_eq!(wrong.refused(), (422, "body_invalid".to_owned()));
    }
}

#[tokio::test]
async fn a_start_that_waits_answers_with_what_came_of_it() {
    let server = Server::new();
    server.register("one", ONE).await;
    let request = json!({"path": "one", "payload": {"n": 7}, "dedup": {"key": "k", "window_secs": 60}});

    let (answer, ()) = tokio::join!(server.post("/api/execute?wait=30", request.clone()), work(&server, 1));

    let answer = answer.ok();
    let outcome = &answer["outcome"];
    assert_eq!((&answer["status"], &outcome["status"]), (&json!("started"), &json!("COMPLETED")));
    assert_eq!((&outcome["result"], &outcome["error"]), (&json!({"n": 7}), &json!(null)));
    // The one that holds the key has ended already.
    let again = server.post("/api/execute?wait=30", request).await.ok();
    assert_eq!((&again["status"], &again["outcome"]["result"]), (&json!("duplicate"), &json!({"n": 7})));
}

#[tokio::test]
async fn the_status_can_wait_for_the_end() {
    let server = Server::new();
    server.register("one", ONE).await;
    let id = start(&server, "one", json!({})).await;
    let path = format!("/api/executions/{id}/status?wait=30");

    let (status, ()) = tokio::join!(server.get(&path), work(&server, 1));

    assert_eq!(status.ok()["status"], "COMPLETED");
    assert_eq!(server.get("/api/executions/1/status?wait=30").await.refused().0, 404);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_in_time_goes_on() {
    let server = Server::new();
    server.register("waits", WAITS).await;

    let answer = server.post("/api/execute?wait=3", json!({"path": "waits"})).await.ok();

    assert_eq!((&answer["status"], answer.get("outcome")), (&json!("started"), None));
    let id = answer["execution_id"].as_str().expect("an id as text");
    let status = server.get(&format!("/api/executions/{id}/status?wait=100000")).await.ok();
    assert_eq!(status["completed"], false);
}
