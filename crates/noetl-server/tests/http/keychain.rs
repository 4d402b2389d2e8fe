use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Server;

const WORKFLOW: &str = "workflow: [{step: start, tool: {kind: noop}}]\n";

#[tokio::test]
async fn an_entry_is_kept_for_its_scope_until_it_expires() {
    let server = Server::new();
    let id = server.register("flow", WORKFLOW).await;
    let path = format!("/api/keychain/{id}/token");
    let request = json!({"data": {"token": "hush-1"}, "expires_in": 60});
    let kept = server.post(&path, request).await.ok();
    assert_eq!(
        (&kept["status"], &kept["cache_key"]),
        (&json!("success"), &json!(format!("token:{id}:global")))
    );
    assert!(kept["expires_at"].is_string());

    let found = server.get(&path).await.ok();
    assert_eq!((&found["status"], &found["data"]), (&json!("found"), &json!({"token": "hush-1"})));
    assert_eq!(found["auto_renew"], false);
    let local = server.get(&format!("{path}?scope_type=local&execution_id=7")).await.ok();
    assert_eq!(local, json!({"status": "not_found"}));

    server.clock.set(server.app.now().after(Duration::from_secs(60)));
    let expired = server.get(&path).await.ok();
    assert_eq!((&expired["status"], expired.get("data")), (&json!("expired"), None));
}

#[tokio::test]
async fn keys_name_the_scope() {
    let server = Server::new();
    let id = server.register("flow", WORKFLOW).await;
    for (scope, execution, key) in [
        ("local", json!("7"), format!("k:{id}:7")),
        ("local", Value::Null, format!("k:{id}:local")),
        ("shared", json!(7), format!("k:{id}:shared:7")),
        ("shared", Value::Null, format!("k:{id}:shared")),
        ("global", json!(7), format!("k:{id}:global")),
    ] {
        let request = json!({"data": {"n": 1}, "scope_type": scope, "execution_id": execution});
        let kept = server.post(&format!("/api/keychain/{id}/k"), request).await.ok();
        assert_eq!(kept["cache_key"], key);
        assert_eq!(kept.get("expires_at"), None, "it stays");
    }
    let listed = server.get(&format!("/api/keychain/catalog/{id}")).await.ok();
    assert_eq!(listed["catalog_id"], json!(id));
    let entries = listed["entries"].as_array().expect("a list");
    assert_eq!(entries.len(), 5);
    for entry in entries {
        assert_eq!((&entry["keychain_name"], &entry["expired"]), (&json!("k"), &json!(false)));
        assert_eq!(entry.get("data"), None);
    }
}

#[tokio::test]
async fn a_deleted_entry_is_gone() {
    let server = Server::new();
    let id = server.register("flow", WORKFLOW).await;
    let path = format!("/api/keychain/{id}/k");
    server.post(&path, json!({"data": {}, "expires_at": "2199-01-01T00:00:00Z"})).await.ok();
    assert_eq!(server.delete(&path).await.ok()["status"], "deleted");
    assert_eq!(server.delete(&path).await.ok()["status"], "not_found");
    assert_eq!(server.get(&path).await.ok()["status"], "not_found");
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let server = Server::new();
    let id = server.register("flow", WORKFLOW).await;
    let refused = async |path: String, body: Value| server.post(&path, body).await.refused();
    let path = format!("/api/keychain/{id}/k");
    let invalid = (422, "body_invalid".to_owned());
    assert_eq!(refused(path.clone(), json!({"data": {}, "expires_at": "soon"})).await, invalid);
    assert_eq!(refused(path.clone(), json!({"data": {}, "scope_type": "all"})).await, invalid);
    assert_eq!(refused(path.clone(), json!({"data": {}, "expires_in": -1})).await, invalid);
    let unknown = (404, "catalog_entry_not_found".to_owned());
    assert_eq!(refused("/api/keychain/1/k".to_owned(), json!({"data": {}})).await, unknown);
    let parameter = (422, "parameter_invalid".to_owned());
    assert_eq!(server.get("/api/keychain/x/k").await.refused(), parameter);
    assert_eq!(server.get(&format!("{path}?scope_type=all")).await.refused(), parameter);
}
