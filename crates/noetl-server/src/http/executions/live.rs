//! Events and logs as they happen, as server-sent events.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use futures_util::{Stream, StreamExt, stream};
use noetl_api::execution::{LogParameters, StreamAllParameters, StreamParameters};
use noetl_api::{ErrorBody, Id};
use noetl_store::{Execution, FedEvent, FeedPosition, LogCursor};
use noetl_types::{Event, ExecutionId};
use serde::Serialize;
use tokio::sync::mpsc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::event_row::row;
use super::logs;
use super::room::Room;
use crate::app::executions::Live;
use crate::app::{App, Code, Error};
use crate::http::extract::{Path, Query};

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(one)).routes(routes!(all)).routes(routes!(follow_logs))
}

/// A comment goes out this often while nothing happens, so that both ends know that the other is there.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Executions whose facts a stream of all keeps at hand.
const KEPT: usize = 1000;

/// The events of an execution, first those that are stored, then as they happen
///
/// The `id` of a message is the `seq` of its event; a reader that comes back with it as `Last-Event-ID` misses nothing
/// and sees nothing twice. A message of the type `end` comes last, when the execution is over.
#[utoipa::path(get, path = "/api/executions/{id}/stream", tag = "executions",
    params(("id" = Id, Path), StreamParameters),
    responses((status = 200, body = String, content_type = "text/event-stream",
        description = "each message has an EventRow"), (status = 404, body = ErrorBody)))]
async fn one(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    Query(parameters): Query<StreamParameters>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Message, Infallible>>>, Error> {
    let after = match last_event_id(&headers)? {
        Some(place) => u64::try_from(place).unwrap_or(0),
        None => parameters.after.unwrap_or(0),
    };
    let execution = app.execution(ExecutionId(execution_id.0)).await?;
    let events = app.follow(execution.id, after.min(i64::MAX as u64)).await?;
    let is_brief = parameters.brief.unwrap_or(false);
    Ok(messages(events, move |page: Vec<Event>| {
        let mut room = if is_brief { Room::none() } else { Room::new(false) };
        page.iter().map(|event| message(event.seq, &row(&execution, event, &mut room))).collect()
    }))
}

/// The events of all executions as they happen
///
/// From now on, or from behind `after` or `Last-Event-ID` on. The `id` of a message is its place in the order in which
/// events were stored; it stays valid when the server starts again.
#[utoipa::path(get, path = "/api/executions/stream", tag = "executions", params(StreamAllParameters),
    responses((status = 200, body = String, content_type = "text/event-stream",
        description = "each message has an EventRow")))]
async fn all(
    State(app): State<App>,
    Query(parameters): Query<StreamAllParameters>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Message, Infallible>>>, Error> {
    let place = last_event_id(&headers)?.or(parameters.after.map(|after| after.0));
    let types: Vec<String> = parameters
        .event_type
        .iter()
        .flat_map(|types| types.split(','))
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    let events = app.follow_all(place.map(FeedPosition)).await?;
    let known: HashMap<ExecutionId, Execution> = HashMap::new();
    let pages = stream::unfold((events, known, app), move |(mut events, mut known, app)| {
        let types = types.clone();
        async move {
            let Live::Events(page) = events.recv().await? else {
                return None;
            };
            let mut room = Room::new(false);
            let mut told = Vec::with_capacity(page.len());
            for FedEvent { position, execution, event } in page {
                if !types.is_empty() && !types.iter().any(|name| name == event.body.type_name()) {
                    continue;
                }
                let found = match known.get(&execution) {
                    Some(found) => found,
                    None => {
                        // One that is gone since has nothing to be told of.
                        let Ok(found) = app.execution(execution).await else { continue };
                        if known.len() >= KEPT {
                            known.clear();
                        }
                        known.entry(execution).or_insert(found)
                    }
                };
                told.push(message(position.0, &row(found, &event, &mut room)));
            }
            Some((stream::iter(told.into_iter().map(Ok)), (events, known, app)))
        }
    });
    Ok(Sse::new(pages.flatten()).keep_alive(heartbeat()))
}

/// What the steps print, until the execution is over
#[utoipa::path(get, path = "/api/executions/{id}/logs/stream", tag = "executions",
    params(("id" = Id, Path), LogParameters),
    responses((status = 200, body = String, content_type = "text/event-stream",
        description = "each message has a LogLine"), (status = 404, body = ErrorBody)))]
async fn follow_logs(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    Query(parameters): Query<LogParameters>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Message, Infallible>>>, Error> {
    let mut filter = logs::filter(&parameters)?;
    if let Some(place) = last_event_id(&headers)? {
        filter.after = LogCursor(place);
    }
    let chunks = app.follow_logs(ExecutionId(execution_id.0), filter).await?;
    Ok(messages(chunks, |page| {
        page.iter().map(|stored| message(stored.cursor.0, &logs::line(stored))).collect()
    }))
}

/// Pages as messages, with one that says that it was all.
fn messages<E: Send + 'static>(
    pages: mpsc::Receiver<Live<E>>,
    told: impl Fn(Vec<E>) -> Vec<Message> + Send + 'static,
) -> Sse<impl Stream<Item = Result<Message, Infallible>>> {
    let pages = stream::unfold(Some((pages, told)), |state| async {
        let (mut pages, told) = state?;
        match pages.recv().await? {
            Live::Events(page) => {
                let messages = told(page);
                Some((messages, Some((pages, told))))
            }
            Live::End => Some((vec![Message::default().event("end").data("{}")], None)),
        }
    });
    Sse::new(pages.flat_map(|messages| stream::iter(messages.into_iter().map(Ok)))).keep_alive(heartbeat())
}

fn heartbeat() -> KeepAlive {
    KeepAlive::new().interval(HEARTBEAT)
}

fn message(place: impl ToString, what: &impl Serialize) -> Message {
    // Rows consist of text, numbers, lists and maps, which JSON can always say.
    Message::default().id(place.to_string()).data(serde_json::to_string(what).unwrap_or_default())
}

/// Where a reader that comes back has been.
fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>, Error> {
    let Some(given) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let place = given.to_str().ok().and_then(|text| text.trim().parse().ok()).filter(|place| *place >= 0);
    match place {
        Some(place) => Ok(Some(place)),
        None => Err(Error::new(Code::ParameterInvalid, "Last-Event-ID is no id of a message of this stream")),
    }
}
