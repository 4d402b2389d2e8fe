//! One execution: `GET /api/executions/{id}` and `…/status`.

use axum::extract::State;
use noetl_api::execute::WaitParameters;
use noetl_api::execution::{Detail, DetailParameters, EventsParameters, Status};
use noetl_api::{ErrorBody, Id};
use noetl_engine::Run;
use noetl_types::{ExecutionId, RunStatus, Slot, StepStatus};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::event_row::rows;
use super::events::{NEWEST, pages, query};
use super::room::{RESOLVED, Room};
use super::summary::{execution, id, place, progress, steps};
use crate::app::executions::Looked;
use crate::app::{App, Error};
use crate::http::execute::patience;
use crate::http::extract::{Json, Path, Query};

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(detail)).routes(routes!(status))
}

/// An execution with its steps and events
///
/// Without a paging parameter the newest 2,000 events come oldest first. With `page`, `page_size`, `since_event_id` or
/// `event_type` a page of them comes newest first. Values stored aside appear as references.
#[utoipa::path(get, path = "/api/executions/{id}", tag = "executions",
    params(("id" = Id, Path), DetailParameters),
    responses((status = 200, body = Detail), (status = 404, body = ErrorBody)))]
async fn detail(
    State(app): State<App>,
    Path(id): Path<Id>,
    Query(parameters): Query<DetailParameters>,
) -> Result<Json<Detail>, Error> {
    let execution_id = ExecutionId(id.0);
    let resolve = parameters.resolve.unwrap_or(false);
    let Looked { execution: found, mut run, plan } = app.look(execution_id).await?;
    if resolve {
        app.resolve(results(&mut run), RESOLVED).await?;
    }
    let mut room = Room::new(resolve);
    let mut summary = execution(&found, app.now());
    if let Some(result) = run.result() {
        summary.result = room.slot(result);
    }
    if !run.status.is_terminal() {
        let counted = progress(&run, plan.as_ref().map(|plan| plan.steps.len()));
        summary.progress = 100.0 * counted.completed_steps as f64 / counted.total_steps.max(1) as f64;
    }
    let steps = steps(&run, plan.as_deref(), &mut room);
    let workload = room.value(&run.started.workload);
    let wanted = EventsParameters {
        page: parameters.page,
        page_size: parameters.page_size,
        since_event_id: parameters.since_event_id,
        event_type: parameters.event_type,
        ..EventsParameters::default()
    };
    let included = parameters.include_events.unwrap_or(true);
    let (events, pagination) = match (included, query(&wanted)) {
        (false, _) => (Vec::new(), None),
        (true, None) => {
            let mut events = app.newest_events(execution_id, found.seq, NEWEST).await?;
            if resolve {
                app.resolve(super::events::slots(events.iter_mut().rev()), RESOLVED).await?;
            }
            (rows(&found, &events, false, &mut room), None)
        }
        (true, Some(query)) => {
            let mut page = app.page_events(execution_id, found.seq, &query).await?;
            if resolve {
                app.resolve(super::events::slots(page.events.iter_mut()), RESOLVED).await?;
            }
            (rows(&found, &page.events, true, &mut room), Some(pages(&query, page.total)))
        }
    };
    Ok(Json(Detail {
        summary,
        workload,
        steps,
        events,
        events_included: included,
        events_endpoint: format!("/api/executions/{execution_id}/events"),
        pagination,
    }))
}

/// The results of all steps.
fn results(run: &mut Run) -> Vec<&mut Slot> {
    run.steps.values_mut().filter_map(|record| record.result.as_mut()).collect()
}

/// Where an execution stands
#[utoipa::path(get, path = "/api/executions/{id}/status", tag = "executions", params(("id" = Id, Path), WaitParameters),
    responses((status = 200, body = Status), (status = 404, body = ErrorBody)))]
async fn status(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    Query(parameters): Query<WaitParameters>,
) -> Result<Json<Status>, Error> {
    if let Some(wait) = patience(&parameters) {
        app.wait_for_end(ExecutionId(execution_id.0), wait).await?;
    }
    let Looked { execution: found, run, plan } = app.look(ExecutionId(execution_id.0)).await?;
    let summary = execution(&found, app.now());
    let mut room = Room::new(false);
    let mut done: Vec<_> =
        run.steps.iter().filter(|(_, record)| record.status == StepStatus::Completed).collect();
    done.sort_by_key(|(name, record)| (record.ended_at, place(plan.as_deref(), name)));
    let under_way = run.visits.values().last().map(|visit| visit.step.to_string());
    Ok(Json(Status {
        execution_id: id(found.id),
        path: summary.path,
        completed: run.status.is_terminal(),
        // Clients that know no other word than failed must not take what was cancelled for done.
        failed: matches!(run.status, RunStatus::Failed | RunStatus::Cancelled),
        is_cancelled: run.status == RunStatus::Cancelled,
        completion_inferred: false,
        current_step: under_way.or(summary.current_step),
        completed_steps: done.into_iter().map(|(name, _)| name.to_string()).collect(),
        progress: progress(&run, plan.map(|plan| plan.steps.len())),
        variables: run.ctx.iter().map(|(name, slot)| (name.to_string(), room.slot(slot))).collect(),
        status: summary.status,
        start_time: summary.start_time,
        end_time: summary.end_time,
        started_at: summary.started_at,
        completed_at: summary.completed_at,
        duration_seconds: summary.duration_seconds,
        duration_human: summary.duration_human,
        error: match run.status {
            RunStatus::Cancelled => summary.error.map(|reason| format!("cancelled: {reason}")),
            _ => summary.error,
        },
    }))
}
