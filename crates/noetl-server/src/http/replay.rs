//! `GET /api/replay/state`

use std::collections::BTreeMap;

use axum::extract::State;
use noetl_api::replay::{Checksum, ReplayParameters, Replayed, ReplayedExecution};
use noetl_api::{ErrorBody, Id};
use noetl_engine::{OpenState, Run};
use noetl_store::sha256_hex;
use noetl_types::{CommandKey, EventId, ExecutionId, Timestamp, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Query};
use super::guard::{Scope, only};
use crate::app::executions::Cutoff;
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Viewer, OpenApiRouter::new().routes(routes!(state)))
}

const PROJECTIONS: [&str; 7] =
    ["all", "execution", "stages", "frames", "commands", "business_objects", "loops"];

/// An execution as it was at an event, a position or an instant
#[utoipa::path(get, path = "/api/replay/state", tag = "executions", params(ReplayParameters),
    responses((status = 200, body = Replayed), (status = 404, body = ErrorBody)))]
async fn state(
    State(app): State<App>,
    Query(parameters): Query<ReplayParameters>,
) -> Result<Json<Replayed>, Error> {
    let projection = parameters.projection.as_deref().unwrap_or("all");
    if !PROJECTIONS.contains(&projection) {
        return Err(Error::new(Code::ReplayInvalid, format!("there is no projection '{projection}'"))
            .help(format!("use one of {}", PROJECTIONS.join(", "))));
    }
    let cutoff = cutoff(&parameters)?;
    let limit = usize::try_from(parameters.limit.unwrap_or(10_000).clamp(1, 100_000)).unwrap_or(100_000);
    let id = ExecutionId(parameters.execution_id.0);
    let replay = app.replay(id, cutoff, limit).await?;
    let shows = |name: &str| projection == "all" || projection == name;
    let execution = ReplayedExecution {
        status: replay.run.status.as_str().to_owned(),
        last_node_name: replay.last_step,
        payload_refs: if shows("execution") { replay.references } else { Vec::new() },
    };
    let commands = if shows("commands") { commands(&replay.run) } else { BTreeMap::new() };
    let loops = if shows("loops") { loops(&replay.run) } else { BTreeMap::new() };
    let checksums: BTreeMap<String, String> = [
        ("execution", serde_json::to_string(&execution)),
        ("commands", serde_json::to_string(&commands)),
        ("loops", serde_json::to_string(&loops)),
    ]
    .into_iter()
    .filter(|(name, _)| shows(name))
    .map(|(name, text)| (name.to_owned(), sha256_hex(text.unwrap_or_default().as_bytes())))
    .collect();
    let all: Vec<&str> = checksums.values().map(String::as_str).collect();
    Ok(Json(Replayed {
        tenant_id: parameters.tenant_id.unwrap_or_else(|| "default".to_owned()),
        organization_id: parameters.organization_id.unwrap_or_else(|| "default".to_owned()),
        execution_id: parameters.execution_id,
        projection: projection.to_owned(),
        event_count: replay.run.seq,
        last_event_id: replay.last.map(|(id, _)| Id(id.0)),
        last_event_type: replay.last.map(|(_, name)| name.to_owned()),
        execution,
        stages: BTreeMap::new(),
        frames: BTreeMap::new(),
        commands,
        business_objects: BTreeMap::new(),
        loops,
        checksum: Checksum { kind: "sha256".to_owned(), value: sha256_hex(all.join("\n").as_bytes()) },
        projection_checksums: checksums,
    }))
}

fn cutoff(parameters: &ReplayParameters) -> Result<Cutoff, Error> {
    let given = (&parameters.as_of_event_id, parameters.as_of_position, &parameters.as_of_time);
    match given {
        (None, None, None) => Ok(Cutoff::Newest),
        (Some(event), None, None) => Ok(Cutoff::Event(EventId(event.0))),
        (None, Some(seq), None) => Ok(Cutoff::Seq(seq)),
        (None, None, Some(time)) => match Timestamp::parse(time) {
            Some(time) => Ok(Cutoff::Time(time)),
            None => Err(Error::new(
                Code::ReplayInvalid,
                format!("as_of_time: '{time}' is no instant like 2026-01-31T12:00:00Z"),
            )),
        },
        _ => Err(Error::new(
            Code::ReplayInvalid,
            "give at most one of as_of_event_id, as_of_position and as_of_time",
        )),
    }
}

fn commands(run: &Run) -> BTreeMap<String, Value> {
    let open = run.commands.iter().map(|(&(visit, item), open)| {
        let key = CommandKey { visit, item, part: open.part };
        let state = match &open.state {
            OpenState::Ready => "ready",
            OpenState::Issued => "issued",
            OpenState::Started { .. } => "started",
            OpenState::Waiting { .. } => "waiting",
        };
        let step = run.visits.get(&visit).map(|visit| visit.step.clone());
        let facts = Value::map([
            ("step", Value::from(step)),
            ("attempt", open.attempt.into()),
            ("state", state.into()),
        ]);
        (key.to_string(), facts)
    });
    open.collect()
}

fn loops(run: &Run) -> BTreeMap<String, Value> {
    let under_way = run.visits.values().filter_map(|visit| {
        let state = visit.looping.as_ref()?;
        let facts = Value::map([
            ("total", Value::from(state.entry.total)),
            ("success", state.success.into()),
            ("failed", state.failed.into()),
            ("in_flight", state.in_flight.into()),
        ]);
        Some((visit.step.to_string(), facts))
    });
    under_way.collect()
}
