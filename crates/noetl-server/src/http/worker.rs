//! The protocol of workers in other processes.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use noetl_api::worker::{
    Acceptance, Assignment, Attempt, Done, LoadRequest, LoadedValue, LogStream, LogsRequest, ReleaseRequest,
    RenewRequest, Renewed, Reported, ReportsRequest, Stops, StopsRequest, TakeRequest, Taken,
};
use noetl_api::{ErrorBody, NumericId};
use noetl_types::{ExecutionId, Timestamp};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::Json;
use super::guard::{Scope, only};
use crate::app::registry::part_name;
use crate::app::work::{GivenBack, WorkerReport};
use crate::app::{App, Code, Error};
use crate::drive;

/// Reports carry results whole.
const LARGEST_BODY: usize = 64 * 1024 * 1024;

/// The longest that a question waits for its answer.
const LONGEST_WAIT: Duration = Duration::from_secs(25);

const MOST_ROOM: usize = 1024;
const MOST_POOLS: usize = 100;
const MOST_AT_ONCE: usize = 4096;

pub fn router() -> OpenApiRouter<App> {
    let routes = OpenApiRouter::new()
        .routes(routes!(take))
        .routes(routes!(report))
        .routes(routes!(renew))
        .routes(routes!(stops))
        .routes(routes!(release))
        .routes(routes!(load_value))
        .routes(routes!(append_logs))
        .layer(DefaultBodyLimit::max(LARGEST_BODY));
    only(Scope::Worker, routes)
}

/// Take commands
///
/// Waits until there is work for one of the pools, or the time to wait is over. What is given out is the worker's under a
/// lease: it renews it while it works, and sends a report in the end.
#[utoipa::path(post, path = "/api/worker/commands/take", tag = "worker", request_body = TakeRequest,
    responses((status = 200, body = Taken), (status = 404, body = ErrorBody, description = "the worker is not registered")))]
async fn take(State(app): State<App>, Json(request): Json<TakeRequest>) -> Result<Json<Taken>, Error> {
    at_most("pools", request.pools.len(), MOST_POOLS)?;
    let worker = part_name(&request.worker)?;
    let pools: Vec<Arc<str>> = request.pools.into_iter().map(Into::into).collect();
    let room = request.room.clamp(1, MOST_ROOM);
    let taken = app.take(worker, &pools, room, wait(request.wait_ms)).await?;
    let lease_ms = app.lease().as_millis() as u64;
    let commands = taken.into_iter().map(|dispatched| Assignment {
        catalog_id: NumericId(dispatched.catalog_id),
        pool: dispatched.pool.to_string(),
        lease_ms,
        trace: dispatched.trace,
        command: dispatched.command,
    });
    Ok(Json(Taken { commands: commands.collect() }))
}

/// Say what came of commands
///
/// Answers once it is durable. A report that comes again, or too late, changes nothing.
#[utoipa::path(post, path = "/api/worker/reports", tag = "worker", request_body = ReportsRequest,
    responses((status = 200, body = Reported)))]
async fn report(
    State(app): State<App>,
    Json(request): Json<ReportsRequest>,
) -> Result<Json<Reported>, Error> {
    at_most("reports", request.reports.len(), MOST_AT_ONCE)?;
    let worker = part_name(&request.worker)?;
    let reports = request.reports.into_iter().map(|report| WorkerReport {
        attempt: attempt(report.attempt),
        began: report.began,
        outcome: report.outcome,
    });
    let known = app.report(&worker, reports.collect()).await?;
    let acceptance = |known| if known { Acceptance::Counted } else { Acceptance::Ignored };
    Ok(Json(Reported { accepted: known.into_iter().map(acceptance).collect() }))
}

/// Extend the leases of commands under way
#[utoipa::path(post, path = "/api/worker/renew", tag = "worker", request_body = RenewRequest,
    responses((status = 200, body = Renewed), (status = 404, body = ErrorBody, description = "the worker is not registered")))]
async fn renew(State(app): State<App>, Json(request): Json<RenewRequest>) -> Result<Json<Renewed>, Error> {
    at_most("running", request.running.len(), MOST_AT_ONCE)?;
    let worker = part_name(&request.worker)?;
    let running: Vec<drive::Attempt> = request.running.into_iter().map(attempt).collect();
    let stop = app.renew(&worker, &running).await?;
    Ok(Json(Renewed { stop: stop.into_iter().map(named).collect() }))
}

/// Hear which commands are to be stopped
///
/// Waits until there is one, or the time to wait is over.
#[utoipa::path(post, path = "/api/worker/stops", tag = "worker", request_body = StopsRequest,
    responses((status = 200, body = Stops), (status = 404, body = ErrorBody, description = "the worker is not registered")))]
async fn stops(State(app): State<App>, Json(request): Json<StopsRequest>) -> Result<Json<Stops>, Error> {
    let worker = part_name(&request.worker)?;
    let (stops, next) = app.stops(&worker, request.after.as_deref(), wait(request.wait_ms)).await?;
    Ok(Json(Stops { stops: stops.into_iter().map(named).collect(), next }))
}

/// Give commands back before their end
#[utoipa::path(post, path = "/api/worker/release", tag = "worker", request_body = ReleaseRequest,
    responses((status = 200, body = Done)))]
async fn release(State(app): State<App>, Json(request): Json<ReleaseRequest>) -> Result<Json<Done>, Error> {
    at_most("attempts", request.attempts.len(), MOST_AT_ONCE)?;
    let worker = part_name(&request.worker)?;
    let attempts: Vec<GivenBack> = request
        .attempts
        .into_iter()
        .map(|release| GivenBack { attempt: attempt(release.attempt), began: release.began })
        .collect();
    app.give_back(&worker, &attempts).await?;
    Ok(done())
}

/// The content of a value that came as a reference
#[utoipa::path(post, path = "/api/worker/values/load", tag = "worker", request_body = LoadRequest,
    responses((status = 200, body = LoadedValue), (status = 404, body = ErrorBody)))]
async fn load_value(
    State(app): State<App>,
    Json(request): Json<LoadRequest>,
) -> Result<Json<LoadedValue>, Error> {
    Ok(Json(LoadedValue { value: app.load_value(&request.stored).await? }))
}

/// Keep what steps printed
#[utoipa::path(post, path = "/api/worker/logs", tag = "worker", request_body = LogsRequest,
    responses((status = 200, body = Done)))]
async fn append_logs(State(app): State<App>, Json(request): Json<LogsRequest>) -> Result<Json<Done>, Error> {
    at_most("chunks", request.chunks.len(), MOST_AT_ONCE)?;
    let chunks: Vec<noetl_store::LogChunk> = request
        .chunks
        .into_iter()
        .map(|chunk| {
            let (execution, command, number) = attempt(chunk.attempt);
            noetl_store::LogChunk {
                execution,
                step: chunk.step.into(),
                command,
                attempt: number,
                stream: match chunk.stream {
                    LogStream::Stdout => noetl_store::LogStream::Stdout,
                    LogStream::Stderr => noetl_store::LogStream::Stderr,
                },
                chunk: chunk.chunk,
                at: Timestamp(chunk.at),
                bytes: chunk.text.into_bytes().into(),
            }
        })
        .collect();
    app.append_logs(&chunks).await?;
    Ok(done())
}

fn done() -> Json<Done> {
    Json(Done { status: "ok".to_owned() })
}

fn wait(millis: u64) -> Duration {
    Duration::from_millis(millis).min(LONGEST_WAIT)
}

fn attempt(attempt: Attempt) -> drive::Attempt {
    (ExecutionId(attempt.execution_id.0), attempt.command, attempt.number)
}

fn named((execution, command, number): drive::Attempt) -> Attempt {
    Attempt { execution_id: NumericId(execution.0), command, number }
}

fn at_most(what: &str, count: usize, most: usize) -> Result<(), Error> {
    if count > most {
        return Err(Error::new(Code::BodyInvalid, format!("'{what}' has at most {most} entries")));
    }
    Ok(())
}
