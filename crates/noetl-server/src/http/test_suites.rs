//! Test suites of playbooks. Their ids may contain slashes, so one route takes them all.

use axum::extract::State;
use axum::routing::get;
use noetl_api::ErrorBody;
use noetl_api::test_suite::{PutTestSuite, TestSuite, TestSuiteDeleted, TestSuites};
use noetl_store::TestSuite as Stored;
use noetl_types::{Map, Value};
use serde::Deserialize;
use utoipa::{IntoParams, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Path, Query};
use super::guard::{Scope, only};
use crate::app::{App, Code, Error};

#[derive(OpenApi)]
#[openapi(paths(one, put, delete))]
struct Documented;

pub fn router() -> OpenApiRouter<App> {
    let by_id = get(one).put(put).delete(delete);
    let routes = OpenApiRouter::with_openapi(Documented::openapi())
        .route("/api/playbook-tests/suites/{*id}", by_id)
        .routes(routes!(list));
    only(Scope::Operator, routes)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// Only those of one playbook.
    playbook_path: Option<String>,
}

/// All test suites
#[utoipa::path(get, path = "/api/playbook-tests/suites", tag = "test suites", params(Which),
    responses((status = 200, body = TestSuites)))]
async fn list(State(app): State<App>, Query(which): Query<Which>) -> Result<Json<TestSuites>, Error> {
    let found = app.store().list_test_suites(which.playbook_path.as_deref()).await?;
    Ok(Json(TestSuites { suites: found.into_iter().map(suite).collect() }))
}

/// One test suite
#[utoipa::path(get, path = "/api/playbook-tests/suites/{id}", tag = "test suites",
    params(("id" = String, Path, description = "it may contain slashes")),
    responses((status = 200, body = TestSuite), (status = 404, body = ErrorBody)))]
async fn one(State(app): State<App>, Path(id): Path<String>) -> Result<Json<TestSuite>, Error> {
    app.get_test_suite(&id).await.map(suite).map(Json)
}

/// Keep a test suite; one of the same id is replaced
#[utoipa::path(put, path = "/api/playbook-tests/suites/{id}", tag = "test suites", request_body = PutTestSuite,
    params(("id" = String, Path, description = "it may contain slashes")),
    responses((status = 200, body = TestSuite)))]
async fn put(
    State(app): State<App>,
    Path(id): Path<String>,
    Json(request): Json<PutTestSuite>,
) -> Result<Json<TestSuite>, Error> {
    let metadata = match request.metadata {
        Value::Null => Value::from(Map::new()),
        Value::Map(map) => Value::Map(map),
        _ => return Err(Error::new(Code::BodyInvalid, "'metadata' is not an object")),
    };
    let stored = Stored {
        id: id.into(),
        file_path: request.file_path,
        playbook_path: request.playbook_path.into(),
        tests: Value::from(request.tests),
        metadata,
        updated_at: app.now(),
    };
    app.put_test_suite(stored).await.map(suite).map(Json)
}

/// Remove a test suite
#[utoipa::path(delete, path = "/api/playbook-tests/suites/{id}", tag = "test suites",
    params(("id" = String, Path, description = "it may contain slashes")),
    responses((status = 200, body = TestSuiteDeleted), (status = 404, body = ErrorBody)))]
async fn delete(State(app): State<App>, Path(id): Path<String>) -> Result<Json<TestSuiteDeleted>, Error> {
    app.delete_test_suite(&id).await?;
    Ok(Json(TestSuiteDeleted { suite_id: id, deleted: true }))
}

fn suite(stored: Stored) -> TestSuite {
    TestSuite {
        suite_id: stored.id.to_string(),
        file_path: stored.file_path,
        playbook_path: stored.playbook_path.to_string(),
        tests: stored.tests.as_list().cloned().unwrap_or_default(),
        metadata: stored.metadata,
        updated_at: stored.updated_at.to_string(),
    }
}
