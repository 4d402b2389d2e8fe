//! `noetl query`

use anyhow::Result;
use clap::{Args, ValueEnum};
use noetl_client::api::database::SqlRequest;
use noetl_types::Value;
use serde::Serialize;

use super::data::{DataFolder, Source, database};
use crate::config::Flags;
use crate::connection::{ServerFlags, ask};
use crate::exit::{Exit, WrongUse};
use crate::form::write_json;
use crate::output::{Output, mention};
use crate::table::Table;

/// Ask the database of the server, or a data folder, with SQL
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl query \"SELECT execution_id, path, status FROM noetl.execution\"
  noetl query --json \"SELECT event_type, count(*) FROM noetl.event GROUP BY 1\"
  noetl query --data runs \"SELECT path, status FROM noetl.execution\"

Nothing can be changed. With --json: {\"columns\", \"rows\", \"is_cut\"}.")]
pub struct Arguments {
    /// One statement that reads; the tables are noetl.execution, noetl.event, noetl.command, noetl.catalog …
    #[arg(value_name = "SQL")]
    sql: String,

    #[command(flatten)]
    folder: DataFolder,

    /// The most rows to show
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,

    /// Write one JSON object with columns and rows
    #[arg(long, short)]
    json: bool,

    /// table or json, as --json
    #[arg(long, short, hide = true, value_enum, conflicts_with = "json")]
    format: Option<Format>,

    /// The schema that older scripts name; there is only noetl
    #[arg(long, short, hide = true, value_parser = ["noetl", "public"])]
    schema: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

#[derive(Debug, Serialize)]
struct Answer {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    is_cut: bool,
}

pub fn run(arguments: &Arguments, flags: &Flags, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let limit = arguments.limit;
    let answer = match arguments.folder.source(flags, server)? {
        Source::Folder(data) => {
            let database = database(&data)?;
            let found = match noetl_store_sqlite::query(database, &arguments.sql, limit as usize) {
                Err(error @ noetl_store::Error::Invalid { .. }) => {
                    return Err(WrongUse(error.to_string()).into());
                }
                found => found?,
            };
            Answer { columns: found.columns, rows: found.rows, is_cut: found.is_cut }
        }
        Source::Server => {
            let request = SqlRequest {
                query: Some(arguments.sql.clone()),
                limit: Some(limit),
                ..SqlRequest::default()
            };
            let found = ask(server, false, async |client| Ok(client.sql(&request).await?))?;
            Answer { columns: found.columns, rows: found.result, is_cut: found.truncated }
        }
    };
    if arguments.json || arguments.format == Some(Format::Json) {
        write_json(&answer, out)?;
        return Ok(Exit::Good);
    }
    let rows = answer.rows.iter().map(|row| row.iter().map(cell).collect());
    Table::of_columns(&answer.columns, rows).write(out)?;
    if answer.is_cut {
        mention(format_args!("there are more rows; --limit shows them"));
    }
    Ok(Exit::Good)
}

fn cell(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
