//! SQL over the server's database. The store of these tests knows none; what a database answers is tested through the binary.

use serde_json::json;

use crate::support::Server;

#[tokio::test]
async fn statements_that_cannot_be_run_are_refused_with_the_reason() {
    let server = Server::new();
    let run = async |body| server.post("/api/postgres/execute", body).await.refused();
    assert_eq!(run(json!({"query": "SELECT 1", "schema": "noetl"})).await, (422, "query_invalid".to_owned()));
    let elsewhere = json!({"query": "SELECT 1", "connection_string": "postgres://elsewhere"});
    assert_eq!(run(elsewhere).await, (422, "query_invalid".to_owned()));
    for body in [json!({}), json!({"query": " "}), json!({"query_base64": "%"}), json!({"query": 1})] {
        assert_eq!(run(body.clone()).await, (422, "body_invalid".to_owned()), "{body}");
    }
    let limit = json!({"query": "SELECT 1", "limit": 0});
    assert_eq!(run(limit).await, (422, "parameter_invalid".to_owned()));
}

#[tokio::test]
async fn a_database_without_its_tables_is_said_to_be_so() {
    let server = Server::new();
    let state = server.get("/api/db/validate").await.ok();
    assert_eq!((&state["valid"], &state["status"]), (&json!(false), &json!("error")));
    assert!(state["missing"].as_array().expect("a list").contains(&json!("catalog")));
    assert_eq!(server.post("/api/db/init", json!({})).await.ok(), state);
}
