use std::collections::{BTreeMap, BTreeSet};

use noetl_server::metrics::{FAMILIES, Kind};
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

/// Words that look like names of metrics.
fn names_in(text: &str) -> BTreeSet<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(|letter: char| !is_part(letter))
        .filter(|word| word.starts_with("noetl_") || word.starts_with("process_"))
        .collect()
}

#[test]
fn the_dashboard_and_the_alerts_use_names_that_exist() {
    let kinds: BTreeMap<&str, Kind> = FAMILIES.iter().map(|family| (family.name, family.kind)).collect();
    let is_known = |name: &str| {
        let of_histogram = ["_bucket", "_sum", "_count"].into_iter().find_map(|end| name.strip_suffix(end));
        kinds.contains_key(name) || of_histogram.is_some_and(|name| kinds.get(name) == Some(&Kind::Histogram))
    };
    let dashboard = include_str!("../../../../deploy/grafana/noetl.json");
    let alerts = include_str!("../../../../deploy/prometheus/alerts.yaml");
    serde_json::from_str::<serde_json::Value>(dashboard).expect("the dashboard is JSON");
    for text in [dashboard, alerts] {
        let names = names_in(text);
        assert!(names.len() > 5, "{names:?}");
        let unknown: Vec<&&str> = names.iter().filter(|name| !is_known(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
    let shown = names_in(dashboard);
    let hidden: Vec<&str> =
        kinds.keys().filter(|name| !shown.iter().any(|shown| shown.starts_with(*name))).copied().collect();
    assert_eq!(
        hidden,
        ["noetl_telemetry_spans_exported_total", "noetl_uptime_seconds"],
        "the rest is on the dashboard"
    );
}
