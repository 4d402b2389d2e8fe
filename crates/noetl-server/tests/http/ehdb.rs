//! Executions and events in the shapes of `noetl ehdb query`.

use serde_json::json;

use crate::support::{START, Server, playbook};

#[tokio::test]
async fn executions_and_their_events_are_read() {
    let server = Server::new();
    let entry = server.register_text(&playbook("a")).await;
    let execution = server.start("a").await;
    let listed = server.get("/api/ehdb/executions?status=running&path=a&limit=5").await.ok();
    assert_eq!((&listed["returned"], &listed["limit"], &listed["offset"]), (&json!(1), &json!(5), &json!(0)));
    let summary = json!({
        "execution_id": execution.to_string(), "catalog_id": entry["catalog_id"], "path": "a", "status": "RUNNING",
        "terminal": false, "current_node": "start", "parent_execution_id": null,
        "event_count": listed["executions"][0]["event_count"], "started_at": START.to_string(), "completed_at": null,
    });
    assert_eq!(listed["executions"], json!([summary]));
    let one = server.get(&format!("/api/ehdb/executions/{execution}")).await.ok();
    assert_eq!((&one["exists"], &one["state"]), (&json!(true), &summary));
    let none = server.get("/api/ehdb/executions/404").await.ok();
    assert_eq!((&none["exists"], &none["state"]), (&json!(false), &json!(null)));

    let uri = format!("/api/ehdb/executions/{execution}/events");
    let all = server.get(&uri).await.ok();
    assert_eq!(all["next_cursor"], json!(null));
    let first = server.get(&format!("{uri}?limit=1")).await.ok();
    assert_eq!(first["events"][0]["event_type"], "playbook_started");
    let cursor = first["next_cursor"].as_str().expect("a cursor");
    let rest = server.get(&format!("{uri}?after={cursor}")).await.ok();
    let returned = |answer: &serde_json::Value| answer["returned"].as_u64().expect("a number");
    assert_eq!(returned(&first) + returned(&rest), returned(&all));
    let huge = server.get(&format!("{uri}?after={}", u64::MAX)).await.ok();
    assert_eq!(huge["returned"], 0);
}

#[tokio::test]
async fn the_events_of_all_executions_are_read_page_by_page() {
    let server = Server::new();
    server.register_text(&playbook("a")).await;
    let executions = [server.start("a").await, server.start("a").await];
    let all = server.get("/api/ehdb/events").await.ok();
    assert_eq!((&all["action"], &all["tier"]), (&json!("events"), &json!("store")));
    assert_eq!((all.get("execution_id"), &all["next_cursor"]), (None, &json!(null)));
    let all = all["events"].as_array().expect("events").clone();
    for execution in executions {
        assert!(all.iter().any(|event| event["execution_id"] == execution.to_string()), "{execution}");
    }
    let mut paged = Vec::new();
    let mut after = "0".to_owned();
    loop {
        let page = server.get(&format!("/api/ehdb/events?limit=2&after={after}")).await.ok();
        paged.extend(page["events"].as_array().expect("events").clone());
        match page["next_cursor"].as_str() {
            Some(next) => after = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(paged, all);
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let server = Server::new();
    assert!(server.get("/api/ehdb").await.ok()["actions"].is_array());
    let tiers = server.get("/api/ehdb/tiers/kv").await;
    assert_eq!(tiers.refused(), (501, "not_supported".to_owned()));
    let unknown = server.get("/api/ehdb/executions/404/events").await;
    assert_eq!(unknown.refused(), (404, "execution_not_found".to_owned()));
    for query in ["status=odd", "limit=0", "limit=1001", "limit=-1", "offset=x"] {
        let refused = server.get(&format!("/api/ehdb/executions?{query}")).await;
        assert_eq!(refused.refused(), (422, "parameter_invalid".to_owned()), "{query}");
    }
}
