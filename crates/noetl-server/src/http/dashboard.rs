//! Numbers for an overview.

use axum::extract::State;
use noetl_api::dashboard::{Counts, Stats, Widget};
use noetl_types::{RunStatus, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::executions::execution;
use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::dashboard::Overview;
use crate::app::{App, Error};

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Viewer, OpenApiRouter::new().routes(routes!(stats)).routes(routes!(widgets)))
}

/// How many executions there are in each status, and the newest
#[utoipa::path(get, path = "/api/dashboard/stats", tag = "dashboard", responses((status = 200, body = Stats)))]
async fn stats(State(app): State<App>) -> Result<Json<Stats>, Error> {
    let overview = app.overview().await?;
    let counts = counts(&overview);
    let now = app.now();
    Ok(Json(Stats {
        status: "success".to_owned(),
        total_playbooks: counts.total_playbooks,
        total_executions: counts.total_executions,
        active_executions: overview.count(RunStatus::Pending)
            + counts.running_executions
            + counts.paused_executions,
        success_rate: success_rate(&counts),
        recent_executions: overview.recent.iter().map(|found| execution(found, now)).collect(),
        stats: counts,
    }))
}

fn counts(overview: &Overview) -> Counts {
    Counts {
        total_executions: overview.total(),
        successful_executions: overview.count(RunStatus::Completed),
        failed_executions: overview.count(RunStatus::Failed),
        cancelled_executions: overview.count(RunStatus::Cancelled),
        running_executions: overview.count(RunStatus::Running),
        paused_executions: overview.count(RunStatus::Paused),
        total_playbooks: overview.playbooks,
        total_workers: overview.workers,
    }
}

fn success_rate(counts: &Counts) -> f64 {
    match counts.successful_executions + counts.failed_executions {
        0 => 0.0,
        ended => 100.0 * counts.successful_executions as f64 / ended as f64,
    }
}

/// The same as boxes to be laid out
#[utoipa::path(get, path = "/api/dashboard/widgets", tag = "dashboard",
    responses((status = 200, body = Vec<Widget>)))]
async fn widgets(State(app): State<App>) -> Result<Json<Vec<Widget>>, Error> {
    let overview = app.overview().await?;
    let counts = counts(&overview);
    let by_status = RunStatus::ALL.into_iter().map(|status| {
        Value::map([("label", status.as_str().into()), ("value", overview.count(status).into())])
    });
    let failures = overview.recent_failures.iter().map(|failed| {
        Value::map([
            ("execution_id", Value::text(failed.id.to_string())),
            ("path", Value::Text(failed.row.path.clone())),
            ("error", failed.row.error.clone().into()),
            ("started_at", failed.row.started_at.to_string().into()),
        ])
    });
    let metric = |id: &str, title: &str, value: Value| Widget {
        id: id.to_owned(),
        kind: "metric".to_owned(),
        title: title.to_owned(),
        data: Value::map([("value", value)]),
        config: Value::map::<&str>([]),
    };
    let rate = Widget {
        config: Value::map([("format", "percent".into())]),
        ..metric("success_rate", "Success rate", success_rate(&counts).into())
    };
    Ok(Json(vec![
        metric("executions", "Executions", counts.total_executions.into()),
        metric("running", "Running", counts.running_executions.into()),
        rate,
        metric("playbooks", "Playbooks", counts.total_playbooks.into()),
        metric("workers", "Workers", counts.total_workers.into()),
        Widget {
            id: "by_status".to_owned(),
            kind: "chart".to_owned(),
            title: "Executions by status".to_owned(),
            data: Value::list(by_status),
            config: Value::map([("chart", "bar".into())]),
        },
        Widget {
            id: "recent_failures".to_owned(),
            kind: "list".to_owned(),
            title: "Recent failures".to_owned(),
            data: Value::list(failures),
            config: Value::map::<&str>([]),
        },
    ]))
}
