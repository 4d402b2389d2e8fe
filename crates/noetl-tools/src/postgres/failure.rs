//! Errors of the database: what they mean and whether trying again may help.

use std::error::Error;

use noetl_types::{ErrorKind, Map, Report, ToolError, Value};
use tokio_postgres::error::DbError;

/// The report of what failed, boxed because it is much larger than most successes.
#[derive(Debug)]
pub struct Failed(pub Box<Report>);

impl From<ToolError> for Failed {
    fn from(error: ToolError) -> Failed {
        Failed(Box::new(Report::failure(error)))
    }
}

impl From<tokio_postgres::Error> for Failed {
    fn from(error: tokio_postgres::Error) -> Failed {
        Failed::at_statement(&error, None)
    }
}

impl Failed {
    /// The number of the statement counts from 1 and is left out for a single one.
    pub fn at_statement(error: &tokio_postgres::Error, number: Option<usize>) -> Failed {
        let Some(database) = error.as_db_error() else {
            return of_connection(error, "the connection to PostgreSQL broke").into();
        };
        let code = database.code().code();
        let pg = Value::map([("code", Value::from(code)), ("sqlstate", code.into())]);
        let error = Some(of_database(database, number));
        let facets = Value::map([("pg", pg)]);
        Failed(Box::new(Report { error, facets, ..Report::default() }))
    }
}

/// The error of a connection that could not be made or was lost. `what` says which.
pub fn of_connection(error: &tokio_postgres::Error, what: &str) -> ToolError {
    if let Some(database) = error.as_db_error() {
        let mut refused = of_database(database, None);
        refused.message = format!("{what}: {}", refused.message);
        return refused;
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    ToolError::new(ErrorKind::DbConnection, format!("{what}: {cause}"))
}

fn of_database(error: &DbError, number: Option<usize>) -> ToolError {
    let code = error.code().code();
    let mut details = Map::new();
    details.insert("pg_code".into(), code.into());
    details.insert("sqlstate".into(), code.into());
    let facts = [
        ("detail", error.detail()),
        ("hint", error.hint()),
        ("schema", error.schema()),
        ("table", error.table()),
        ("column", error.column()),
        ("constraint", error.constraint()),
    ];
    for (name, fact) in facts {
        if let Some(fact) = fact {
            details.insert(name.into(), fact.into());
        }
    }
    let mut message = format!("{} (SQLSTATE {code})", error.message());
    if let Some(number) = number {
        details.insert("statement".into(), number.into());
        message = format!("statement {number}: {message}");
    }
    if let Some(hint) = error.hint() {
        message = format!("{message}. {hint}");
    }
    ToolError::new(kind_of(code), message).with_code(format!("PG_{code}")).with_details(details.into())
}

fn kind_of(sqlstate: &str) -> ErrorKind {
    match sqlstate {
        // Serialisation failure, deadlock, and a lock that was not to be had.
        "40001" | "40P01" | "55P03" => ErrorKind::DbDeadlock,
        // A statement or an idle transaction that was cut off.
        "57014" | "25P03" | "25P04" => ErrorKind::DbTimeout,
        // The server shuts down, starts up, or has no connection to spare.
        "53300" | "57P01" | "57P02" | "57P03" => ErrorKind::DbConnection,
        "42501" => ErrorKind::Auth,
        "53100" | "53200" => ErrorKind::StorageQuota,
        _ => match sqlstate.get(..2) {
            Some("08") => ErrorKind::DbConnection,
            Some("23") => ErrorKind::DbConstraint,
            Some("28") => ErrorKind::Auth,
            _ => ErrorKind::Db,
        },
    }
}
