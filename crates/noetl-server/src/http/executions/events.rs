//! `GET /api/executions/{id}/events`

use axum::extract::State;
use noetl_api::execution::{EventPage, EventsParameters, Pagination};
use noetl_api::{ErrorBody, Id};
use noetl_types::{Event, EventId, ExecutionId, Slot};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::event_row::rows;
use super::room::{RESOLVED, Room};
use super::summary::id;
use crate::app::executions::EventQuery;
use crate::app::{App, Error};
use crate::http::extract::{Json, Path, Query};

/// Events given when no page is asked for.
pub const NEWEST: u64 = 2000;

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(events))
}

/// The events of an execution
///
/// In pages from the newest on, or along `seq` in either direction with `after_seq` or `before_seq`.
#[utoipa::path(get, path = "/api/executions/{id}/events", tag = "executions",
    params(("id" = Id, Path), EventsParameters),
    responses((status = 200, body = EventPage), (status = 404, body = ErrorBody)))]
async fn events(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    Query(parameters): Query<EventsParameters>,
) -> Result<Json<EventPage>, Error> {
    let execution = app.execution(ExecutionId(execution_id.0)).await?;
    let limit = usize::try_from(parameters.limit.unwrap_or(100).clamp(1, 500)).unwrap_or(500);
    let store = app.store();
    let (mut events, newest_first, pagination, has_more) = match (parameters.after_seq, parameters.before_seq)
    {
        (Some(after), _) => {
            let events = store.load_events(execution.id, after.min(i64::MAX as u64), limit).await?;
            let more = events.last().is_some_and(|last| last.seq < execution.seq);
            (events, false, None, more)
        }
        (None, Some(before)) => {
            let events = store.load_events_back(execution.id, before.min(i64::MAX as u64), limit).await?;
            let more = events.last().is_some_and(|last| last.seq > 1);
            (events, true, None, more)
        }
        (None, None) => {
            let query = query(&parameters).unwrap_or_else(first_page);
            let page = app.page_events(execution.id, execution.seq, &query).await?;
            let pagination = pages(&query, page.total);
            let more = pagination.has_next;
            (page.events, true, Some(pagination), more)
        }
    };
    let resolve = parameters.resolve.unwrap_or(false);
    if resolve {
        app.resolve(slots(events.iter_mut()), RESOLVED).await?;
    }
    let events = rows(&execution, &events, newest_first, &mut Room::new(resolve));
    Ok(Json(EventPage { execution_id: id(execution.id), events, pagination, has_more }))
}

/// Every value of these events that may be stored aside.
pub fn slots<'e>(events: impl Iterator<Item = &'e mut Event>) -> Vec<&'e mut Slot> {
    events.flat_map(|event| event.body.slots_mut()).collect()
}

fn first_page() -> EventQuery {
    EventQuery { page: 1, page_size: 100, ..EventQuery::default() }
}

/// The page that is asked for, when one is.
pub fn query(parameters: &EventsParameters) -> Option<EventQuery> {
    let EventsParameters { page, page_size, since_event_id, event_type, .. } = parameters;
    if page.is_none() && page_size.is_none() && since_event_id.is_none() && event_type.is_none() {
        return None;
    }
    let types = event_type.as_deref().unwrap_or_default().split(',').map(str::trim);
    Some(EventQuery {
        types: types.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        since: since_event_id.map(|since| EventId(since.0)),
        page: page.unwrap_or(1).max(1),
        page_size: page_size.unwrap_or(100).clamp(10, 500),
    })
}

pub fn pages(query: &EventQuery, total: u64) -> Pagination {
    let total_pages = total.div_ceil(query.page_size.max(1));
    Pagination {
        page: query.page,
        page_size: query.page_size,
        total_events: total,
        total_pages,
        has_next: query.page < total_pages,
        has_prev: query.page > 1 && total > 0,
    }
}
