//! Test suites of playbooks: kept, listed, replaced, removed.

use serde_json::json;

use crate::support::{START, Server};

#[tokio::test]
async fn a_suite_is_kept_replaced_and_removed() {
    let server = Server::new();
    let uri = "/api/playbook-tests/suites/team/orders.yaml";
    assert_eq!(server.get(uri).await.refused(), (404, "test_suite_not_found".to_owned()));
    let body = json!({"playbook_path": "flows/order", "tests": [{"name": "one"}], "metadata": {"by": "gui"}});
    let kept = server.put(uri, body).await.ok();
    assert_eq!(
        kept,
        json!({
            "suite_id": "team/orders.yaml", "file_path": null, "playbook_path": "flows/order", "tests": [{"name": "one"}],
            "metadata": {"by": "gui"}, "updated_at": START.to_string(),
        })
    );
    assert_eq!(server.get(uri).await.ok(), kept);
    assert_eq!(server.put(uri, json!({"playbook_path": "flows/order"})).await.ok()["tests"], json!([]));
    server.put("/api/playbook-tests/suites/other", json!({"playbook_path": "x"})).await.ok();
    let listed = server.get("/api/playbook-tests/suites?playbook_path=flows/order").await.ok();
    assert_eq!(listed["suites"].as_array().expect("a list").len(), 1);
    assert_eq!(
        server.get("/api/playbook-tests/suites").await.ok()["suites"].as_array().expect("a list").len(),
        2
    );
    let wrong = server.put(uri, json!({"playbook_path": "x", "metadata": [1]})).await;
    assert_eq!(wrong.refused(), (422, "body_invalid".to_owned()));
    assert_eq!(server.delete(uri).await.ok(), json!({"suite_id": "team/orders.yaml", "deleted": true}));
    assert_eq!(server.delete(uri).await.refused(), (404, "test_suite_not_found".to_owned()));
}
