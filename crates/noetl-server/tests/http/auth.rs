use std::sync::Arc;

use axum::http::Method;
use futures_util::future::BoxFuture;
use noetl_server::app::Scope;
use noetl_server::http::{Auth, HttpConfig, Identities, Identity, SecretText, Unproven};
use serde_json::{Value, json};

use crate::support::{Answer, Server, request, with};

fn locked() -> HttpConfig {
    HttpConfig { auth: Auth::Tokens, ..HttpConfig::default() }
}

async fn ask(server: &Server, token: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let bearer = format!("Bearer {token}");
    server.send(with(request(method, path, body), &[("authorization", &bearer)])).await
}

#[tokio::test]
async fn without_a_token_only_what_is_for_everybody_answers() {
    let server = Server::behind(locked());
    for path in ["/health", "/api/health", "/api/openapi.json"] {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }
    for path in ["/api/credentials", "/api/tokens", "/api/audit", "/metrics", "/api/status"] {
        let answer = server.get(path).await;
        assert_eq!(answer.headers["www-authenticate"], "Bearer realm=\"noetl\"", "{path}");
        assert_eq!(answer.refused(), (401, "not_authenticated".to_owned()), "{path}");
    }
    assert_eq!(server.get("/api/nowhere").await.status, 404);
}

#[tokio::test]
async fn a_token_opens_what_its_scope_covers() {
    let server = Server::behind(locked());
    let put = json!({"name": "a", "type": "bearer", "data": {"token": "hush-7"}});
    for (scope, reads, writes, sees, manages) in [
        (Scope::Viewer, 200, 403, 403, 403),
        (Scope::Operator, 200, 200, 403, 403),
        (Scope::Worker, 200, 200, 200, 403),
        (Scope::Admin, 200, 200, 200, 200),
    ] {
        let admin = server.token(Scope::Admin).await;
        ask(&server, &admin, Method::POST, "/api/credentials", Some(put.clone())).await.ok();
        let token = server.token(scope).await;
        let status = async |method, path, body| ask(&server, &token, method, path, body).await.status;
        assert_eq!(status(Method::GET, "/api/credentials", None).await, reads, "{scope:?}");
        assert_eq!(status(Method::POST, "/api/credentials", Some(put.clone())).await, writes, "{scope:?}");
        assert_eq!(
            status(Method::GET, "/api/credentials/a?include_data=true", None).await,
            sees,
            "{scope:?}"
        );
        assert_eq!(status(Method::GET, "/api/tokens", None).await, manages, "{scope:?}");
        assert_eq!(status(Method::GET, "/api/config", None).await, manages, "{scope:?}");
    }
}

#[tokio::test]
async fn a_wrong_token_is_refused_everywhere() {
    let server = Server::behind(locked());
    for header in ["Bearer nonsense", "Bearer ", "Basic YTpi", "noetl_x"] {
        for path in ["/api/credentials", "/api/health"] {
            let answer =
                server.send(with(request(Method::GET, path, None), &[("authorization", header)])).await;
            assert_eq!(answer.refused(), (401, "not_authenticated".to_owned()), "{header} {path}");
        }
    }
}

#[tokio::test]
async fn a_token_ends_when_it_expires_and_when_it_is_revoked() {
    let server = Server::behind(locked());
    let admin = server.token(Scope::Admin).await;
    let make = json!({"name": "ci", "scopes": ["viewer"], "expires_in": 60});
    let made = ask(&server, &admin, Method::POST, "/api/tokens", Some(make.clone())).await.ok();
    let token = made["token"].as_str().expect("a secret").to_owned();
    assert_eq!(ask(&server, &token, Method::GET, "/api/credentials", None).await.status, 200);
    server.clock.set(server.app.now().after(std::time::Duration::from_secs(60)));
    assert_eq!(ask(&server, &token, Method::GET, "/api/credentials", None).await.status, 401);

    let made = ask(&server, &admin, Method::POST, "/api/tokens", Some(make)).await.ok();
    let token = made["token"].as_str().expect("a secret").to_owned();
    assert_eq!(ask(&server, &token, Method::GET, "/api/credentials", None).await.status, 200);
    let path = format!("/api/tokens/{}", made["id"].as_str().expect("an id"));
    ask(&server, &admin, Method::DELETE, &path, None).await.ok();
    assert_eq!(ask(&server, &token, Method::GET, "/api/credentials", None).await.status, 401, "at once");
}

#[tokio::test]
async fn tokens_of_the_configuration_open_too() {
    let config = HttpConfig {
        admin_token: Some(SecretText::new("the-admin")),
        internal_token: Some(SecretText::new("the-worker")),
        ..locked()
    };
    let server = Server::behind(config);
    let status = async |token, path| ask(&server, token, Method::GET, path, None).await.status;
    assert_eq!(status("the-admin", "/api/tokens").await, 200);
    assert_eq!(status("the-worker", "/api/tokens").await, 403);
    assert_eq!(status("the-worker", "/api/credentials").await, 200);
    assert_eq!(status("the-worke", "/api/credentials").await, 401);
}

#[tokio::test]
async fn internal_routes_need_the_internal_token_or_the_scope_of_workers() {
    const PATH: &str = "/api/internal/anything";
    let closed = Server::behind(locked());
    assert_eq!(closed.get(PATH).await.refused(), (503, "internal_token_missing".to_owned()));
    let wrong = ask(&closed, "outside", Method::GET, PATH, None).await;
    assert_eq!(wrong.refused(), (401, "not_authenticated".to_owned()));
    let worker = closed.token(Scope::Worker).await;
    assert_eq!(ask(&closed, &worker, Method::GET, PATH, None).await.status, 404, "it is let through");

    for auth in [Auth::None, Auth::Tokens] {
        let config =
            HttpConfig { auth, internal_token: Some(SecretText::new("inside")), ..HttpConfig::default() };
        let server = Server::behind(config);
        assert_eq!(server.get(PATH).await.refused(), (403, "forbidden".to_owned()), "{auth:?}");
        let wrong = ask(&server, "outside", Method::GET, PATH, None).await;
        assert_eq!(wrong.refused(), (403, "forbidden".to_owned()), "{auth:?}");
        assert_eq!(ask(&server, "inside", Method::GET, PATH, None).await.status, 404, "{auth:?}");
    }
    assert_eq!(Server::new().get(PATH).await.status, 404, "without any login it is open");
}

/// Knows people whose token says their name and their scope.
#[derive(Debug)]
struct Elsewhere;

impl Identities for Elsewhere {
    fn identify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Identity, Unproven>> {
        let answer = match token.split('.').collect::<Vec<_>>()[..] {
            ["down", ..] => Err(Unproven::Unavailable("it is down".to_owned())),
            [name, "knows", scope] => {
                let scopes = Scope::find(scope).into_iter().collect();
                Ok(Identity { name: format!("oidc:{name}"), scopes })
            }
            _ => Err(Unproven::Refused("the token has expired".to_owned())),
        };
        Box::pin(async move { answer })
    }
}

#[tokio::test]
async fn whom_another_program_vouches_for_may_do_what_it_says() {
    let server = Server::behind(HttpConfig { identities: Some(Arc::new(Elsewhere)), ..locked() });
    let get = async |token: &str, path| ask(&server, token, Method::GET, path, None).await;
    assert_eq!(get("ann.knows.viewer", "/api/credentials").await.status, 200);
    assert_eq!(get("ann.knows.viewer", "/api/tokens").await.refused(), (403, "forbidden".to_owned()));
    assert_eq!(get("ann.knows.nothing", "/api/credentials").await.refused(), (403, "forbidden".to_owned()));
    assert_eq!(get("bob.knows.admin", "/api/tokens").await.status, 200);
    assert_eq!(get("w.knows.worker", "/api/internal/anything").await.status, 404, "it is let through");

    let refused = get("ann.knew.viewer", "/api/credentials").await;
    assert_eq!(refused.json()["error"], "the token has expired");
    assert_eq!(refused.refused(), (401, "not_authenticated".to_owned()));
    let unknown = get("down.knows.viewer", "/api/credentials").await;
    assert_eq!(unknown.headers["retry-after"], "10");
    assert_eq!(unknown.refused(), (503, "issuer_unavailable".to_owned()));

    let own = server.token(Scope::Viewer).await;
    assert_eq!(get(&own, "/api/credentials").await.status, 200, "tokens of the server count besides");
    let put = json!({"name": "a", "type": "bearer", "data": {"token": "hush-7"}});
    ask(&server, "cy.knows.operator", Method::POST, "/api/credentials", Some(put)).await.ok();
    let trail = get("bob.knows.admin", "/api/audit").await.ok();
    assert!(trail.to_string().contains("oidc:cy"), "{trail}");
}

#[tokio::test]
async fn nobody_is_asked_about_tokens_where_nobody_logs_in() {
    let config = HttpConfig { identities: Some(Arc::new(Elsewhere)), ..HttpConfig::default() };
    let server = Server::behind(config);
    assert_eq!(ask(&server, "down.knows.viewer", Method::GET, "/api/credentials", None).await.status, 200);
}
