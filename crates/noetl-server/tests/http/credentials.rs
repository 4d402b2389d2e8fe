use noetl_server::vault::{MasterKey, Vault};
use noetl_store::{Credentials, MemoryStore};
use serde_json::{Value, json};

use crate::support::Server;

const CANARY: &str = "hush-canary-7";

fn bearer(name: &str) -> Value {
    json!({"name": name, "type": "bearer", "data": {"token": CANARY}})
}

fn refusal(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn a_credential_is_kept_under_its_name_and_shows_no_values() {
    let server = Server::new();
    let mut request = bearer("github");
    request["tags"] = json!(["ci", "read"]);
    request["description"] = json!("for the build");
    request["meta"] = json!({"team": "a"});
    let kept = server.post("/api/credentials", request).await.ok();
    assert!(kept["id"].is_string() && kept["created_at"].is_string() && kept["updated_at"].is_string());
    assert_eq!((&kept["name"], &kept["type"]), (&json!("github"), &json!("bearer")));
    assert_eq!((&kept["tags"], &kept["meta"]), (&json!(["ci", "read"]), &json!({"team": "a"})));
    assert_eq!(kept["description"], "for the build");
    assert_eq!(kept.get("data"), None);

    assert_eq!(server.get("/api/credentials/github").await.ok(), kept);
    let id = kept["id"].as_str().expect("an id");
    assert_eq!(server.get(&format!("/api/credentials/{id}")).await.ok(), kept);
    let listed = server.get("/api/credentials").await.ok();
    assert_eq!(listed["items"], json!([kept]));
}

#[tokio::test]
async fn values_come_back_when_asked_for() {
    let server = Server::new();
    server.post("/api/credentials", bearer("github")).await.ok();
    let answer = server.get("/api/credentials/github?include_data=true&execution_id=1").await.ok();
    assert_eq!(answer["data"], json!({"token": CANARY}));
    assert!(answer["id"].is_string() && answer["name"].is_string() && answer["type"].is_string());
    assert_eq!(answer.get("tags"), None, "workers take a list or nothing");
}

#[tokio::test]
async fn a_second_credential_of_a_name_replaces_the_first() {
    let server = Server::new();
    let first = server.post("/api/credentials", bearer("github")).await.ok();
    let second = json!({"name": "github", "type": "basic", "data": {"password": "other"}});
    let second = server.post("/api/credentials", second).await.ok();
    assert_eq!((&second["id"], &second["type"]), (&first["id"], &json!("basic")));
    let answer = server.get("/api/credentials/github?include_data=true").await.ok();
    assert_eq!(answer["data"], json!({"password": "other"}));
}

#[tokio::test]
async fn lists_are_narrowed_and_paged() {
    let server = Server::new();
    for (name, kind, tags) in
        [("a-one", "bearer", vec!["x", "y"]), ("b-one", "basic", vec!["x"]), ("c-two", "basic", vec!["y"])]
    {
        let request = json!({"name": name, "type": kind, "data": {}, "tags": tags});
        server.post("/api/credentials", request).await.ok();
    }
    for (query, names) in [
        ("", vec!["a-one", "b-one", "c-two"]),
        ("?type=basic", vec!["b-one", "c-two"]),
        ("?q=ONE", vec!["a-one", "b-one"]),
        ("?tags=y", vec!["a-one", "c-two"]),
        ("?tags=x,y", vec!["a-one"]),
        ("?limit=1&after=a-one", vec!["b-one"]),
        ("?type=none", vec![]),
    ] {
        let listed = server.get(&format!("/api/credentials{query}")).await.ok();
        let items = listed["items"].as_array().expect("a list");
        let found: Vec<&str> = items.iter().filter_map(|item| item["name"].as_str()).collect();
        assert_eq!(found, names, "{query}");
    }
    let page = server.get("/api/credentials?limit=2").await.ok();
    assert_eq!(page["next"], "b-one");
    assert_eq!(server.get("/api/credentials?limit=3").await.ok().get("next"), None);
}

#[tokio::test]
async fn a_deleted_credential_is_gone() {
    let server = Server::new();
    let kept = server.post("/api/credentials", bearer("github")).await.ok();
    let gone = server.delete("/api/credentials/github").await.ok();
    assert_eq!(gone["id"], kept["id"]);
    assert!(gone["message"].is_string());
    let missing = refusal(404, "credential_not_found");
    assert_eq!(server.get("/api/credentials/github").await.refused(), missing);
    assert_eq!(server.delete("/api/credentials/github").await.refused(), missing);
    assert_eq!(server.get("/api/credentials/github?include_data=true").await.refused(), missing);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_without_repeating_the_secret() {
    let server = Server::new();
    for request in [
        json!({"type": "bearer", "data": {"token": CANARY}}),
        json!({"name": "", "type": "bearer", "data": {"token": CANARY}}),
        json!({"name": "a\u{0}b", "type": "bearer", "data": {"token": CANARY}}),
        json!({"name": "x".repeat(256), "type": "bearer", "data": {"token": CANARY}}),
        json!({"name": "a", "type": "", "data": {"token": CANARY}}),
        json!({"name": "a", "type": "bearer", "data": CANARY}),
        json!({"name": "a", "type": "bearer", "data": [CANARY]}),
        json!({"name": "a", "type": "bearer"}),
    ] {
        let answer = server.post("/api/credentials", request).await;
        assert!(!answer.text.contains(CANARY), "{}", answer.text);
        assert_eq!(answer.refused(), refusal(422, "body_invalid"));
    }
    for query in ["limit=0", "limit=1001", "limit=-1", "limit=x"] {
        let answer = server.get(&format!("/api/credentials?{query}")).await;
        assert_eq!(answer.refused(), refusal(422, "parameter_invalid"), "{query}");
    }
}

#[tokio::test]
async fn nothing_readable_is_stored() {
    let server = Server::new();
    server.post("/api/credentials", bearer("github")).await.ok();
    let row = server.store.find_credential("github").await.expect("a store").expect("a row");
    let sealed = String::from_utf8_lossy(&row.data_encrypted).into_owned();
    assert!(sealed.contains("AES-256-GCM") && !sealed.contains("hush"), "{sealed}");
}

#[tokio::test]
async fn a_server_with_another_key_says_so() {
    let store = MemoryStore::default();
    Server::over(store.clone(), |app| app).post("/api/credentials", bearer("github")).await.ok();
    let other = Vault::new(MasterKey::new("test", [8; 32]), Vec::new());
    let server = Server::over(store, |app| app.vault(Some(other)));
    server.get("/api/credentials/github").await.ok();
    let answer = server.get("/api/credentials/github?include_data=true").await;
    assert!(answer.text.contains("does not have"), "{}", answer.text);
    assert_eq!(answer.refused(), refusal(503, "credential_unreadable"));
}

#[tokio::test]
async fn a_new_key_takes_over_what_the_earlier_one_sealed() {
    let store = MemoryStore::default();
    let first = Server::over(store.clone(), |app| app);
    let kept = first.post("/api/credentials", bearer("github")).await.ok();
    let key = |byte: u8| MasterKey::new("test", [byte; 32]);
    let both = Server::over(store.clone(), |app| app.vault(Some(Vault::new(key(8), vec![key(7)]))));
    assert_eq!(both.app.rewrap_credentials().await.expect("readable"), 1);
    assert_eq!(both.app.rewrap_credentials().await.expect("readable"), 0);
    let new = Server::over(store, |app| app.vault(Some(Vault::new(key(8), Vec::new()))));
    let answer = new.get("/api/credentials/github?include_data=true").await.ok();
    assert_eq!((&answer["data"]["token"], &answer["updated_at"]), (&json!(CANARY), &kept["updated_at"]));
}

#[tokio::test]
async fn a_server_without_a_key_keeps_no_secrets() {
    let server = Server::over(MemoryStore::default(), |app| app.vault(None));
    let answer = server.post("/api/credentials", bearer("github")).await;
    assert_eq!(answer.refused(), refusal(503, "encryption_key_missing"));
}

#[tokio::test]
async fn entries_of_the_playbook_of_an_execution_are_found_by_their_name() {
    let server = Server::new();
    server.post("/api/credentials", bearer("github")).await.ok();
    let keychain = "\
keychain:
  - {name: api, kind: credential, credential: github, map: {key: token}}
  - {name: fixed, kind: static, data: {pin: '1234'}}
  - {name: plain, kind: bearer, token: tok-1}
  - {name: worked_out, kind: bearer, token: '{{ workload.token }}'}
workflow: [{step: start, tool: {kind: noop}}]
";
    server.register("flow", keychain).await;
    let started = server.post("/api/execute", json!({"path": "flow"})).await.ok();
    let execution = started["execution_id"].as_str().expect("an id").to_owned();
    for (name, data) in [
        ("api", json!({"key": CANARY})),
        ("fixed", json!({"pin": "1234"})),
        ("plain", json!({"token": "tok-1"})),
    ] {
        let path = format!("/api/credentials/{name}?include_data=true&execution_id={execution}");
        let expected = json!({"id": "0", "name": name, "type": "keychain", "data": data});
        assert_eq!(server.get(&path).await.ok(), expected);
    }
    for path in [
        format!("/api/credentials/worked_out?include_data=true&execution_id={execution}"),
        format!("/api/credentials/nobody?include_data=true&execution_id={execution}"),
        format!("/api/credentials/fixed?execution_id={execution}"),
        "/api/credentials/fixed?include_data=true&execution_id=1".to_owned(),
    ] {
        assert_eq!(server.get(&path).await.refused(), refusal(404, "credential_not_found"), "{path}");
    }
}
