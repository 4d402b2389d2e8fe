use serde_json::json;

use crate::support::Server;

#[tokio::test]
async fn a_secret_is_shown_once_and_kept_nowhere() {
    let server = Server::new();
    let request = json!({"name": "ci", "scopes": ["operator", "viewer", "operator"]});
    let made = server.post("/api/tokens", request).await.ok();
    let secret = made["token"].as_str().expect("a secret").to_owned();
    assert!(secret.starts_with("noetl_") && secret.len() == 49, "{secret}");
    assert_eq!(made["scopes"], json!(["viewer", "operator"]));
    let listed = server.get("/api/tokens").await;
    assert!(!listed.text.contains(&secret));
    let listed = listed.ok();
    assert_eq!(listed["items"][0]["name"], "ci");
    assert_eq!(listed["items"][0]["id"], made["id"]);
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_revoked_token_stays_in_the_list_with_the_time() {
    let server = Server::new();
    let made = server.post("/api/tokens", json!({"name": "ci", "scopes": ["viewer"]})).await.ok();
    let path = format!("/api/tokens/{}", made["id"].as_str().expect("an id"));
    assert_eq!(server.delete(&path).await.ok()["status"], "revoked");
    assert!(server.get("/api/tokens").await.ok()["items"][0]["revoked_at"].is_string());
    assert_eq!(server.delete(&path).await.refused(), (404, "token_not_found".to_owned()));
    assert_eq!(server.delete("/api/tokens/1").await.refused(), (404, "token_not_found".to_owned()));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let server = Server::new();
    for request in [
        json!({"name": "", "scopes": ["viewer"]}),
        json!({"name": "a", "scopes": []}),
        json!({"name": "a", "scopes": ["king"]}),
        json!({"name": "a"}),
        json!({"name": "a", "scopes": ["viewer"], "expires_at": "soon"}),
        json!({"name": "a", "scopes": ["viewer"], "expires_at": "2001-01-01T00:00:00Z"}),
        json!({"name": "a", "scopes": ["viewer"], "expires_in": 0}),
    ] {
        let answer = server.post("/api/tokens", request.clone()).await;
        assert_eq!(answer.refused(), (422, "body_invalid".to_owned()), "{request}");
    }
}
