//! The audit trail.

use axum::extract::State;
use noetl_api::Id;
use noetl_api::audit::{AuditEntry, AuditList, AuditQuery};
use noetl_store::{AuditFilter, AuditRow};
use noetl_types::{ExecutionId, Timestamp};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, Query};
use super::guard::{Scope, only};
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    only(Scope::Admin, OpenApiRouter::new().routes(routes!(list)))
}

/// Who did what, newest first
#[utoipa::path(get, path = "/api/audit", tag = "audit", params(AuditQuery),
    responses((status = 200, body = AuditList)))]
async fn list(State(app): State<App>, Query(query): Query<AuditQuery>) -> Result<Json<AuditList>, Error> {
    let limit = match query.limit.unwrap_or(100) {
        limit @ 1..=1000 => usize::from(limit),
        _ => return Err(Error::new(Code::ParameterInvalid, "'limit' is a number from 1 to 1000")),
    };
    let filter = AuditFilter {
        actor: query.actor,
        action: query.action,
        target: query.target,
        execution: query.execution_id.map(|id| ExecutionId(id.0)),
        from: query.from.as_deref().map(instant).transpose()?,
        until: query.until.as_deref().map(instant).transpose()?,
        before: query.before.map(|id| id.0),
    };
    let rows = app.list_audit(&filter, limit + 1).await?;
    let more = rows.len() > limit;
    let items: Vec<AuditEntry> = rows.into_iter().take(limit).map(entry).collect();
    let next = items.last().filter(|_| more).map(|last| last.id);
    Ok(Json(AuditList { items, next }))
}

fn instant(text: &str) -> Result<Timestamp, Error> {
    Timestamp::parse(text).ok_or_else(|| {
        Error::new(Code::ParameterInvalid, "'from' and 'until' are instants")
            .help("write them like 2026-01-31T23:59:59Z")
    })
}

fn entry(row: AuditRow) -> AuditEntry {
    AuditEntry {
        id: Id(row.id),
        at: row.at.to_string(),
        actor: row.actor.to_string(),
        action: row.action.to_string(),
        target: row.target.to_string(),
        outcome: row.outcome.to_string(),
        execution_id: row.execution.map(|execution| Id(execution.0)),
        details: row.details,
    }
}
