//! Documents: registered, listed, compared, taken away and brought back.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use noetl_types::Value;
use serde_json::{Value as Json, json};

use crate::support::{Server, playbook};

fn places(entries: &Json) -> Vec<(String, i64)> {
    let entries = entries["entries"].as_array().expect("a list");
    entries
        .iter()
        .map(|entry| (entry["path"].as_str().unwrap().to_owned(), entry["version"].as_i64().unwrap()))
        .collect()
}

fn place(path: &str, version: i64) -> (String, i64) {
    (path.to_owned(), version)
}

#[tokio::test]
async fn a_document_comes_plain_or_in_base64_and_is_found_again() {
    let server = Server::new();
    let first = server.register_text(&playbook("demo/hello")).await;
    assert_eq!(first["status"], "success");
    assert_eq!(first["message"], "Resource 'demo/hello' version '1' registered.");
    assert_eq!((&first["version"], &first["kind"]), (&json!(1), &json!("playbook")));
    let second = server.register_text(&STANDARD.encode(playbook("demo/hello"))).await;
    assert_eq!(second["version"], 2);
    for request in [
        json!({"catalog_id": second["catalog_id"]}),
        json!({"path": "demo/hello"}),
        json!({"path": "demo/hello", "version": "latest"}),
        json!({"path": "demo/hello", "version": "2"}),
        json!({"path": "demo/hello", "version": 2}),
    ] {
        let found = server.post("/api/catalog/resource", request).await.ok();
        assert_eq!(found["catalog_id"], second["catalog_id"]);
        assert_eq!(found["content"], playbook("demo/hello"));
        assert_eq!(found["payload"]["metadata"]["name"], "flow", "the payload is the whole document");
        assert_eq!(found["payload"]["workload"], json!({"name": "world"}));
        assert_eq!(found["layout"][0]["step"], "start");
    }
    let missing = server.post("/api/catalog/resource", json!({"path": "demo/other"})).await;
    assert_eq!(missing.refused(), (404, "catalog_entry_not_found".to_owned()));
    let neither = server.post("/api/catalog/resource", json!({})).await;
    assert_eq!(neither.refused(), (422, "body_invalid".to_owned()));
}

#[tokio::test]
async fn an_invalid_document_is_refused_with_the_places_of_its_mistakes() {
    let server = Server::new();
    let text = playbook("a").replace("kind: python", "kind: nope");
    let refused = server.post("/api/catalog/register", json!({ "content": text })).await;
    assert_eq!(refused.refused(), (422, "playbook_invalid".to_owned()));
    assert_eq!(refused.json()["diagnostics"][0]["line"], 7);
    let subscription =
        "apiVersion: noetl.io/v1\nkind: Subscription\nmetadata: {name: s}\nspec:\n  source: smoke\n";
    let refused = server.post("/api/catalog/register", json!({ "content": subscription })).await;
    assert_eq!(refused.refused(), (422, "document_invalid".to_owned()));
    assert!(!refused.json()["diagnostics"].as_array().expect("findings").is_empty());
}

#[tokio::test]
async fn lists_have_the_newest_first_and_kinds_in_any_case() {
    let server = Server::new();
    server.register_text(&playbook("b")).await;
    server.register_text(&playbook("a")).await;
    server.register_text(&playbook("b")).await;
    server.register_text("kind: Mcp\nmetadata: {path: tools}\n").await;
    let list = async |request| server.post("/api/catalog/list", request).await.ok();
    assert_eq!(
        places(&list(json!({})).await),
        [place("tools", 1), place("b", 2), place("a", 1), place("b", 1)]
    );
    for kind in ["Playbook", "playbook", "PLAYBOOK"] {
        let found = list(json!({"resource_type": kind})).await;
        assert_eq!(places(&found), [place("b", 2), place("a", 1), place("b", 1)]);
        assert_eq!(found["entries"][0]["content"], Json::Null, "lists have no content");
    }
    let latest =
        list(json!({"resource_type": "playbook", "latest_only": true, "include_content": true})).await;
    assert_eq!(places(&latest), [place("b", 2), place("a", 1)]);
    assert_eq!(latest["entries"][0]["content"], playbook("b"));
    assert_eq!(places(&list(json!({"path": "b"})).await), [place("b", 2), place("b", 1)]);
    let page = list(json!({"limit": 2})).await;
    let rest = list(json!({"before": page["entries"][1]["catalog_id"]})).await;
    assert_eq!(places(&rest), [place("a", 1), place("b", 1)]);
    let paths = server.get("/api/catalog/list/Playbook").await.ok();
    assert_eq!(paths, json!(["a", "b"]));
    let refused = server.post("/api/catalog/list", json!({"limit": 0})).await;
    assert_eq!(refused.refused(), (422, "parameter_invalid".to_owned()));
}

#[tokio::test]
async fn agents_are_found_by_what_they_can_do() {
    let server = Server::new();
    let agent = |path: &str, more: &str| {
        playbook(path).replace("name: flow,", &format!("name: flow, agent: true, capabilities: [{more}],"))
    };
    server.register_text(&playbook("plain")).await;
    server.register_text(&agent("one", "chat")).await;
    server.register_text(&agent("two", "chat, code")).await;
    let found = server.post("/api/catalog/agents/list", json!({})).await.ok();
    assert_eq!(places(&found), [place("two", 1), place("one", 1)]);
    let found = server.post("/api/catalog/agents/list", json!({"capabilities": ["chat", "code"]})).await.ok();
    assert_eq!(places(&found), [place("two", 1)]);
    let found = server.post("/api/catalog/list", json!({"agent_only": true, "limit": 1})).await.ok();
    assert_eq!(places(&found), [place("two", 1)]);
}

#[tokio::test]
async fn versions_are_listed_and_compared() {
    let server = Server::new();
    server.register_text(&playbook("team/flow")).await;
    server.register_text(&playbook("team/flow").replace("world", "moon")).await;
    let versions = server.get("/api/catalog/team/flow/versions").await.ok();
    let numbers: Vec<_> =
        versions["versions"].as_array().unwrap().iter().map(|one| &one["version"]).collect();
    assert_eq!(numbers, [2, 1]);
    for uri in ["/api/catalog/team/flow/diff", "/api/catalog/team%2Fflow/diff?from=1&to=2"] {
        let diff = server.get(uri).await.ok();
        assert_eq!((&diff["added"], &diff["removed"]), (&json!(1), &json!(1)), "{diff}");
        let text = diff["diff"].as_str().expect("text");
        assert!(text.starts_with("--- team/flow version 1\n+++ team/flow version 2\n@@ "), "{text}");
        assert!(text.contains("\n-workload: {name: world}\n+workload: {name: moon}\n"), "{text}");
    }
    let same = server.get("/api/catalog/team/flow/diff?from=2&to=2").await.ok();
    assert_eq!(same["diff"], "");
    for uri in ["/api/catalog/team/versions", "/api/catalog/team/flow/diff?from=7"] {
        assert_eq!(server.get(uri).await.refused(), (404, "catalog_entry_not_found".to_owned()));
    }
    assert_eq!(server.get("/api/catalog/team/flow/x").await.refused(), (404, "route_not_found".to_owned()));
    let refused = server.get("/api/catalog/team/flow/diff?from=x").await;
    assert_eq!(refused.refused(), (422, "parameter_invalid".to_owned()));
}

#[tokio::test]
async fn forms_are_made_from_the_workload_and_its_comments() {
    let server = Server::new();
    let text = playbook("forms/order").replace(
        "workload: {name: world}\n",
        "workload:\n  size: s # ui:enum=[s, m]\n  token: t # ui:secret\n  deep:\n    flag: true # ui:description=Yes or no\n",
    );
    server.register_text(&text).await;
    let schema = server.get("/api/catalog/forms/order/ui_schema?version=latest").await.ok();
    assert_eq!(schema["path"], "forms/order");
    assert_eq!((&schema["version"], &schema["kind"]), (&json!(1), &json!("playbook")));
    assert_eq!((&schema["title"], &schema["exposed_in_ui"]), (&json!("flow"), &json!(true)));
    assert_eq!(
        schema["fields"],
        json!([
            {"name": "size", "kind": "string", "default": "s", "description": null, "secret": false,
             "credential_glob": null, "options": ["s", "m"], "children": []},
            {"name": "token", "kind": "string", "default": null, "description": null, "secret": true,
             "credential_glob": null, "options": null, "children": []},
            {"name": "deep", "kind": "object", "default": {"flag": true}, "description": null, "secret": false,
             "credential_glob": null, "options": null, "children": [
                {"name": "flag", "kind": "boolean", "default": true, "description": "Yes or no", "secret": false,
                 "credential_glob": null, "options": null, "children": []}]},
        ])
    );
    assert_eq!(
        server.get("/api/catalog/forms/order/ui_schema?version=9").await.refused(),
        (404, "catalog_entry_not_found".to_owned())
    );
}

#[tokio::test]
async fn what_ran_is_archived_and_comes_back_what_did_not_is_gone() {
    let server = Server::new();
    let ran = server.register_text(&playbook("a")).await;
    server.start("a").await;
    let fresh = server.register_text(&playbook("a")).await;
    let deleted = server.post("/api/catalog/delete", json!({"path": "a"})).await.ok();
    assert_eq!(
        deleted["deleted"],
        json!([
            {"catalog_id": fresh["catalog_id"], "version": 2, "archived": false},
            {"catalog_id": ran["catalog_id"], "version": 1, "archived": true},
        ])
    );
    assert_eq!((&deleted["count"], &deleted["status"]), (&json!(2), &json!("success")));
    for request in [json!({"path": "a"}), json!({"path": "a", "version": 1})] {
        let gone = server.post("/api/catalog/resource", request).await;
        assert_eq!(gone.refused(), (404, "catalog_entry_not_found".to_owned()));
    }
    assert_eq!(server.post("/api/execute", json!({"path": "a"})).await.refused().0, 404);
    let by_id = server.post("/api/catalog/resource", json!({"catalog_id": ran["catalog_id"]})).await.ok();
    assert!(by_id["archived_at"].is_string());
    let by_id = server.post("/api/execute", json!({"catalog_id": fresh["catalog_id"]})).await;
    assert_eq!(by_id.refused(), (404, "catalog_entry_not_found".to_owned()), "its compiled form is gone too");
    assert_eq!(places(&server.post("/api/catalog/list", json!({})).await.ok()), []);
    let archived = server.post("/api/catalog/list", json!({"include_archived": true})).await.ok();
    assert_eq!(places(&archived), [place("a", 1)]);

    let restored = server.post("/api/catalog/restore", json!({"path": "a", "version": "1"})).await.ok();
    assert_eq!(restored["count"], 1);
    server.start("a").await;
    for request in [json!({"path": "b"}), json!({"path": "a", "version": 2})] {
        let refused = server.post("/api/catalog/delete", request).await;
        assert_eq!(refused.refused(), (404, "catalog_entry_not_found".to_owned()));
    }
}

#[tokio::test]
async fn documents_are_validated_without_being_registered() {
    let server = Server::new();
    let validate = async |content: &str| {
        server.post("/api/catalog/playbooks/validate", json!({ "content": content })).await.ok()
    };
    let good = validate(&playbook("a")).await;
    assert_eq!((&good["valid"], &good["errors"]), (&json!(true), &json!([])));
    let bad = validate(&playbook("a").replace("kind: python", "kind: nope")).await;
    assert_eq!(bad["valid"], false);
    assert!(bad["errors"][0].as_str().expect("a sentence").starts_with("line 7: "), "{bad}");
    assert_eq!(bad["diagnostics"][0]["severity"], "error");
    for text in ["", "a: [", "kind: Mcp\n", "[]", "kind: Subscription\n", "\u{0}"] {
        let bad = validate(text).await;
        assert_eq!(bad["valid"], false, "{text:?}");
        assert!(!bad["errors"].as_array().expect("sentences").is_empty(), "{text:?}");
    }
    assert_eq!(server.get("/api/catalog/list/playbook").await.ok(), json!([]));
}

#[tokio::test]
async fn editors_read_write_and_remove_one_playbook() {
    let server = Server::new();
    let first = server.register_text(&playbook("dir/a")).await;
    let id = first["catalog_id"].as_str().expect("an id");
    let uri = format!("/api/catalog/playbook/content?playbook_id={id}");
    assert_eq!(server.get(&uri).await.ok()["content"], playbook("dir/a"));
    let changed = playbook("dir/a").replace("world", "moon");
    assert_eq!(server.put(&uri, json!({ "content": changed })).await.ok()["version"], 2);
    let by_path = "/api/catalog/playbook?playbook_id=dir/a";
    assert_eq!(server.put(by_path, json!({ "content": changed })).await.ok()["version"], 3);
    let other = server.put(&uri, json!({ "content": playbook("dir/b") })).await;
    assert_eq!(other.refused(), (409, "conflict".to_owned()));
    let deleted = server.delete("/api/catalog/playbooks/dir%2Fa").await.ok();
    assert_eq!(deleted["deleted"][0]["version"], 3);
    assert_eq!(server.delete(&format!("/api/catalog/playbooks/{id}")).await.ok()["count"], 1);
    let missing = server.get("/api/catalog/playbook/content?playbook_id=404").await;
    assert_eq!(missing.refused(), (404, "catalog_entry_not_found".to_owned()));
    assert_eq!(
        server.get("/api/catalog/playbook/content").await.refused(),
        (422, "parameter_invalid".to_owned())
    );
}

#[tokio::test]
async fn what_needs_a_language_model_is_refused_with_the_reason() {
    let server = Server::new();
    for what in ["explain", "generate"] {
        let refused = server.post(&format!("/api/catalog/playbooks/{what}/ai"), json!({})).await;
        assert_eq!(refused.refused(), (501, "not_supported".to_owned()));
        assert!(refused.json()["error"].as_str().expect("a sentence").contains("language model"));
    }
}

#[tokio::test]
async fn a_run_of_an_archived_version_goes_on() {
    let server = Server::new();
    server.register_text(&playbook("a")).await;
    let execution = server.start("a").await;
    server.post("/api/catalog/delete", json!({"path": "a"})).await.ok();
    server.work(Value::Null).await;
    let found = noetl_store::Executions::find_execution(&server.store, execution).await.unwrap().unwrap();
    assert_eq!(found.row.status, noetl_types::RunStatus::Completed);
}
