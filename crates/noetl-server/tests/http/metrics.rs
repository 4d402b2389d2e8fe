use std::collections::BTreeSet;

use noetl_server::metrics::FAMILIES;
use serde_json::json;

use crate::support::Server;

#[tokio::test]
async fn requests_runs_and_commits_are_counted() {
    let server = Server::new();
    server.register("flow", "workflow: [{step: start, tool: {kind: python, code: pass}}]\n").await;
    server.post("/api/execute", json!({"path": "flow"})).await.ok();
    server.get("/api/nowhere/1").await;
    server.get("/api/nowhere/2").await;
    let answer = server.get("/metrics").await;
    assert_eq!(
        (answer.status, &answer.headers["content-type"]),
        (200, &"text/plain; version=0.0.4".parse().expect("text"))
    );
    for line in [
        r#"noetl_http_requests_total{method="POST",route="/api/execute",status="200"} 1"#,
        r#"noetl_http_requests_total{method="GET",route="other",status="404"} 2"#,
        r#"noetl_http_request_duration_seconds_count{method="POST",route="/api/execute"} 1"#,
        "noetl_executions_started_total 1",
        "noetl_executions_open 1",
        "noetl_commands_dispatched_total 1",
        "noetl_drive_mailbox_depth 0",
        r#"noetl_server_build_info{version="0.0.0-test"} 1"#,
    ] {
        assert!(answer.text.lines().any(|found| found == line), "{line}\n{}", answer.text);
    }
}

#[tokio::test]
async fn every_name_is_explained_and_every_explained_name_exists() {
    let page = include_str!("../../../../docs/metrics.md");
    let explained: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .map(|name| name.split('{').next().unwrap_or(name))
        .collect();
    let known: BTreeSet<&str> = FAMILIES.iter().map(|family| family.name).collect();
    assert_eq!(explained, known);
    let text = Server::new().get("/metrics").await.text;
    for family in FAMILIES {
        let line = format!("# TYPE {} {}", family.name, family.kind.name());
        assert!(text.lines().any(|found| found == line), "{line}");
    }
}

#[tokio::test]
async fn the_server_says_how_it_fares() {
    let server = Server::new();
    let status = server.get("/api/status").await.ok();
    assert_eq!((&status["status"], &status["open_executions"]), (&json!("ok"), &json!(0)));
    let pool = server.get("/api/pool/status").await.ok();
    assert_eq!((&pool["status"], &pool["requests_waiting"]), (&json!("ok"), &json!(0)));
    for field in ["pool_min", "pool_max", "pool_size", "pool_available", "utilization", "slots_available"] {
        assert!(pool[field].is_number(), "{field}");
    }
}
