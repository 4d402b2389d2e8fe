//! Plug-in modules: registered once, handed out with their digest.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;

use crate::support::{Answer, Server};

const CODE: &[u8] = b"\0asm\x01\0\0\0";

async fn register(server: &Server, uri: &str, media_type: Option<&str>, code: &[u8]) -> Answer {
    let mut request = Request::post(uri);
    if let Some(media_type) = media_type {
        request = request.header(header::CONTENT_TYPE, media_type);
    }
    server.send(request.body(Body::from(code.to_vec())).expect("a request")).await
}

async fn get_unless(server: &Server, uri: &str, known: &str) -> Answer {
    let request = Request::get(uri).header(header::IF_NONE_MATCH, known);
    server.send(request.body(Body::empty()).expect("a request")).await
}

const URI: &str = "/api/internal/plugins/tools/csv?version=1";

#[tokio::test]
async fn a_module_is_registered_and_handed_out_with_its_digest() {
    let server = Server::new();
    let digest = noetl_store::sha256_hex(CODE);
    let registered = register(&server, URI, Some("application/wasm"), CODE).await.ok();
    assert_eq!(registered, json!({"path": "tools/csv", "version": 1, "digest": digest, "bytes": 8}));
    let found = server.get(URI).await;
    assert_eq!((found.status, &*found.bytes), (200, CODE));
    assert_eq!(found.header("content-type"), Some("application/wasm"));
    let etag = format!("\"{digest}\"");
    assert_eq!(found.header("etag"), Some(&*etag));
    for known in [etag.clone(), "*".to_owned(), format!("\"x\", W/{etag}")] {
        let same = get_unless(&server, URI, &known).await;
        assert_eq!((same.status, same.bytes.len()), (304, 0), "{known}");
        assert_eq!(same.header("etag"), Some(&*etag));
    }
    assert_eq!(get_unless(&server, URI, "\"other\"").await.status, 200);
}

#[tokio::test]
async fn the_same_code_again_is_fine_and_other_code_for_a_taken_version_is_not() {
    let server = Server::new();
    let first = register(&server, URI, None, CODE).await.ok();
    assert_eq!(register(&server, URI, Some("application/octet-stream"), CODE).await.ok(), first);
    let other = register(&server, URI, None, b"other").await;
    assert_eq!(other.refused(), (409, "conflict".to_owned()));
    assert_eq!(&*server.get(URI).await.bytes, CODE);
    register(&server, "/api/internal/plugins/tools/csv?version=2", None, b"other").await.ok();
}

#[tokio::test]
async fn a_digest_that_does_not_match_is_a_conflict() {
    let server = Server::new();
    let digest = noetl_store::sha256_hex(CODE);
    let wrong = register(&server, &format!("{URI}&digest=abc"), None, CODE).await;
    assert_eq!(wrong.refused(), (409, "digest_mismatch".to_owned()));
    assert_eq!(server.get(URI).await.refused(), (404, "plugin_not_found".to_owned()));
    register(&server, &format!("{URI}&digest=sha256:{digest}"), None, CODE).await.ok();
    assert_eq!(server.get(&format!("{URI}&digest={}", digest.to_uppercase())).await.status, 200);
    let wrong = server.get(&format!("{URI}&digest={}", noetl_store::sha256_hex(b"x"))).await;
    assert_eq!(wrong.refused(), (409, "digest_mismatch".to_owned()));
}

#[tokio::test]
async fn only_the_two_media_types_are_taken() {
    let server = Server::new();
    for (given, status) in
        [("text/wat", 200), ("text/wat; charset=utf-8", 200), ("text/html", 415), ("image/png", 415)]
    {
        let uri = format!("/api/internal/plugins/a?version={status}");
        assert_eq!(register(&server, &uri, Some(given), b"(module)").await.status, status, "{given}");
    }
    assert_eq!(
        server.get("/api/internal/plugins/a?version=200").await.header("content-type"),
        Some("text/wat")
    );
    let by_parameter = "/api/internal/plugins/b?version=1&media_type=text/wat";
    assert_eq!(register(&server, by_parameter, Some("application/json"), b"(module)").await.status, 200);
    let wrong = "/api/internal/plugins/c?version=1&media_type=text/plain";
    let refused = register(&server, wrong, Some("application/wasm"), CODE).await;
    assert_eq!(refused.refused(), (415, "media_type_unsupported".to_owned()));
}

#[tokio::test]
async fn what_is_missing_or_makes_no_sense_is_said() {
    let server = Server::new();
    let without = register(&server, "/api/internal/plugins/a", None, CODE).await;
    assert_eq!(without.refused(), (400, "parameter_missing".to_owned()));
    assert_eq!(server.get("/api/internal/plugins/a").await.refused(), (400, "parameter_missing".to_owned()));
    for version in ["x", "-1", "99999999999999999999", ""] {
        let uri = format!("/api/internal/plugins/a?version={version}");
        let refused = register(&server, &uri, None, CODE).await;
        assert_eq!(refused.refused(), (422, "parameter_invalid".to_owned()), "{version}");
    }
    let empty = register(&server, URI, None, b"").await;
    assert_eq!(empty.refused(), (422, "body_invalid".to_owned()));
    let large = register(&server, URI, None, &vec![0; (64 << 20) + 1]).await;
    assert_eq!(large.refused(), (413, "body_too_large".to_owned()));
    assert_eq!(server.get(URI).await.refused(), (404, "plugin_not_found".to_owned()));
    assert_eq!(server.delete(URI).await.refused(), (404, "plugin_not_found".to_owned()));
}

#[tokio::test]
async fn modules_are_listed_and_deleted() {
    let server = Server::new();
    for uri in ["/api/internal/plugins/b?version=1", URI, "/api/internal/plugins/tools/csv?version=2"] {
        register(&server, uri, None, CODE).await.ok();
    }
    let listed = server.get("/api/internal/plugins").await.ok();
    let places: Vec<_> = listed["plugins"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|plugin| (plugin["path"].as_str().unwrap().to_owned(), plugin["version"].as_i64().unwrap()))
        .collect();
    let expected = [("b", 1), ("tools/csv", 2), ("tools/csv", 1)];
    assert_eq!(places, expected.map(|(path, version)| (path.to_owned(), version)));
    assert_eq!(listed["plugins"][0]["bytes"], 8);
    assert_eq!(server.delete(URI).await.ok()["deleted"], true);
    assert_eq!(server.get(URI).await.refused(), (404, "plugin_not_found".to_owned()));
    assert_eq!(server.get("/api/internal/plugins").await.ok()["plugins"].as_array().unwrap().len(), 2);
}
