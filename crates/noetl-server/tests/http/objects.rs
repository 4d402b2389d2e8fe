//! Objects of workers: put under a key, handed out with their digest.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;

use crate::support::{Answer, Server};

const URI: &str = "/api/internal/objects/noetl/cell=local-0/execution=7/results/a.json";

async fn put(server: &Server, uri: &str, media_type: Option<&str>, bytes: &[u8]) -> Answer {
    let mut request = Request::put(uri);
    if let Some(media_type) = media_type {
        request = request.header(header::CONTENT_TYPE, media_type);
    }
    server.send(request.body(Body::from(bytes.to_vec())).expect("a request")).await
}

#[tokio::test]
async fn bytes_are_kept_under_a_key_and_handed_out_with_their_digest() {
    let server = Server::new();
    let bytes = b"{\"a\": \0}";
    let digest = noetl_store::sha256_hex(bytes);
    let stored = put(&server, URI, Some("application/json"), bytes).await.ok();
    let key = "noetl/cell=local-0/execution=7/results/a.json";
    assert_eq!(stored, json!({"key": key, "digest": digest, "bytes": 8}));
    let found = server.get(URI).await;
    assert_eq!((found.status, &*found.bytes), (200, &bytes[..]));
    assert_eq!(found.header("content-type"), Some("application/json"));
    let etag = format!("\"{digest}\"");
    assert_eq!(found.header("etag"), Some(&*etag));
    let again = Request::get(URI).header(header::IF_NONE_MATCH, &etag);
    let again = server.send(again.body(Body::empty()).expect("a request")).await;
    assert_eq!((again.status, again.bytes.len()), (304, 0));
    put(&server, &format!("{URI}?media_type=text/plain"), None, b"other").await.ok();
    let replaced = server.get(URI).await;
    assert_eq!((&*replaced.bytes, replaced.header("content-type")), (&b"other"[..], Some("text/plain")));
}

#[tokio::test]
async fn what_nobody_names_a_type_for_is_plain_bytes_and_never_a_page() {
    let server = Server::new();
    put(&server, URI, None, b"").await.ok();
    let found = server.get(URI).await;
    assert_eq!(found.header("content-type"), Some("application/octet-stream"));
    put(&server, URI, Some("text/html"), b"<script>").await.ok();
    assert_eq!(server.get(URI).await.header("content-disposition"), Some("attachment"));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let server = Server::new();
    assert_eq!(server.get(URI).await.refused(), (404, "object_not_found".to_owned()));
    for media_type in ["html", "a%0Ab/c", "%C3%A9/x"] {
        let refused = put(&server, &format!("{URI}?media_type={media_type}"), None, b"x").await;
        assert_eq!(refused.refused(), (422, "parameter_invalid".to_owned()), "{media_type}");
    }
    let long = format!("/api/internal/objects/{}", "x".repeat(2000));
    assert_eq!(put(&server, &long, None, b"x").await.refused(), (422, "parameter_invalid".to_owned()));
    let large = put(&server, URI, None, &vec![0; (64 << 20) + 1]).await;
    assert_eq!(large.refused(), (413, "body_too_large".to_owned()));
}

#[tokio::test]
async fn a_value_kept_as_an_object_is_resolved_by_its_address() {
    let server = Server::new();
    let uri = "/api/internal/objects/noetl/cell=local-0/execution=7/results/load/0/3/1.json";
    put(&server, uri, Some("application/json"), b"{\"rows\": 12}").await.ok();
    let resolve = async |reference: &str| server.get(&format!("/api/result/resolve?ref={reference}")).await;
    let found = resolve("noetl://default/default/results/7/load/0/3/1").await.ok();
    assert_eq!(found, json!({"rows": 12}));
    let missing = resolve("noetl://default/default/results/7/load/0/3/2").await;
    assert_eq!(missing.refused(), (404, "result_not_found".to_owned()));
    for unknown in
        ["noetl://a/b/results/7/load", "noetl://a/b/results/x/load/0/3/1", "noetl:///b/results/7/l/0/3/1"]
    {
        assert_eq!(resolve(unknown).await.refused().0, 400, "{unknown}");
    }
}
