//! The description of the API: it says what the routes do, and there is a page to read it.

use axum::body::Body;
use axum::http::Request;

use crate::support::Server;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// A path of the document with something in its variable parts.
fn filled(path: &str) -> String {
    let parts: Vec<&str> =
        path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect();
    parts.join("/")
}

async fn code_of(server: &Server, method: &str, path: &str) -> Option<String> {
    let request =
        Request::builder().method(&*method.to_uppercase()).uri(path).body(Body::empty()).expect("a request");
    // Streams do not end by themselves, so only the head of the answer is awaited.
    let response = server.head(request).await;
    if response.status().is_success() {
        return None;
    }
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
    let body: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
    body["code"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn every_documented_operation_exists_and_the_others_do_not() {
    let server = Server::new();
    let document = server.get("/api/openapi.json").await.ok();
    assert!(document["openapi"].as_str().expect("a version").starts_with("3.1"));
    let paths = document["paths"].as_object().expect("paths");
    assert!(paths.len() > 40, "{}", paths.len());
    for (path, item) in paths {
        for method in METHODS {
            let code = code_of(&server, method, &filled(path)).await;
            let exists = !matches!(code.as_deref(), Some("route_not_found" | "method_not_allowed"));
            if item.get(method).is_some() {
                assert!(exists, "{method} {path} is documented and does not exist: {code:?}");
            } else if !answered_by_another(paths, path, method) {
                assert!(!exists, "{method} {path} exists and is not documented: {code:?}");
            }
        }
    }
    for path in ["/", "/api", "/api/nothing", "/api/catalog", "/api/catalog/a/b"] {
        assert_eq!(code_of(&server, "get", path).await.as_deref(), Some("route_not_found"), "{path}");
    }
}

#[tokio::test]
async fn every_operation_has_a_name_of_its_own() {
    let document = Server::new().get("/api/openapi.json").await.ok();
    let paths = document["paths"].as_object().expect("paths");
    let mut names = std::collections::BTreeSet::new();
    for operation in paths.values().flat_map(|item| METHODS.into_iter().filter_map(|method| item.get(method)))
    {
        let name = operation["operationId"].as_str().expect("a name");
        assert!(names.insert(name), "{name} is there twice");
    }
    assert!(names.contains("get_api_executions_id_status"), "{names:?}");
}

/// Where the parts of a path vary, a request may belong to another documented path: `/api/result/1` to `/api/result/{id}`.
fn answered_by_another(paths: &serde_json::Map<String, serde_json::Value>, path: &str, method: &str) -> bool {
    let request = filled(path);
    let request: Vec<&str> = request.split('/').collect();
    paths.iter().filter(|(other, item)| *other != path && item.get(method).is_some()).any(|(other, _)| {
        let other: Vec<&str> = other.split('/').collect();
        other.len() == request.len()
            && other.iter().zip(&request).all(|(known, given)| known.starts_with('{') || known == given)
    })
}

#[tokio::test]
async fn every_operation_says_what_it_does_and_what_it_may_answer() {
    let server = Server::new();
    let document = server.get("/api/openapi.json").await.ok();
    let mut ids = std::collections::BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let place = format!("{method} {path}");
            assert!(operation["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{place}");
            assert!(operation["tags"][0].is_string(), "{place}");
            assert!(operation["responses"]["400"].is_object(), "{place}");
            for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
                assert!(
                    parameters.iter().any(|known| known["name"] == name && known["in"] == "path"),
                    "{place}: {name}"
                );
            }
            ids.insert(place);
        }
    }
    assert!(!ids.is_empty());
}

#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere() {
    let server = Server::new();
    let page = server.get("/api/docs").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").expect("a policy").to_owned();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(
        !page.text.contains("<script>") && !page.text.contains("style="),
        "all script and style is in files"
    );
    for (file, media_type) in
        [("docs.css", "text/css; charset=utf-8"), ("docs.js", "text/javascript; charset=utf-8")]
    {
        let uri = format!("/api/docs/{file}");
        assert!(page.text.contains(&uri));
        let found = server.get(&uri).await;
        assert_eq!((found.status, found.header("content-type")), (200, Some(media_type)));
        assert!(!found.text.contains("http://") && !found.text.contains("https://"), "{file}");
    }
}
