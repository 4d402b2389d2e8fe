//! `noetl signal`

use std::io::Write;

use anyhow::{Context, Result};
use clap::Args;
use noetl_client::api::execution::SignalRequest;
use noetl_types::Value;

use crate::connection::{ServerFlags, ask};
use crate::exit::{Exit, WrongUse};
use crate::form::Form;
use crate::output::Output;
use crate::payload::from_file;

/// Give an execution the signal that a step of it waits for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl signal 380361384216494080 approval
  noetl signal 380361384216494080 approval --payload '{\"approved\": true}'
  noetl signal 380361384216494080 data_ready --payload @rows.json

A signal that comes before a step waits for it is kept. With --json it writes the answer of POST
/api/executions/{id}/signal.")]
pub struct Arguments {
    /// The id of the execution
    #[arg(value_name = "ID")]
    execution: i64,

    /// The name of the signal
    #[arg(value_name = "NAME")]
    name: String,

    /// What the step gets with it: JSON, or @FILE with JSON or YAML
    #[arg(long, value_name = "JSON|@FILE")]
    payload: Option<String>,

    #[command(flatten)]
    form: Form,
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let payload = payload(arguments.payload.as_deref()).map_err(|error| WrongUse(format!("{error:#}")))?;
    let request = SignalRequest { name: arguments.name.clone(), payload };
    let done = ask(server, arguments.form.quiet, async |client| {
        Ok(client.signal(arguments.execution, &request).await?)
    })?;
    arguments.form.answer(&done, out, |out| {
        writeln!(out, "{}", done.message)?;
        Ok(())
    })?;
    Ok(Exit::Good)
}

fn payload(text: Option<&str>) -> Result<Value> {
    match text.map(|text| (text, text.strip_prefix('@'))) {
        None => Ok(Value::Null),
        Some((_, Some(file))) => from_file(file).with_context(|| format!("--payload @{file}")),
        Some((text, None)) => {
            serde_json::from_str(text).context("--payload is not JSON; use @FILE to read a file")
        }
    }
}
