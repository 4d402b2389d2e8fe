//! What the steps of an execution printed.

use axum::extract::State;
use noetl_api::execution::{LogLine, LogPage, LogParameters};
use noetl_api::{ErrorBody, Id};
use noetl_store::{LogCursor, LogFilter, LogStream, StoredLogChunk};
use noetl_types::ExecutionId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Code, Error};
use crate::http::extract::{Json, Path, Query};

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(logs))
}

/// What the steps printed
///
/// In the pieces in which it came, oldest first. `…/logs/stream` follows it.
#[utoipa::path(get, path = "/api/executions/{id}/logs", tag = "executions", params(("id" = Id, Path), LogParameters),
    responses((status = 200, body = LogPage), (status = 404, body = ErrorBody)))]
async fn logs(
    State(app): State<App>,
    Path(execution_id): Path<Id>,
    Query(parameters): Query<LogParameters>,
) -> Result<Json<LogPage>, Error> {
    let execution = app.execution(ExecutionId(execution_id.0)).await?;
    let filter = filter(&parameters)?;
    let limit = usize::try_from(parameters.limit.unwrap_or(200).clamp(1, 1000)).unwrap_or(1000);
    let mut chunks = app.store().list_logs(execution.id, &filter, limit + 1).await?;
    let has_more = chunks.len() > limit;
    chunks.truncate(limit);
    let next = chunks.last().map_or(filter.after, |last| last.cursor);
    Ok(Json(LogPage { execution_id, logs: chunks.iter().map(line).collect(), next: Id(next.0), has_more }))
}

pub fn filter(parameters: &LogParameters) -> Result<LogFilter, Error> {
    let stream = match parameters.stream.as_deref() {
        None | Some("") => None,
        Some("stdout") => Some(LogStream::Stdout),
        Some("stderr") => Some(LogStream::Stderr),
        Some(other) => {
            return Err(Error::new(Code::ParameterInvalid, format!("there is no stream '{other}'"))
                .help("use stdout or stderr"));
        }
    };
    Ok(LogFilter {
        step: parameters.step.clone().filter(|step| !step.is_empty()),
        attempt: parameters.attempt,
        stream,
        after: LogCursor(parameters.after.map_or(0, |after| after.0)),
        ..LogFilter::default()
    })
}

/// A piece of output as the API tells it.
pub fn line(stored: &StoredLogChunk) -> LogLine {
    let chunk = &stored.chunk;
    LogLine {
        cursor: Id(stored.cursor.0),
        step: chunk.step.to_string(),
        command: chunk.command.to_string(),
        attempt: chunk.attempt,
        stream: chunk.stream.as_str().to_owned(),
        at: chunk.at.to_string(),
        text: String::from_utf8_lossy(&chunk.bytes).into_owned(),
        dropped_bytes: stored.dropped,
    }
}
