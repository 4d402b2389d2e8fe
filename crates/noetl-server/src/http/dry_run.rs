//! What a run of a playbook would do, for those who write it.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use noetl_api::ErrorBody;
use noetl_api::dry_run::{DryRun, DryRunRequest, FirstCall, FirstStep, Needs};
use noetl_dsl::Plan;
use noetl_engine::pipeline::TaskCall;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::{App, Error};

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Viewer, OpenApiRouter::new().routes(routes!(dry_run)))
}

/// What a run of a playbook would do first, without doing it
///
/// Of a playbook of the catalog, or of a text, which is not registered for it. Nothing is recorded, no tool is called and no
/// credential is looked up.
#[utoipa::path(post, path = "/api/catalog/dry-run", tag = "catalog", request_body = DryRunRequest,
    responses((status = 200, body = DryRun), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn dry_run(State(app): State<App>, Json(request): Json<DryRunRequest>) -> Result<Json<DryRun>, Error> {
    let plan = app.plan_of_document(request.catalog_id.map(|id| id.0), request.content.as_deref()).await?;
    let found = app.dry_run(&plan, request.payload, request.entry.as_deref())?;
    Ok(Json(of(&plan, found)))
}

fn of(plan: &Plan, found: noetl_engine::DryRun) -> DryRun {
    let unreachable = plan.steps.iter().enumerate().filter(|(index, _)| !plan.graph.is_reachable(*index));
    DryRun {
        path: plan.path.to_string(),
        workload: found.started.workload.clone(),
        entry: found.started.entry.as_deref().unwrap_or_default().to_owned(),
        unreachable: unreachable.map(|(_, step)| step.name.to_string()).collect(),
        needs: Needs {
            tools: texts(&found.needs.tools),
            credentials: texts(&found.needs.credentials),
            playbooks: texts(&found.needs.playbooks),
        },
        first: found.first.into_iter().map(of_step).collect(),
    }
}

fn texts(names: &BTreeSet<Arc<str>>) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn of_step(first: noetl_engine::FirstStep) -> FirstStep {
    FirstStep {
        step: first.step.to_string(),
        calls: first.calls.into_iter().map(of_call).collect(),
        error: first.error.map(|error| error.message.to_string()),
    }
}

pub fn of_call(call: TaskCall) -> FirstCall {
    FirstCall {
        label: call.label.to_string(),
        kind: call.kind.to_string(),
        line: call.line,
        settings: call.config,
        input: call.input,
        code: call.code.map(|(code, _)| code.to_string()),
    }
}
