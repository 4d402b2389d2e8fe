use axum::http::Method;
use noetl_server::http::{Auth, HttpConfig};
use serde_json::json;

use crate::support::{Answer, Server, request, with};

const OURS: (&str, &str) = ("host", "localhost:8082");

async fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> Answer {
    server.send(with(request(Method::GET, path, None), headers)).await
}

async fn post(server: &Server, headers: &[(&str, &str)]) -> Answer {
    let body = json!({"name": "a", "type": "b", "data": {}});
    server.send(with(request(Method::POST, "/api/credentials", Some(body)), headers)).await
}

#[tokio::test]
async fn a_page_that_makes_its_name_lead_here_is_refused() {
    let server = Server::new();
    let answer = get(&server, "/api/credentials", &[("host", "evil.example.com:8082")]).await;
    assert_eq!(answer.refused(), (403, "host_refused".to_owned()));
    for host in ["localhost:8082", "127.0.0.1:8082", "[::1]:8082"] {
        assert_eq!(get(&server, "/api/credentials", &[("host", host)]).await.status, 200, "{host}");
    }
    let named = HttpConfig { hosts: vec!["noetl.example.com".to_owned()], ..HttpConfig::default() };
    let named = Server::behind(named);
    assert_eq!(get(&named, "/api/credentials", &[("host", "noetl.example.com")]).await.status, 200);
    let locked = Server::behind(HttpConfig { auth: Auth::Tokens, ..HttpConfig::default() });
    assert_eq!(get(&locked, "/health", &[("host", "any.example.com")]).await.status, 200);
}

#[tokio::test]
async fn pages_of_other_origins_can_not_use_the_api() {
    let server = Server::new();
    for origin in ["https://evil.example.com", "null", "http://localhost:3000"] {
        let headers = [OURS, ("origin", origin)];
        assert_eq!(post(&server, &headers).await.refused(), (403, "origin_refused".to_owned()), "{origin}");
        assert_eq!(get(&server, "/api/credentials", &headers).await.status, 403, "{origin}");
        assert_eq!(get(&server, "/health", &headers).await.status, 200, "{origin}");
    }
    let same = [OURS, ("origin", "http://localhost:8082")];
    assert_eq!(post(&server, &same).await.status, 200);
    assert_eq!(post(&server, &[OURS]).await.status, 200, "programs send no origin");
}

#[tokio::test]
async fn origins_of_the_configuration_are_let_in_and_told_so() {
    const FRIEND: &str = "https://ui.example.com";
    let config = HttpConfig { cors_origins: vec![FRIEND.to_owned()], ..HttpConfig::default() };
    let server = Server::behind(config);
    let answer = post(&server, &[OURS, ("origin", FRIEND)]).await;
    assert_eq!(
        (answer.status, &answer.headers["access-control-allow-origin"]),
        (200, &FRIEND.parse().expect("text"))
    );
    assert_eq!(post(&server, &[OURS, ("origin", "https://other.example.com")]).await.status, 403);
    let question = with(
        request(Method::OPTIONS, "/api/credentials", None),
        &[
            OURS,
            ("origin", FRIEND),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization, content-type"),
        ],
    );
    let answer = server.send(question).await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.headers["access-control-allow-headers"], "authorization, content-type");
    assert!(answer.headers["access-control-allow-methods"].to_str().expect("text").contains("DELETE"));
    let anybody = HttpConfig { cors_origins: vec!["*".to_owned()], ..HttpConfig::default() };
    assert_eq!(post(&Server::behind(anybody), &[OURS, ("origin", "null")]).await.status, 200);
}
