//! The server's own database, for people who know SQL.

use axum::Extension;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use noetl_api::database::{DatabaseState, SqlAnswer, SqlRequest};
use noetl_store::Query;
use std::time::Duration;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{Json, within};
use super::guard::{Caller, Scope, only};
use crate::app::{App, Code, Error};

pub fn router() -> OpenApiRouter<App> {
    let operator = OpenApiRouter::new().routes(routes!(execute)).routes(routes!(init));
    only(Scope::Operator, operator).merge(only(Scope::Viewer, OpenApiRouter::new().routes(routes!(validate))))
}

/// A statement that takes longer is stopped.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Run one SQL statement over the server's database
///
/// It may only read, unless the caller has the admin scope and says `write: true`.
#[utoipa::path(post, path = "/api/postgres/execute", tag = "database", request_body = SqlRequest,
    responses((status = 200, body = SqlAnswer)))]
async fn execute(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Json(request): Json<SqlRequest>,
) -> Result<Json<SqlAnswer>, Error> {
    if request.write && !caller.may(Scope::Admin) {
        return Err(Error::new(Code::Forbidden, "only an admin may write to the database")
            .help("leave 'write' out, or use a token with the scope 'admin'"));
    }
    let query = Query {
        max_rows: within("limit", request.limit, 1000, 1..=10_000)?,
        max_time: MAX_TIME,
        sql: sql(&request)?,
        parameters: request.parameters.unwrap_or_default(),
    };
    let answer = app.sql(&query, request.write).await?;
    Ok(Json(SqlAnswer {
        status: "ok".to_owned(),
        columns: answer.columns,
        result: answer.rows,
        truncated: answer.is_cut,
        changed: answer.changed,
    }))
}

fn sql(request: &SqlRequest) -> Result<String, Error> {
    if request.connection_string.is_some() || request.credential.is_some() {
        return Err(Error::new(Code::QueryInvalid, "only the server's own database can be asked here")
            .help("use a step with the postgres tool for others"));
    }
    match (&request.query, &request.query_base64) {
        (Some(query), _) if !query.trim().is_empty() => Ok(query.clone()),
        (_, Some(encoded)) => {
            let decoded = STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            decoded.ok_or_else(|| Error::new(Code::BodyInvalid, "'query_base64' is not base64 of text"))
        }
        _ => Err(Error::new(Code::BodyInvalid, "the body has neither 'query' nor 'query_base64'")),
    }
}

/// See that the database has its tables
///
/// They are made when the server starts; this says whether they are there.
#[utoipa::path(post, path = "/api/db/init", tag = "database", responses((status = 200, body = DatabaseState)))]
async fn init(State(app): State<App>) -> Result<Json<DatabaseState>, Error> {
    state(&app).await
}

/// Whether the database has its tables
#[utoipa::path(get, path = "/api/db/validate", tag = "database", responses((status = 200, body = DatabaseState)))]
async fn validate(State(app): State<App>) -> Result<Json<DatabaseState>, Error> {
    state(&app).await
}

async fn state(app: &App) -> Result<Json<DatabaseState>, Error> {
    let tables = app.tables().await?;
    let valid = tables.missing.is_empty();
    Ok(Json(DatabaseState {
        status: if valid { "ok" } else { "error" }.to_owned(),
        message: match valid {
            true => "The database has all its tables.".to_owned(),
            false => format!("The database lacks {}.", tables.missing.join(", ")),
        },
        valid,
        tables: tables.found,
        missing: tables.missing,
    }))
}
