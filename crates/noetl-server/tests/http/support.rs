//! A server in this process and the requests of its clients.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, header};
use http_body_util::BodyExt;
use noetl_engine::Input;
use noetl_server::app::tokens::NewToken;
use noetl_server::app::{App, Builder, Scope};
use noetl_server::catalog::Playbooks;
use noetl_server::clock::{Clock, ManualClock};
use noetl_server::drive::{Dispatched, Drive, DriveConfig, WorkQueue};
use noetl_server::http::HttpConfig;
use noetl_server::ids::IdSource;
use noetl_server::vault::{MasterKey, Vault};
use noetl_store::MemoryStore;
use noetl_types::{ExecutionId, Outcome, Report, Timestamp};
use serde_json::{Value, json};
use tower::ServiceExt;

/// When tests begin.
pub const START: Timestamp = Timestamp(1_800_000_000_000_000);

/// A server with its store and its clock.
#[allow(dead_code, reason = "each resource uses its part")]
pub struct Server {
    pub app: App,
    pub clock: Arc<ManualClock>,
    pub store: MemoryStore,
    pub queue: WorkQueue,
    router: Router,
}

#[allow(dead_code, reason = "each resource uses its part")]
impl Server {
    pub fn new() -> Server {
        Server::over(MemoryStore::default(), |builder| builder)
    }

    /// A server with another gate.
    pub fn behind(config: HttpConfig) -> Server {
        Server::made(MemoryStore::default(), |builder| builder, &config, DriveConfig::default())
    }

    /// A server with another drive loop.
    pub fn driven(config: DriveConfig) -> Server {
        Server::made(MemoryStore::default(), |builder| builder, &HttpConfig::default(), config)
    }

    /// A server on a store that may be shared with others, with more to it.
    pub fn over(store: MemoryStore, equip: impl FnOnce(Builder) -> Builder) -> Server {
        Server::made(store, equip, &HttpConfig::default(), DriveConfig::default())
    }

    fn made(
        store: MemoryStore,
        equip: impl FnOnce(Builder) -> Builder,
        config: &HttpConfig,
        driving: DriveConfig,
    ) -> Server {
        let clock = Arc::new(ManualClock::at(START));
        let time: Arc<dyn Clock> = clock.clone();
        let ids = Arc::new(IdSource::new(time.clone(), 0));
        let playbooks = Playbooks::new(Arc::new(store.clone()), ids.clone(), time.clone());
        let queue = WorkQueue::new("worker");
        let drive =
            Drive::spawn(driving, Arc::new(store.clone()), playbooks, time, ids, Arc::new(queue.clone()));
        let vault = Vault::new(MasterKey::new("test", [7; 32]), Vec::new());
        let app = equip(App::builder(drive, "0.0.0-test").vault(Some(vault))).build();
        let router = noetl_server::http::router_with(app.clone(), config, noetl_server::http::no_pages);
        Server { app, clock, store, queue, router }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, None)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(request(Method::POST, path, Some(body))).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(request(Method::PUT, path, Some(body))).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(request(Method::DELETE, path, None)).await
    }

    /// The beginning of an answer, whose body may have no end.
    pub async fn head(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.expect("a router always answers")
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.head(request).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("a whole body").to_bytes();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
        }
    }

    /// Registers a document and gives the answer.
    pub async fn register_text(&self, content: &str) -> Value {
        self.post("/api/catalog/register", json!({ "content": content })).await.ok()
    }

    /// Starts a run of a path.
    pub async fn start(&self, path: &str) -> ExecutionId {
        let started = self.post("/api/execute", json!({ "path": path })).await.ok();
        let id = started["execution_id"].as_str().expect("ids come as text");
        ExecutionId(id.parse().expect("an id"))
    }

    /// Takes the next command and ends it with a result.
    pub async fn work(&self, result: noetl_types::Value) -> Dispatched {
        let taken = self.queue.queue.take(&["shared".into()], 1).await.remove(0);
        let outcome = Outcome::finished(Report::success(result));
        let input = Input::Ended { command: taken.command.key, attempt: taken.command.attempt, outcome };
        self.app.drive().input(taken.command.execution, input).await.expect("the outcome counts");
        taken
    }

    /// A token with this scope.
    pub async fn token(&self, scope: Scope) -> String {
        let new = NewToken { name: scope.name().to_owned(), scopes: vec![scope], expires_at: None };
        self.app.create_token(new).await.expect("a token").secret
    }

    /// Registers a playbook of this path and returns its catalog id.
    pub async fn register(&self, path: &str, rest: &str) -> String {
        let content = format!(
            "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: {path}, path: {path}}}\n{rest}"
        );
        let answer = self.post("/api/catalog/register", json!({"content": content})).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["catalog_id"].as_str().expect("an id").to_owned()
    }
}

/// A playbook of one step that a worker has to run.
pub fn playbook(path: &str) -> String {
    format!(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: flow, path: {path}}}\n\
         workload: {{name: world}}\nworkflow:\n  - step: start\n    tool: {{kind: python, code: pass}}\n"
    )
}

/// A request as clients send it; a body is JSON.
pub fn request(method: Method, path: &str, body: Option<Value>) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    match body {
        Some(body) => {
            request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_string()))
        }
        None => request.body(Body::empty()),
    }
    .expect("a valid request")
}

/// A request with more headers.
pub fn with(mut request: Request<Body>, headers: &[(&str, &str)]) -> Request<Body> {
    for (name, value) in headers {
        let name: axum::http::HeaderName = name.parse().expect("the name of a header");
        request.headers_mut().insert(name, value.parse().expect("the value of a header"));
    }
    request
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    #[allow(dead_code, reason = "most tests look at the body only")]
    pub headers: HeaderMap,
    pub text: String,
    #[allow(dead_code, reason = "most answers are text")]
    pub bytes: Bytes,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The JSON of a success.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        self.json()
    }

    /// The status and code of a refusal, whose body has the shape of all refusals.
    pub fn refused(&self) -> (u16, String) {
        let body = self.json();
        assert_eq!(body["status"], self.status, "{body}");
        assert!(body["error"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{body}");
        (self.status, body["code"].as_str().expect("a code").to_owned())
    }
}
