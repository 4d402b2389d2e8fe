//! Starting runs.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use futures_util::StreamExt;
use futures_util::stream;
use noetl_api::execute::{
    ExecuteBatchRequest, ExecuteRequest, Executed, ExecutedBatch, ExecutedItem, Outcome, WaitParameters,
};
use noetl_api::{ErrorBody, Id};
use noetl_store::ExecutionRow;
use noetl_types::{ExecutionId, Map, RunTrace, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::catalog::reference;
use super::extract::{Json, Query};
use super::gate::Recorded;
use super::guard::{Caller, Scope, only};
use crate::app::execute::{Once, Start, Started};
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Operator, OpenApiRouter::new().routes(routes!(execute)).routes(routes!(execute_batch)))
}

/// Run a playbook
///
/// Answers once the start is durable, or with `wait` once the execution has ended.
#[utoipa::path(post, path = "/api/execute", tag = "execute", params(WaitParameters), request_body = ExecuteRequest,
    responses((status = 200, body = Executed), (status = 404, body = ErrorBody)))]
async fn execute(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Query(parameters): Query<WaitParameters>,
    Json(request): Json<ExecuteRequest>,
) -> Result<(Option<Extension<Recorded>>, Json<Executed>), Error> {
    let start = start(request, &caller, trace_of(&headers))?;
    let (started, ended) = match patience(&parameters) {
        Some(wait) => app.execute_and_wait(start, wait).await?,
        None => (app.execute(start).await?, None),
    };
    let answer = Executed {
        execution_id: Id(started.execution.0),
        status: word(&started).to_owned(),
        commands_generated: started.commands,
        path: started.playbook.path.to_string(),
        version: started.playbook.version,
        catalog_id: Id(started.playbook.catalog_id),
        outcome: ended.map(outcome),
    };
    Ok(((!started.is_duplicate).then_some(Extension(Recorded)), Json(answer)))
}

/// The longest time for which a request waits.
const LONGEST_WAIT: u32 = 60;

/// How long the request is to wait, if at all.
pub fn patience(parameters: &WaitParameters) -> Option<Duration> {
    let seconds = parameters.wait.filter(|seconds| *seconds > 0)?;
    Some(Duration::from_secs(seconds.min(LONGEST_WAIT).into()))
}

fn outcome(ended: ExecutionRow) -> Outcome {
    let micros = ended.ended_at.map_or(0, |at| at.0 - ended.started_at.0);
    Outcome {
        status: ended.status.as_str().to_owned(),
        result: ended.result,
        error: ended.error,
        duration_seconds: micros as f64 / 1e6,
    }
}

fn word(started: &Started) -> &'static str {
    if started.is_duplicate { "duplicate" } else { "started" }
}

/// Run many playbooks; each stands for itself
#[utoipa::path(post, path = "/api/execute/batch", tag = "execute", request_body = ExecuteBatchRequest,
    responses((status = 200, body = ExecutedBatch)))]
async fn execute_batch(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    Json(request): Json<ExecuteBatchRequest>,
) -> Result<(Option<Extension<Recorded>>, Json<ExecutedBatch>), Error> {
    const MOST: usize = 1000;
    if request.executions.is_empty() || request.executions.len() > MOST {
        return Err(Error::new(Code::BodyInvalid, format!("a batch has 1 to {MOST} starts")));
    }
    // Starts that go into the drive loop together become durable together.
    const AT_ONCE: usize = 64;
    let trace = trace_of(&headers);
    let starts = request.executions.into_iter().map(async |request| {
        let start = start(request, &caller, trace.clone())?;
        app.execute(start).await
    });
    let starts = stream::iter(starts);
    let outcomes: Vec<_> = starts.buffered(AT_ONCE).collect().await;
    let results: Vec<ExecutedItem> =
        outcomes.into_iter().enumerate().map(|(index, outcome)| item(index, outcome)).collect();
    let count = |status: &str| results.iter().filter(|item| item.status == status).count();
    let started = count("started");
    let recorded = (started == results.len()).then_some(Extension(Recorded));
    let (duplicates, failed) = (count("duplicate"), count("error"));
    Ok((recorded, Json(ExecutedBatch { count: results.len(), started, duplicates, failed, results })))
}

fn item(index: usize, outcome: Result<Started, Error>) -> ExecutedItem {
    match outcome {
        Ok(started) => ExecutedItem {
            index,
            status: word(&started).to_owned(),
            execution_id: Some(Id(started.execution.0)),
            commands_generated: started.commands,
            error: None,
            code: None,
        },
        Err(error) => ExecutedItem {
            index,
            status: "error".to_owned(),
            execution_id: None,
            commands_generated: 0,
            code: Some(error.code.name().to_owned()),
            error: Some(error.message),
        },
    }
}

/// The trace that a request is a part of, by the headers that W3C gives for it.
fn trace_of(headers: &HeaderMap) -> Option<Value> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let parent = text("traceparent").filter(|parent| RunTrace::parse(parent).is_some())?;
    let mut context = Map::new();
    context.insert("traceparent".into(), parent.into());
    if let Some(state) = text("tracestate") {
        context.insert("tracestate".into(), state.into());
    }
    Some(context.into())
}

/// What a request asks for. The trace in the body counts more than that of the request.
fn start(request: ExecuteRequest, caller: &Caller, trace: Option<Value>) -> Result<Start, Error> {
    Ok(Start {
        playbook: reference(request.catalog_id, request.path, request.version)?,
        payload: request.payload.or(request.workload).or(request.args).unwrap_or(Value::Null),
        entry: request.entry.map(Into::into),
        also_at: Vec::new(),
        rerun_of: None,
        parent: request.parent_execution_id.map(|parent| ExecutionId(parent.0)),
        pool: request.execution_pool.filter(|pool| !pool.is_empty()),
        trace: request.trace.or(trace),
        once: request
            .dedup
            .map(|dedup| Once { key: dedup.key, window: Duration::from_secs(dedup.window_secs) }),
        asked_by: Some(caller.name.clone()),
    })
}
