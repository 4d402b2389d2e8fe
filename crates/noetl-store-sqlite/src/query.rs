//! SQL by people over a store's file, beside whoever works with it: nothing can be changed.

use std::path::Path;

use noetl_store::Error;
use noetl_types::Value;
use rusqlite::ffi::ErrorCode;
use rusqlite::types::ValueRef;

use crate::connect::open_for_reading;
use crate::error::{Fault, Outcome};
use crate::{absolute, migrate};

/// The rows of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryAnswer {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
    /// There would have been more rows.
    pub is_cut: bool,
}

/// Runs one statement that reads, and gives at most `limit` rows. The tables are `noetl.event`, `noetl.execution` and so
/// on. A file that another process works with can be queried too.
pub fn query(database: impl AsRef<Path>, sql: &str, limit: usize) -> Result<QueryAnswer, Error> {
    let database = absolute(database.as_ref())?;
    if !database.exists() {
        return Err(Error::NotFound { what: format!("the file {}", database.display()) });
    }
    let connection = open_for_reading(&database)?;
    if migrate::version(&connection, &database)? == 0 {
        return Err(Error::invalid(format!("{} is not a store", database.display())));
    }
    let run = || -> Outcome<QueryAnswer> {
        let mut statement = connection.prepare(sql)?;
        if !statement.readonly() {
            return Err(Error::invalid("only statements that read are allowed here").into());
        }
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        if columns.is_empty() {
            return Err(Error::invalid("the statement gives no rows").into());
        }
        let mut found = statement.query([])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            if rows.len() == limit {
                return Ok(QueryAnswer { columns, rows, is_cut: true });
            }
            let values = (0..columns.len()).map(|column| row.get_ref(column).map(value));
            rows.push(values.collect::<rusqlite::Result<_>>()?);
        }
        Ok(QueryAnswer { columns, rows, is_cut: false })
    };
    run().map_err(|fault| match fault {
        Fault::Sqlite(error) if is_mistake(&error) => Error::invalid(error.to_string()),
        fault => fault.into_store_error(&database),
    })
}

/// Whether the statement is at fault and not the store.
fn is_mistake(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::InvalidParameterCount(..)
        | rusqlite::Error::MultipleStatement => true,
        rusqlite::Error::SqliteFailure(failure, _) => failure.code == ErrorCode::Unknown,
        _ => false,
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
