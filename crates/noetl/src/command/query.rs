//! `noetl query`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use noetl_types::Value;
use serde_json::json;

use super::data::{DataFolder, database};
use crate::config::Flags;
use crate::exit::{Exit, WrongUse};
use crate::output::{Output, mention};

/// Ask a data folder with SQL; nothing can be changed
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl query --data runs \"SELECT execution_id, path, status FROM noetl.execution\"
  noetl query --data runs --json \"SELECT event_type, count(*) FROM noetl.event GROUP BY 1\"")]
pub struct Arguments {
    /// One statement that reads; the tables are noetl.execution, noetl.event, noetl.command, noetl.catalog …
    #[arg(value_name = "SQL")]
    sql: String,

    #[command(flatten)]
    folder: DataFolder,

    /// The most rows to show
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,

    /// Write one JSON object with columns and rows
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    let database = database(&arguments.folder.choose(flags)?)?;
    let answer = match noetl_store_sqlite::query(database, &arguments.sql, arguments.limit) {
        Err(error @ noetl_store::Error::Invalid { .. }) => return Err(WrongUse(error.to_string()).into()),
        answer => answer?,
    };
    if arguments.json {
        let answer = json!({"columns": answer.columns, "rows": answer.rows, "is_cut": answer.is_cut});
        serde_json::to_writer_pretty(&mut *out, &answer)?;
        writeln!(out)?;
        return Ok(Exit::Good);
    }
    let mut lines = vec![answer.columns];
    lines.extend(answer.rows.iter().map(|row| row.iter().map(cell).collect()));
    let columns = lines[0].len();
    let widths: Vec<usize> = (0..columns)
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0).min(60))
        .collect();
    for line in &lines {
        let cells: Vec<String> =
            line.iter().zip(&widths).map(|(text, width)| format!("{text:<width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
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
