//! Reading executions and events in the shapes of `noetl ehdb query`. All of it comes from the store.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use axum::extract::State;
use noetl_api::ehdb::{EhdbEvent, EhdbEvents, EhdbExecution, EhdbExecutions, EhdbIndex, EhdbState};
use noetl_api::{ErrorBody, Id};
use noetl_store::{Execution, ExecutionFilter, FeedPosition, PathFilter};
use noetl_types::{Event, ExecutionId, RunStatus, Value};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::executions::{Room, event_rows};
use super::extract::{Json, Path, Query, within};
use super::guard::{Scope, only};
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    let routes = OpenApiRouter::new()
        .routes(routes!(index))
        .routes(routes!(executions))
        .routes(routes!(execution))
        .routes(routes!(events))
        .routes(routes!(all_events))
        .routes(routes!(tiers));
    only(Scope::Viewer, routes)
}

const TIER: &str = "store";

/// What can be asked
#[utoipa::path(get, path = "/api/ehdb", tag = "ehdb", responses((status = 200, body = EhdbIndex)))]
async fn index() -> Json<EhdbIndex> {
    let actions = [
        "GET /api/ehdb/executions",
        "GET /api/ehdb/executions/{id}",
        "GET /api/ehdb/executions/{id}/events",
        "GET /api/ehdb/events",
    ];
    Json(EhdbIndex { actions: actions.map(str::to_owned).to_vec() })
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Listing {
    status: Option<String>,
    /// Text within the path.
    path: Option<String>,
    #[param(value_type = Option<Id>)]
    catalog_id: Option<Id>,
    #[param(minimum = 1, maximum = 1000, default = 50)]
    limit: Option<u32>,
    #[param(minimum = 0, maximum = 1_000_000, default = 0)]
    offset: Option<u32>,
}

/// Executions, the newest first
#[utoipa::path(get, path = "/api/ehdb/executions", tag = "ehdb", params(Listing),
    responses((status = 200, body = EhdbExecutions)))]
async fn executions(
    State(app): State<App>,
    Query(listing): Query<Listing>,
) -> Result<Json<EhdbExecutions>, Error> {
    let limit = within("limit", listing.limit, 50, 1..=1000)?;
    let offset = within("offset", listing.offset, 0, 0..=1_000_000)?;
    let filter = ExecutionFilter {
        statuses: listing.status.as_deref().map(status).transpose()?.into_iter().collect(),
        path: listing.path.filter(|path| !path.is_empty()).map(PathFilter::Contains),
        catalog_id: listing.catalog_id.map(|id| id.0),
        offset,
        ..ExecutionFilter::default()
    };
    let found = app.store().list_executions(&filter, limit).await?;
    let executions: Vec<EhdbExecution> = found.into_iter().map(summary).collect();
    Ok(Json(EhdbExecutions {
        action: "executions".to_owned(),
        tier: TIER.to_owned(),
        limit,
        offset,
        returned: executions.len(),
        executions,
    }))
}

fn status(word: &str) -> Result<RunStatus, Error> {
    let known = RunStatus::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word));
    known.ok_or_else(|| Error::new(Code::ParameterInvalid, format!("there is no status '{word}'")))
}

fn summary(found: Execution) -> EhdbExecution {
    EhdbExecution {
        execution_id: Id(found.id.0),
        catalog_id: Id(found.row.catalog_id),
        path: found.row.path.to_string(),
        status: found.row.status.as_str().to_owned(),
        terminal: found.row.status.is_terminal(),
        current_node: found.last.step.map(|step| step.to_string()),
        parent_execution_id: found.row.parent.map(|parent| Id(parent.0)),
        event_count: found.seq,
        started_at: found.row.started_at.to_string(),
        completed_at: found.row.ended_at.map(|at| at.to_string()),
    }
}

/// The state of an execution
#[utoipa::path(get, path = "/api/ehdb/executions/{id}", tag = "ehdb", params(("id" = Id, Path)),
    responses((status = 200, body = EhdbState)))]
async fn execution(State(app): State<App>, Path(id): Path<Id>) -> Result<Json<EhdbState>, Error> {
    let found = app.store().find_execution(ExecutionId(id.0)).await?;
    let exists = found.is_some();
    let state = match found.map(summary) {
        Some(summary) => Value::from_json(&serde_json::to_value(summary).map_err(Error::internal)?),
        None => Value::Null,
    };
    Ok(Json(EhdbState {
        action: "execution".to_owned(),
        tier: TIER.to_owned(),
        execution_id: id,
        exists,
        state,
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Page {
    /// The cursor of the page before.
    #[param(minimum = 0)]
    after: Option<u64>,
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
}

/// The events of an execution, the oldest first
#[utoipa::path(get, path = "/api/ehdb/executions/{id}/events", tag = "ehdb", params(("id" = Id, Path), Page),
    responses((status = 200, body = EhdbEvents), (status = 404, body = ErrorBody)))]
async fn events(
    State(app): State<App>,
    Path(id): Path<Id>,
    Query(page): Query<Page>,
) -> Result<Json<EhdbEvents>, Error> {
    let limit = within("limit", page.limit, 100, 1..=1000)?;
    let execution = app.execution(ExecutionId(id.0)).await?;
    // Seqs are counted in 63 bits; nothing comes after a higher one.
    let after = page.after.unwrap_or(0).min(i64::MAX as u64);
    let found = app.store().load_events(execution.id, after, limit).await?;
    let next_cursor = found.last().filter(|_| found.len() == limit).map(|last| last.seq.to_string());
    let events = rows(&execution, &found);
    Ok(Json(EhdbEvents {
        action: "events".to_owned(),
        tier: TIER.to_owned(),
        execution_id: Some(id),
        returned: events.len(),
        next_cursor,
        events,
    }))
}

fn rows(execution: &Execution, events: &[Event]) -> Vec<EhdbEvent> {
    let rows = event_rows(execution, events, false, &mut Room::new(false)).into_iter();
    rows.map(|row| EhdbEvent {
        event_id: row.event_id,
        execution_id: Id(execution.id.0),
        event_type: row.event_type,
        node_name: row.node_name,
        status: row.status,
        created_at: row.created_at,
    })
    .collect()
}

/// The events of all executions, in the order in which they were stored
#[utoipa::path(get, path = "/api/ehdb/events", tag = "ehdb", params(Page),
    responses((status = 200, body = EhdbEvents)))]
async fn all_events(State(app): State<App>, Query(page): Query<Page>) -> Result<Json<EhdbEvents>, Error> {
    let limit = within("limit", page.limit, 100, 1..=1000)?;
    let after = FeedPosition(i64::try_from(page.after.unwrap_or(0)).unwrap_or(i64::MAX));
    let found = app.store().read_feed(after, limit).await?;
    let next_cursor = found.last().filter(|_| found.len() == limit).map(|last| last.position.0.to_string());
    let mut known: HashMap<ExecutionId, Option<Execution>> = HashMap::new();
    let mut events = Vec::with_capacity(found.len());
    for fed in found {
        let execution = match known.entry(fed.execution) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(app.store().find_execution(fed.execution).await?),
        };
        // One that is gone since has nothing to be told of.
        if let Some(execution) = execution {
            events.extend(rows(execution, &[fed.event]));
        }
    }
    Ok(Json(EhdbEvents {
        action: "events".to_owned(),
        tier: TIER.to_owned(),
        execution_id: None,
        returned: events.len(),
        next_cursor,
        events,
    }))
}

/// Look into a tier of EHDB
///
/// This server keeps everything in its own store and has no such tiers.
#[utoipa::path(get, path = "/api/ehdb/tiers/{tier}", tag = "ehdb",
    params(("tier" = String, Path, description = "eventlog, kv, object or vector")),
    responses((status = 501, body = ErrorBody)))]
async fn tiers(Path(tier): Path<String>) -> Error {
    Error::new(
        Code::NotSupported,
        format!("there is no tier '{tier}': this server keeps everything in its own store"),
    )
    .help("ask /api/executions, /api/result/resolve or POST /api/postgres/execute")
}
