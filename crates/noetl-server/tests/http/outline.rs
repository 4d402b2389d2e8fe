//! Playbooks as graphs.

use serde_json::json;

use crate::support::Server;

const PLAYBOOK: &str = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: drawn, path: drawn}
workflow:
  - step: start
    tool:
      kind: python
      spec:
        policy:
          rules:
            - when: \"{{ output.status == 'error' }}\"
              then: {do: fail}
      code: |
        result = 1
    next:
      arcs:
        - step: many
          when: \"{{ start > 0 }}\"
  - step: many
    loop: {in: [1, 2], iterator: n, spec: {mode: parallel}}
    tool: {kind: noop}
";

#[tokio::test]
async fn a_text_and_a_registered_playbook_have_the_same_outline() {
    let server = Server::new();
    let outline = server.post("/api/catalog/outline", json!({ "content": PLAYBOOK })).await.ok();
    let start = &outline["steps"][0];
    assert_eq!(
        (&outline["entry"], &start["name"], &start["line"]),
        (&json!("start"), &json!("start"), &json!(5))
    );
    let rule = json!({"line": 11, "when": "{{ output.status == 'error' }}", "action": "fail"});
    assert_eq!((&start["tasks"][0]["rules"][0], &start["tasks"][0]["code_line"]), (&rule, &json!(14)));
    assert_eq!(start["arcs"], json!([{"to": "many", "line": 17, "when": "{{ start > 0 }}"}]));
    assert_eq!(outline["steps"][1]["loop"], "parallel");

    let registered = server.post("/api/catalog/register", json!({ "content": PLAYBOOK })).await.ok();
    let again =
        server.post("/api/catalog/outline", json!({ "catalog_id": registered["catalog_id"] })).await.ok();
    assert_eq!(again, outline);
}

#[tokio::test]
async fn what_can_not_be_drawn_is_refused_with_its_reason() {
    let server = Server::new();
    let ask = async |body| server.post("/api/catalog/outline", body).await.refused();
    assert_eq!(ask(json!({"content": "kind: Playbook"})).await.1, "playbook_invalid");
    assert_eq!(ask(json!({"catalog_id": "1"})).await.1, "catalog_entry_not_found");
    assert_eq!(ask(json!({})).await.1, "body_invalid");
}
