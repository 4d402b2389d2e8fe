//! `GET /api/executions`

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use noetl_api::execution::{Execution, ListParameters};
use noetl_store::{ExecutionFilter, PathFilter};
use noetl_types::{ExecutionId, RunStatus, Timestamp};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::summary::execution;
use crate::app::{App, Code, Error};
use crate::http::extract::{Json, Query};

pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// List executions, newest first
///
/// A `Link` header with `rel="next"` leads to the next page while there is one.
#[utoipa::path(get, path = "/api/executions", tag = "executions", params(ListParameters),
    responses((status = 200, body = Vec<Execution>,
        headers(("Link" = String, description = "where the next page is, if there is one")))))]
async fn list(
    State(app): State<App>,
    Query(parameters): Query<ListParameters>,
) -> Result<(HeaderMap, Json<Vec<Execution>>), Error> {
    let (filter, limit) = filter(&parameters)?;
    let found = app.list_executions(&filter, limit).await?;
    let mut headers = HeaderMap::new();
    if found.len() == limit
        && let Some(last) = found.last()
        && let Some(link) = next(&parameters, last.id)
    {
        headers.insert(header::LINK, link);
    }
    let now = app.now();
    Ok((headers, Json(found.iter().map(|found| execution(found, now)).collect())))
}

const USUAL: u64 = 50;
const MOST: u64 = 100;

/// The furthest that clients who count pages get. Those who follow `Link` have no such end.
const FURTHEST: u64 = 100_000;

fn filter(parameters: &ListParameters) -> Result<(ExecutionFilter, usize), Error> {
    let limit = parameters.page_size.or(parameters.limit).unwrap_or(USUAL).clamp(1, MOST);
    let offset = match parameters.page {
        Some(page) => page.saturating_sub(1).saturating_mul(limit),
        None => parameters.offset.unwrap_or(0),
    };
    if offset > FURTHEST {
        let message = format!("pages by number end at {FURTHEST} executions");
        return Err(Error::new(Code::ParameterInvalid, message)
            .help("narrow the list, or follow the Link header from page to page"));
    }
    let path = parameters.path.clone().filter(|path| !path.is_empty());
    let filter = ExecutionFilter {
        statuses: statuses(parameters.status.as_deref())?,
        path: path.map(PathFilter::Contains),
        catalog_id: parameters.catalog_id.map(|id| id.0),
        parent: parameters.parent_execution_id.map(|parent| ExecutionId(parent.0)),
        started_from: instant("started_from", parameters.started_from.as_deref())?,
        started_before: instant("started_before", parameters.started_before.as_deref())?,
        labels: labels(parameters.labels.as_deref())?,
        pool: parameters.execution_pool.clone().filter(|pool| !pool.is_empty()),
        search: parameters.search.clone().filter(|text| !text.is_empty()),
        before: parameters.before.map(|before| ExecutionId(before.0)),
        after: parameters.after.map(|after| ExecutionId(after.0)),
        offset: usize::try_from(offset).unwrap_or(usize::MAX),
    };
    Ok((filter, usize::try_from(limit).unwrap_or(usize::MAX)))
}

/// Clients write statuses in either case.
fn statuses(text: Option<&str>) -> Result<Vec<RunStatus>, Error> {
    let words = text.unwrap_or_default().split(',').map(str::trim).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let known = RunStatus::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word));
            known.ok_or_else(|| {
                let all: Vec<&str> = RunStatus::ALL.iter().map(|status| status.as_str()).collect();
                Error::new(Code::ParameterInvalid, format!("'{word}' is no status of an execution"))
                    .help(format!("use {}", all.join(", ")))
            })
        })
        .collect()
}

fn instant(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Error> {
    text.filter(|text| !text.is_empty())
        .map(|text| {
            let message = format!("{name}: '{text}' is no instant like 2026-01-31T12:00:00Z");
            Timestamp::parse(text).ok_or_else(|| Error::new(Code::ParameterInvalid, message))
        })
        .transpose()
}

fn labels(text: Option<&str>) -> Result<std::collections::BTreeMap<String, String>, Error> {
    let pairs = text.unwrap_or_default().split(',').map(str::trim).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(Error::new(Code::ParameterInvalid, format!("'{pair}' is no label"))
                .help("write labels as name=value with commas between them")),
        })
        .collect()
}

/// The same list, from behind this execution.
fn next(parameters: &ListParameters, last: ExecutionId) -> Option<HeaderValue> {
    let next = ListParameters {
        before: Some(super::summary::id(last)),
        after: None,
        offset: None,
        page: None,
        ..parameters.clone()
    };
    let query = serde_urlencoded::to_string(next).ok()?;
    HeaderValue::from_str(&format!("</api/executions?{query}>; rel=\"next\"")).ok()
}
