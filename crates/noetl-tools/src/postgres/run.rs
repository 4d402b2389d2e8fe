//! Runs statements and collects what they give.

use std::pin::pin;
use std::sync::Arc;

use futures_util::TryStreamExt;
use noetl_types::{ErrorKind, Map, ToolError, Value};
use tokio_postgres::{Client, Row};

use super::bind::Parameter;
use super::decode::Cell;
use super::failure::Failed;
use super::split::Statement;

/// What one statement gave.
pub struct Given {
    columns: Vec<Arc<str>>,
    rows: Vec<Value>,
    affected: u64,
    verb: String,
}

/// How rows are presented, and how many there may be.
#[derive(Clone, Copy)]
pub struct Presentation {
    /// Maps by column name; else lists.
    pub as_objects: bool,
    pub row_limit: usize,
}

/// Runs the statements in order. Several of them are one transaction, unless one of them does not want that.
pub async fn run(
    client: &Client,
    statements: &[Statement],
    parameters: &[Value],
    presentation: Presentation,
) -> Result<Vec<Given>, Failed> {
    let together = statements.len() > 1 && !statements.iter().any(Statement::wants_no_transaction);
    if together {
        client.batch_execute("BEGIN").await?;
    }
    let mut given = Vec::new();
    for (index, statement) in statements.iter().enumerate() {
        let number = (statements.len() > 1).then_some(index + 1);
        match run_one(client, statement, parameters, presentation, number).await {
            Ok(one) => given.push(one),
            Err(failed) => {
                if together {
                    // If this fails, the connection is broken and the transaction is gone with it.
                    let _ = client.batch_execute("ROLLBACK").await;
                }
                return Err(failed);
            }
        }
    }
    if together {
        client.batch_execute("COMMIT").await?;
    }
    Ok(given)
}

async fn run_one(
    client: &Client,
    statement: &Statement,
    parameters: &[Value],
    presentation: Presentation,
    number: Option<usize>,
) -> Result<Given, Failed> {
    let failed = |error: tokio_postgres::Error| Failed::at_statement(&error, number);
    let prepared = client.prepare(&statement.sql).await.map_err(failed)?;
    let wanted = prepared.params().len();
    if wanted != parameters.len() {
        let message = format!(
            "postgres: the statement has {wanted} parameters ($1, $2, …), but `params` has {} values",
            parameters.len()
        );
        return Err(ToolError::new(ErrorKind::Config, message).into());
    }
    let columns: Vec<Arc<str>> = prepared.columns().iter().map(|column| column.name().into()).collect();
    let stream = client.query_raw(&prepared, parameters.iter().map(Parameter)).await.map_err(failed)?;
    let mut stream = pin!(stream);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await.map_err(failed)? {
        if rows.len() == presentation.row_limit {
            let message = format!(
                "postgres: the statement gives more than the {} rows that are allowed; add a LIMIT or copy with transfer",
                presentation.row_limit
            );
            return Err(ToolError::new(ErrorKind::StorageQuota, message).into());
        }
        rows.push(present(&row, &columns, presentation.as_objects)?);
    }
    let affected = stream.rows_affected().filter(|_| statement.changes_rows()).unwrap_or(0);
    Ok(Given { columns, rows, affected, verb: statement.verb().to_owned() })
}

fn present(row: &Row, columns: &[Arc<str>], as_objects: bool) -> Result<Value, Failed> {
    let mut cells = Vec::with_capacity(columns.len());
    for (index, name) in columns.iter().enumerate() {
        let cell: Cell = row.try_get(index).map_err(|error| {
            let ty = row.columns()[index].type_();
            let message =
                format!("postgres: column {name} of type {ty} cannot be read: {error}; cast it to text");
            ToolError::new(ErrorKind::Transform, message)
        })?;
        cells.push(cell.0);
    }
    Ok(match as_objects {
        true => columns.iter().cloned().zip(cells).collect::<Map>().into(),
        false => cells.into(),
    })
}

/// The result of the step: what the last statement gave, and each by its number.
pub fn result(given: Vec<Given>) -> Value {
    let commands: Vec<_> = given.iter().map(Given::to_map).collect();
    let mut result = commands.last().cloned().unwrap_or_default();
    result.insert("statement_count".into(), commands.len().into());
    for (index, command) in commands.into_iter().enumerate() {
        result.insert(format!("command_{index}").into(), command.into());
    }
    result.into()
}

impl Given {
    fn to_map(&self) -> Map {
        let message = match self.affected {
            0 => format!("{} gave {} rows", self.verb, self.rows.len()),
            affected => format!("{} changed {affected} rows", self.verb),
        };
        Map::from_iter([
            ("status".into(), "success".into()),
            ("columns".into(), Value::list(self.columns.iter().map(|name| Value::Text(name.clone())))),
            ("rows".into(), self.rows.clone().into()),
            ("row_count".into(), self.rows.len().into()),
            ("affected_rows".into(), self.affected.into()),
            ("message".into(), message.into()),
        ])
    }
}
