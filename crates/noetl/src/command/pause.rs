//! `noetl pause`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use noetl_client::api::execution::PauseRequest;

use crate::connection::{ServerFlags, ask};
use crate::exit::Exit;
use crate::form::Form;
use crate::output::Output;

/// Let an execution begin nothing new until it is resumed
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl pause 380361384216494080 --reason \"the database is away\"
  noetl resume 380361384216494080

Steps under way go on. With --json it writes the answer of POST /api/executions/{id}/pause.")]
pub struct Arguments {
    /// The id of the execution
    #[arg(value_name = "ID")]
    execution: i64,

    /// Kept with the execution
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<String>,

    #[command(flatten)]
    form: Form,
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let request = PauseRequest { reason: arguments.reason.clone() };
    let done = ask(server, arguments.form.quiet, async |client| {
        Ok(client.pause(arguments.execution, &request).await?)
    })?;
    arguments.form.answer(&done, out, |out| {
        writeln!(out, "{}", done.message)?;
        Ok(())
    })?;
    Ok(Exit::Good)
}
