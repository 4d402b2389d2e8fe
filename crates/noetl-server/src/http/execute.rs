//! Starting runs.

use axum::extract::State;
use noetl_api::execute::{ExecuteRequest, Executed};
use noetl_api::{ErrorBody, Id};
use noetl_types::{ExecutionId, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::catalog::reference;
use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::execute::{Start, Started};
use crate::app::{App, Error};

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Operator, OpenApiRouter::new().routes(routes!(execute)))
}

/// Run a playbook
///
/// Answers once the start is durable.
#[utoipa::path(post, path = "/api/execute", tag = "execute", request_body = ExecuteRequest,
    responses((status = 200, body = Executed), (status = 404, body = ErrorBody)))]
async fn execute(
    State(app): State<App>,
    Json(request): Json<ExecuteRequest>,
) -> Result<Json<Executed>, Error> {
    let Started { execution, playbook, commands } = app.execute(start(request)?).await?;
    Ok(Json(Executed {
        execution_id: Id(execution.0),
        status: "started".to_owned(),
        commands_generated: commands,
        path: playbook.path.to_string(),
        version: playbook.version,
        catalog_id: Id(playbook.catalog_id),
    }))
}

/// What a request asks for.
fn start(request: ExecuteRequest) -> Result<Start, Error> {
    Ok(Start {
        playbook: reference(request.catalog_id, request.path, request.version)?,
        payload: request.payload.or(request.workload).or(request.args).unwrap_or(Value::Null),
        entry: request.entry.map(Into::into),
        parent: request.parent_execution_id.map(|parent| ExecutionId(parent.0)),
        pool: request.execution_pool.filter(|pool| !pool.is_empty()),
        trace: request.trace,
    })
}
