//! What a playbook consists of, for those who draw it.

use axum::extract::State;
use noetl_api::ErrorBody;
use noetl_api::outline::{Outline, OutlineArc, OutlineRequest, OutlineRule, OutlineStep, OutlineTask};
use noetl_dsl::plan::{Action, Arc_, LoopMode, Plan, Rule, Step, Target, Task};
use noetl_types::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::{App, Error};

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Viewer, OpenApiRouter::new().routes(routes!(outline)))
}

/// The steps of a playbook and what leads from one to another
///
/// Of a playbook of the catalog, or of a text, which is not registered for it.
#[utoipa::path(post, path = "/api/catalog/outline", tag = "catalog", request_body = OutlineRequest,
    responses((status = 200, body = Outline), (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn outline(
    State(app): State<App>,
    Json(request): Json<OutlineRequest>,
) -> Result<Json<Outline>, Error> {
    let plan = app.plan_of_document(request.catalog_id.map(|id| id.0), request.content.as_deref()).await?;
    Ok(Json(of(&plan)))
}

fn of(plan: &Plan) -> Outline {
    let name = |index: usize| plan.steps[index].name.to_string();
    Outline {
        entry: name(plan.executor.entry),
        final_step: plan.executor.final_step.map(name),
        steps: plan.steps.iter().map(|step| of_step(step, plan)).collect(),
    }
}

fn of_step(step: &Step, plan: &Plan) -> OutlineStep {
    OutlineStep {
        name: step.name.to_string(),
        desc: step.desc.as_deref().map(str::to_owned),
        line: step.line,
        looping: step.looping.as_ref().map(|looping| mode(looping.mode).to_owned()),
        tasks: step.tasks.iter().map(of_task).collect(),
        inclusive: step.router.inclusive,
        arcs: step.router.arcs.iter().map(|arc| of_arc(arc, plan)).collect(),
    }
}

fn mode(mode: LoopMode) -> &'static str {
    match mode {
        LoopMode::Sequential => "sequential",
        LoopMode::Parallel => "parallel",
        LoopMode::Cursor => "cursor",
    }
}

fn of_task(task: &Task) -> OutlineTask {
    OutlineTask {
        label: task.label.to_string(),
        kind: task.kind.to_string(),
        line: task.line,
        code_line: task.code.as_ref().map(|code| code.line),
        rules: task.rules.iter().map(of_rule).collect(),
    }
}

fn of_rule(rule: &Rule) -> OutlineRule {
    let action = match rule.action {
        Action::Continue => "continue",
        Action::Retry(_) => "retry",
        Action::Break => "break",
        Action::Jump(_) => "jump",
        Action::Fail => "fail",
    };
    OutlineRule {
        line: rule.line,
        when: rule.when.as_ref().map(|when| written(when.source())),
        action: action.to_owned(),
    }
}

fn of_arc(arc: &Arc_, plan: &Plan) -> OutlineArc {
    let to = match arc.target {
        Target::Step(index) => plan.steps[index].name.to_string(),
        Target::End => "end".to_owned(),
    };
    OutlineArc { to, line: arc.line, when: arc.when.as_ref().map(|when| written(when.source())) }
}

/// A condition as its author wrote it.
fn written(condition: &Value) -> String {
    match condition {
        Value::Text(text) => text.to_string(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
