//! Looking into executions and steering them.

use noetl_types::Timestamp;
use serde_json::{Value, json};

use crate::support::Server;
use crate::worker::{CHAIN, ONE, WAITS, run, start, work, work_until_over};

fn texts<'v>(rows: &'v Value, field: &str) -> Vec<&'v str> {
    rows.as_array().expect("a list").iter().map(|row| row[field].as_str().expect("a text")).collect()
}

#[tokio::test]
async fn a_list_has_the_fields_of_both_generations() {
    let server = Server::new();
    server.register("one", ONE).await;
    let id = run(&server, "one", json!({})).await;
    let list = server.get("/api/executions").await.ok();
    let row = &list[0];
    assert_eq!(row["execution_id"], id);
    assert!(row["catalog_id"].is_string());
    assert_eq!(
        (&row["path"], &row["version"], &row["status"]),
        (&json!("one"), &json!(1), &json!("COMPLETED"))
    );
    assert_eq!(row["started_at"], row["start_time"]);
    assert_eq!(row["completed_at"], row["end_time"]);
    assert!(row["event_count"].as_u64().is_some_and(|count| count > 3));
    assert_eq!((&row["progress"], &row["result"]), (&json!(100.0), &json!({"n": 1})));
    for field in ["duration_seconds", "duration_human", "error", "parent_execution_id", "current_step"] {
        assert!(row.get(field).is_some(), "{field}");
    }
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let server = Server::new();
    server.register("etl/Load", ONE).await;
    server.register("waits", WAITS).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(run(&server, "etl/Load", json!({})).await);
    }
    let waiting = start(&server, "waits", json!({})).await;
    let found = |query: &'static str| {
        let server = &server;
        async move {
            let list = server.get(&format!("/api/executions?{query}")).await.ok();
            texts(&list, "execution_id").into_iter().map(str::to_owned).collect::<Vec<_>>()
        }
    };
    assert_eq!(found("status=running,paused").await, [waiting.as_str()]);
    assert_eq!(found("path=ETL/l").await.len(), 5);
    assert_eq!(found("search=load&limit=2").await, [ids[4].as_str(), ids[3].as_str()]);
    assert_eq!(found("path=load&page=2&page_size=2").await, [ids[2].as_str(), ids[1].as_str()]);
    assert_eq!(found("limit=2&offset=1").await, [ids[4].as_str(), ids[3].as_str()]);
    assert_eq!(found("started_from=2300-01-01T00:00:00Z").await.len(), 0);
    assert_eq!(found("labels=team=data").await.len(), 0);
    // From page to page by the link.
    let mut next = Some("/api/executions?path=load&limit=2".to_owned());
    let mut walked = Vec::new();
    while let Some(page) = next {
        let answer = server.get(&page).await;
        let link = answer.headers.get("link").map(|link| link.to_str().expect("text").to_owned());
        next = link.map(|link| link.trim_start_matches('<').split('>').next().expect("a target").to_owned());
        walked.extend(texts(&answer.ok(), "execution_id").into_iter().map(str::to_owned));
    }
    ids.reverse();
    assert_eq!(walked, ids);
}

#[tokio::test]
async fn parameters_that_make_no_sense_are_refused() {
    let server = Server::new();
    for query in [
        "status=odd",
        "limit=-1",
        "limit=x",
        "page=1e9",
        "labels=odd",
        "started_from=yesterday",
        "before=-3",
        "offset=100001",
        "limit=99999999999999999999999",
        "catalog_id=x",
    ] {
        let answer = server.get(&format!("/api/executions?{query}")).await;
        assert_eq!(answer.refused(), (422, "parameter_invalid".to_owned()), "{query}");
    }
    for path in ["/api/executions/x", "/api/executions/-1/status", "/api/executions/1.5/events"] {
        assert_eq!(server.get(path).await.refused(), (422, "parameter_invalid".to_owned()), "{path}");
    }
    for path in [
        "/api/executions/1",
        "/api/executions/1/status",
        "/api/executions/1/events",
        "/api/executions/1/logs",
        "/api/executions/1/explain",
        "/api/executions/1/children",
        "/api/executions/1/steps/x",
        "/api/executions/1/state",
        "/api/executions/1/stream",
        "/api/executions/1/cancellation-check",
        "/api/replay/state?execution_id=1",
    ] {
        assert_eq!(server.get(path).await.refused(), (404, "execution_not_found".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn the_detail_has_steps_result_and_events_oldest_first() {
    let server = Server::new();
    server.register("chain", CHAIN).await;
    let id = run(&server, "chain", json!({"n": 4})).await;
    let detail = server.get(&format!("/api/executions/{id}")).await.ok();
    assert_eq!(detail["result"], json!({"n": 8}));
    assert_eq!(texts(&detail["steps"], "name"), ["start", "double"]);
    let step = &detail["steps"][1];
    assert_eq!(
        (&step["status"], &step["runs"], &step["result"]),
        (&json!("completed"), &json!(1), &json!({"n": 8}))
    );
    assert!(step["started_at"].is_string() && step["ended_at"].is_string() && step["error"].is_null());
    let types = texts(&detail["events"], "event_type");
    assert_eq!((types[0], *types.last().expect("events")), ("playbook_started", "playbook.completed"));
    assert!(detail["pagination"].is_null());
    let done =
        detail["events"].as_array().expect("events").iter().find(|event| event["event_type"] == "call.done");
    let done = done.expect("an outcome");
    assert_eq!(
        (&done["node_id"], &done["node_name"], &done["status"]),
        (&json!("start"), &json!("start"), &json!("COMPLETED"))
    );
    assert_eq!(done["result"]["status"], "COMPLETED");
    assert_eq!(done["result"]["context"]["result"]["status"], "success");
    assert_eq!(done["result"]["context"]["result"]["context"]["data"], json!({"n": 4}));
    assert_eq!(done["created_at"], done["timestamp"]);
    assert!(done["event_id"].is_string() && done["execution_id"] == id.as_str());
    let begun = &detail["events"][0];
    assert_eq!(
        (&begun["node_id"], &begun["node_name"], &begun["node_type"]),
        (&json!("playbook"), &json!("chain"), &json!("execution"))
    );
    assert_eq!(begun["context"]["workload"], json!({"n": 4}));
    let without = server.get(&format!("/api/executions/{id}?include_events=false")).await.ok();
    assert_eq!((&without["events"], &without["events_included"]), (&json!([]), &json!(false)));
}

#[tokio::test]
async fn any_paging_parameter_turns_the_events_round() {
    let server = Server::new();
    server.register("chain", CHAIN).await;
    let id = run(&server, "chain", json!({})).await;
    let all = server.get(&format!("/api/executions/{id}")).await.ok()["events"].clone();
    let mut newest_first = texts(&all, "event_id");
    newest_first.reverse();
    let total = newest_first.len() as u64;
    for query in ["page=1", "page_size=500", "since_event_id=0", "page=1&page_size=50&event_type="] {
        let page = server.get(&format!("/api/executions/{id}?{query}")).await.ok();
        assert_eq!(texts(&page["events"], "event_id"), newest_first, "{query}");
        assert_eq!(page["pagination"]["total_events"], total);
        assert_eq!(page["pagination"]["has_next"], false);
    }
    let pages = [1, 2].map(|page| format!("/api/executions/{id}?page={page}&page_size=10"));
    let first = server.get(&pages[0]).await.ok();
    let second = server.get(&pages[1]).await.ok();
    assert_eq!(
        (&first["pagination"]["has_next"], &second["pagination"]["has_next"]),
        (&json!(true), &json!(false))
    );
    let walked: Vec<&str> =
        texts(&first["events"], "event_id").into_iter().chain(texts(&second["events"], "event_id")).collect();
    assert_eq!(walked, newest_first);
    let typed =
        server.get(&format!("/api/executions/{id}/events?event_type=call.done,step.enter")).await.ok();
    assert_eq!(texts(&typed["events"], "event_type"), ["call.done", "step.enter", "call.done", "step.enter"]);
    let forward = server.get(&format!("/api/executions/{id}/events?after_seq=2&limit=3")).await.ok();
    let seqs: Vec<_> =
        forward["events"].as_array().expect("events").iter().map(|event| event["seq"].clone()).collect();
    assert_eq!(seqs, [3, 4, 5]);
    let backward = server.get(&format!("/api/executions/{id}/events?before_seq=3")).await.ok();
    assert_eq!((backward["events"][0]["seq"].clone(), &backward["has_more"]), (json!(2), &json!(false)));
    let far = server.get(&format!("/api/executions/{id}?page=18446744073709551615&page_size=500")).await.ok();
    assert_eq!(far["events"], json!([]));
}

#[tokio::test]
async fn the_status_speaks_to_every_client() {
    let server = Server::new();
    server.register("chain", CHAIN).await;
    let id = start(&server, "chain", json!({"n": 3})).await;
    let path = format!("/api/executions/{id}/status");
    let running = server.get(&path).await.ok();
    assert_eq!(
        (&running["status"], &running["completed"], &running["current_step"]),
        (&json!("RUNNING"), &json!(false), &json!("start"))
    );
    assert!(running["end_time"].is_null());
    work_until_over(&server, &id).await;
    let over = server.get(&path).await.ok();
    let expected = json!({"execution_id": id, "status": "COMPLETED", "completed": true, "failed": false, "is_cancelled": false,
        "completion_inferred": false, "current_step": "double", "completed_steps": ["start", "double"],
        "progress": {"total_steps": 2, "completed_steps": 2, "running_steps": 0, "failed_steps": 0},
        "variables": {"seen": 3}, "error": null});
    for (field, value) in expected.as_object().expect("a map") {
        assert_eq!(&over[field], value, "{field}");
    }
    assert_eq!(over["end_time"], over["completed_at"]);
    assert!(over["duration_human"].is_string() && over["duration_seconds"].is_number());
}

#[tokio::test]
async fn a_failed_run_is_completed_and_failed() {
    let server = Server::new();
    server.register("fails", "workflow:\n  - step: boom\n    tool: {kind: noop, result: fail}\n").await;
    let id = run(&server, "fails", json!({})).await;
    let status = server.get(&format!("/api/executions/{id}/status")).await.ok();
    assert_eq!(
        (&status["status"], &status["completed"], &status["failed"]),
        (&json!("FAILED"), &json!(true), &json!(true))
    );
    let detail = server.get(&format!("/api/executions/{id}")).await.ok();
    assert!(detail["error"].as_str().is_some_and(|error| error.contains("told to fail")), "{detail}");
    assert_eq!(detail["steps"][0]["error"]["message"], "it was told to fail");
    let step = server.get(&format!("/api/executions/{id}/steps/boom")).await.ok();
    assert_eq!(
        (&step["status"], &step["attempts"][0]["status"], &step["error_handled"]),
        (&json!("failed"), &json!("failed"), &json!(false))
    );
    assert_eq!(step["attempts"][0]["error"]["message"], "it was told to fail");
    let none = server.get(&format!("/api/executions/{id}/steps/other")).await;
    assert_eq!(none.refused(), (404, "step_not_found".to_owned()));
}

#[tokio::test]
async fn cancel_reaches_everything_that_was_started() {
    let server = Server::new();
    server.register("waits", WAITS).await;
    let parent = start(&server, "waits", json!({})).await;
    let child = json!({"path": "waits", "parent_execution_id": parent});
    let child =
        server.post("/api/execute", child).await.ok()["execution_id"].as_str().expect("an id").to_owned();
    let grandchild = json!({"path": "waits", "parent_execution_id": child});
    let grandchild = server.post("/api/execute", grandchild).await.ok()["execution_id"].clone();
    let children = server.get(&format!("/api/executions/{parent}/children")).await.ok();
    assert_eq!(texts(&children, "execution_id"), [child.as_str()]);
    let answer =
        server.post(&format!("/api/executions/{parent}/cancel"), json!({"reason": "enough"})).await.ok();
    assert_eq!(answer["status"], "cancelled");
    assert_eq!(answer["cancelled_executions"], json!([parent, child, grandchild]));
    let check = server.get(&format!("/api/executions/{child}/cancellation-check")).await.ok();
    assert_eq!(check, json!({"execution_id": child, "is_cancelled": true}));
    let status = server.get(&format!("/api/executions/{parent}/status")).await.ok();
    assert_eq!(
        (&status["is_cancelled"], &status["completed"], &status["failed"], &status["error"]),
        (&json!(true), &json!(true), &json!(true), &json!("cancelled: enough"))
    );
    for path in ["cancel", "stop"] {
        let again = server.post(&format!("/api/executions/{parent}/{path}"), json!({})).await;
        assert_eq!(again.status, 400);
        assert_eq!(
            (&again.json()["status"], &again.json()["code"]),
            (&json!("already_completed"), &json!("execution_ended"))
        );
        assert!(again.json()["message"].is_string());
    }
}

#[tokio::test]
async fn without_cascade_the_others_go_on() {
    let server = Server::new();
    server.register("waits", WAITS).await;
    let parent = start(&server, "waits", json!({})).await;
    let child = json!({"path": "waits", "parent_execution_id": parent});
    let child =
        server.post("/api/execute", child).await.ok()["execution_id"].as_str().expect("an id").to_owned();
    let answer =
        server.post(&format!("/api/executions/{parent}/cancel"), json!({"cascade": false})).await.ok();
    assert_eq!(answer["cancelled_executions"], json!([parent]));
    let status = server.get(&format!("/api/executions/{child}/status")).await.ok();
    assert_eq!(status["status"], "RUNNING");
}

#[tokio::test]
async fn a_paused_run_goes_on_when_it_is_resumed() {
    let server = Server::new();
    server.register("chain", CHAIN).await;
    let id = start(&server, "chain", json!({})).await;
    let paused = server.post(&format!("/api/executions/{id}/pause"), json!({"reason": "lunch"})).await.ok();
    assert_eq!((&paused["status"], &paused["changed"]), (&json!("PAUSED"), &json!(true)));
    let again = server.post(&format!("/api/executions/{id}/pause"), json!({})).await.ok();
    assert_eq!(again["changed"], false);
    work(&server, 1).await;
    let lines = server.get(&format!("/api/executions/{id}/explain")).await.ok()["lines"].clone();
    assert!(lines[0].as_str().is_some_and(|line| line.contains("paused")), "{lines}");
    let resumed = server.post(&format!("/api/executions/{id}/resume"), json!({})).await.ok();
    assert_eq!(resumed["status"], "RUNNING");
    assert_eq!(work_until_over(&server, &id).await, "COMPLETED");
    let late = server.post(&format!("/api/executions/{id}/pause"), json!({})).await;
    assert_eq!(late.refused(), (400, "execution_ended".to_owned()));
}

#[tokio::test]
async fn a_signal_lets_the_step_that_waits_for_it_go_on() {
    let server = Server::new();
    server.register("waits", WAITS).await;
    let id = start(&server, "waits", json!({})).await;
    work(&server, 1).await;
    let lines = server.get(&format!("/api/executions/{id}/explain")).await.ok()["lines"].clone();
    assert!(lines[0].as_str().is_some_and(|line| line.contains("signal 'approval'")), "{lines}");
    let signal = json!({"name": "approval", "payload": {"by": "me"}});
    server.post(&format!("/api/executions/{id}/signal"), signal).await.ok();
    assert_eq!(work_until_over(&server, &id).await, "COMPLETED");
    let nameless = server.post(&format!("/api/executions/{id}/signal"), json!({"name": ""})).await;
    assert_eq!(nameless.refused(), (422, "body_invalid".to_owned()));
}

#[tokio::test]
async fn cleanup_cancels_what_has_not_moved() {
    let server = Server::new();
    server.register("waits", WAITS).await;
    let old = start(&server, "waits", json!({})).await;
    server.clock.set(Timestamp::from_millis(1_800_000_000_000 + 600_000));
    let new = start(&server, "waits", json!({})).await;
    let would =
        server.post("/api/executions/cleanup", json!({"older_than_minutes": 5, "dry_run": true})).await.ok();
    assert_eq!(would["execution_ids"], json!([old.parse::<i64>().expect("a number")]));
    let status = server.get(&format!("/api/executions/{old}/status")).await.ok();
    assert_eq!(status["status"], "RUNNING");
    let did = server.post("/api/executions/cleanup", json!({})).await.ok();
    assert_eq!(did["cancelled_count"], 1);
    for (id, status) in [(old, "CANCELLED"), (new, "RUNNING")] {
        assert_eq!(server.get(&format!("/api/executions/{id}/status")).await.ok()["status"], status);
    }
}

#[tokio::test]
async fn a_run_can_be_seen_as_it_was_at_each_event() {
    let server = Server::new();
    server.register("chain", CHAIN).await;
    let id = run(&server, "chain", json!({"n": 2})).await;
    let first = server.get(&format!("/api/executions/{id}/state?at_seq=1")).await.ok();
    assert_eq!(
        (&first["status"], &first["steps"], &first["waiting"]),
        (&json!("RUNNING"), &json!([]), &json!(["start"]))
    );
    let last = server.get(&format!("/api/executions/{id}/state")).await.ok();
    assert_eq!((&last["status"], &last["variables"]), (&json!("COMPLETED"), &json!({"seen": 2})));
    let none = server.get(&format!("/api/executions/{id}/state?at_seq=0")).await;
    assert_eq!(none.refused(), (422, "parameter_invalid".to_owned()));

    let replayed = server.get(&format!("/api/replay/state?execution_id={id}&as_of_position=3")).await.ok();
    assert_eq!((&replayed["event_count"], &replayed["execution"]["status"]), (&json!(3), &json!("RUNNING")));
    assert_eq!(replayed["commands"], json!({"1": {"step": "start", "attempt": 1, "state": "issued"}}));
    assert_eq!(replayed["checksum"]["type"], "sha256");
    let same = server
        .get(&format!(
            "/api/replay/state?execution_id={id}&as_of_event_id={}",
            replayed["last_event_id"].as_str().expect("an id")
        ))
        .await
        .ok();
    assert_eq!(same["checksum"], replayed["checksum"]);
    for query in ["as_of_position=1&as_of_event_id=1", "projection=odd", "as_of_time=odd"] {
        let answer = server.get(&format!("/api/replay/state?execution_id={id}&{query}")).await;
        assert_eq!(answer.refused(), (400, "replay_invalid".to_owned()), "{query}");
    }
}

#[tokio::test]
async fn a_loop_of_ten_thousand_items_has_a_bounded_detail() {
    let server = Server::new();
    let text = "x".repeat(2000);
    let looping = format!(
        "workflow:\n  - step: each\n    loop: {{in: 10000, iterator: i, spec: {{mode: parallel, max_in_flight: 500}}}}\n    \
         tool: {{kind: noop, result: {{i: \"{{{{ i }}}}\", text: \"{text}\"}}}}\n"
    );
    server.register("many", &looping).await;
    let id = run(&server, "many", json!({})).await;
    for query in ["", "?resolve=true", "?page=1&page_size=500"] {
        let answer = server.get(&format!("/api/executions/{id}{query}")).await;
        let limit = if query == "?resolve=true" { 80 << 20 } else { 12 << 20 };
        assert!(answer.text.len() < limit, "{query}: {} bytes", answer.text.len());
        let detail = answer.ok();
        assert_eq!(detail["status"], "COMPLETED");
        let result = &detail["steps"][0]["result"];
        assert_eq!(result["stats"]["success"], 10_000, "{query}");
    }
    let step = server.get(&format!("/api/executions/{id}/steps/each")).await.ok();
    assert!(step["attempts"].as_array().is_some_and(|attempts| attempts.len() <= 200));
}

#[tokio::test]
async fn the_dashboard_counts() {
    let server = Server::new();
    server.register("one", ONE).await;
    server.register("waits", WAITS).await;
    run(&server, "one", json!({})).await;
    start(&server, "waits", json!({})).await;
    let stats = server.get("/api/dashboard/stats").await.ok();
    for (field, value) in [
        ("total_playbooks", json!(2)),
        ("total_executions", json!(2)),
        ("active_executions", json!(1)),
        ("success_rate", json!(100.0)),
    ] {
        assert_eq!(stats[field], value, "{field}");
    }
    assert_eq!(stats["stats"]["successful_executions"], 1);
    assert_eq!(stats["stats"]["running_executions"], 1);
    assert_eq!(texts(&stats["recent_executions"], "path"), ["waits", "one"]);
    let widgets = server.get("/api/dashboard/widgets").await.ok();
    assert!(texts(&widgets, "id").contains(&"recent_failures"));
}
