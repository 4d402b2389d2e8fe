//! SQL by people over a store's file. Each statement gets a connection of its own, which it cannot leave in a state that
//! others would notice, and is bound in rows and time.

use std::path::Path;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use noetl_store::{Error, Queries, Query, QueryAnswer};
use noetl_types::Value;
use rusqlite::Connection;
use rusqlite::ffi::ErrorCode;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::connect::{open_for_changing, open_for_reading};
use crate::error::{Fault, Outcome};
use crate::{SqliteStore, absolute, migrate};

/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

/// Runs one statement that reads, and gives at most `limit` rows. The tables are `noetl.event`, `noetl.execution` and so
/// on. A file that another process works with can be queried too.
pub fn query(database: impl AsRef<Path>, sql: &str, limit: usize) -> Result<QueryAnswer, Error> {
    let database = absolute(database.as_ref())?;
    read(&database, &Query { max_rows: limit, max_time: Duration::MAX, ..Query::new(sql) })
}

fn read(database: &Path, query: &Query) -> Result<QueryAnswer, Error> {
    let mut connection = open_for_reading(database)?;
    if migrate::version(&connection, database)? == 0 {
        return Err(Error::invalid(format!("{} is not a store", database.display())));
    }
    let reads = |context: AuthContext<'_>| match context.action {
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        _ => Authorization::Deny,
    };
    run(&mut connection, query, reads).map_err(|fault| meaning(fault, query, database))
}

fn change(database: &Path, query: &Query) -> Result<QueryAnswer, Error> {
    let mut connection = open_for_changing(database)?;
    let stays_here = |context: AuthContext<'_>| match context.action {
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::Transaction { .. }
        | AuthAction::Savepoint { .. }
        | AuthAction::Pragma { .. } => Authorization::Deny,
        _ => Authorization::Allow,
    };
    run(&mut connection, query, stays_here).map_err(|fault| meaning(fault, query, database))
}

fn run(
    connection: &mut Connection,
    query: &Query,
    allow: impl FnMut(AuthContext<'_>) -> Authorization + Send + 'static,
) -> Outcome<QueryAnswer> {
    connection.authorizer(Some(allow))?;
    if let Some(end) = Instant::now().checked_add(query.max_time) {
        connection.progress_handler(STEPS, Some(move || Instant::now() >= end))?;
    }
    let mut statement = connection.prepare(&query.sql)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    if columns.is_empty() && statement.readonly() {
        return Err(Error::invalid("the statement gives no rows").into());
    }
    let mut found = statement.query(rusqlite::params_from_iter(query.parameters.iter().map(parameter)))?;
    let mut answer = QueryAnswer { columns, rows: Vec::new(), is_cut: false, changed: 0 };
    while let Some(row) = found.next()? {
        if answer.rows.len() == query.max_rows {
            answer.is_cut = true;
            break;
        }
        let values = (0..answer.columns.len()).map(|column| row.get_ref(column).map(value));
        answer.rows.push(values.collect::<rusqlite::Result<_>>()?);
    }
    drop(found);
    drop(statement);
    // The connection is new, so that this is about its only statement.
    answer.changed = connection.changes();
    Ok(answer)
}

/// What a failure means, if the statement is at fault and not the store.
fn meaning(fault: Fault, query: &Query, database: &Path) -> Error {
    let Fault::Sqlite(error) = &fault else {
        return fault.into_store_error(database);
    };
    let is_mistake = match error {
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::InvalidParameterCount(..)
        | rusqlite::Error::MultipleStatement => true,
        rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
            ErrorCode::AuthorizationForStatementDenied => {
                return Error::invalid(
                    "the statement does more than is allowed here: read, or change rows where that was asked for",
                );
            }
            ErrorCode::OperationInterrupted => {
                return Error::invalid(format!("the statement took longer than {:?}", query.max_time));
            }
            code => matches!(
                code,
                ErrorCode::Unknown
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::TypeMismatch
                    | ErrorCode::TooBig
                    | ErrorCode::ReadOnly
            ),
        },
        _ => false,
    };
    if is_mistake { Error::invalid(error.to_string()) } else { fault.into_store_error(database) }
}

fn parameter(value: &Value) -> ToSqlOutput<'static> {
    match value {
        Value::Null => rusqlite::types::Null.into(),
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) => text.to_string().into(),
        other => other.to_string().into(),
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Float(number),
        ValueRef::Text(bytes) => Value::text(String::from_utf8_lossy(bytes)),
        ValueRef::Blob(bytes) => {
            Value::text(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
    }
}

#[async_trait]
impl Queries for SqliteStore {
    async fn query(&self, query: &Query) -> Result<QueryAnswer, Error> {
        self.on_a_thread(query, read).await
    }

    async fn execute(&self, query: &Query) -> Result<QueryAnswer, Error> {
        self.on_a_thread(query, change).await
    }

    async fn list_tables(&self) -> Result<Vec<String>, Error> {
        self.read(|connection| {
            let sql = r"
                SELECT name FROM noetl.sqlite_schema
                WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name";
            let mut statement = connection.prepare_cached(sql)?;
            let names = statement.query_map([], |row| row.get(0))?;
            Ok(names.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

impl SqliteStore {
    async fn on_a_thread(
        &self,
        query: &Query,
        run: impl Fn(&Path, &Query) -> Result<QueryAnswer, Error> + Send + 'static,
    ) -> Result<QueryAnswer, Error> {
        let (database, query) = (self.inner.database.clone(), query.clone());
        let answer = tokio::task::spawn_blocking(move || run(&database, &query)).await;
        answer.unwrap_or_else(|error| Err(Error::unavailable(format!("a query did not end: {error}"))))
    }
}
