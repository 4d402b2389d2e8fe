//! `noetl resume`

use std::io::Write;

use anyhow::Result;
use clap::Args;

use crate::connection::{ServerFlags, ask};
use crate::exit::Exit;
use crate::form::Form;
use crate::output::Output;

/// Let an execution that was paused go on
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  noetl resume 380361384216494080

With --json it writes the answer of POST /api/executions/{id}/resume.")]
pub struct Arguments {
    /// The id of the execution
    #[arg(value_name = "ID")]
    execution: i64,

    #[command(flatten)]
    form: Form,
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let done =
        ask(server, arguments.form.quiet, async |client| Ok(client.resume(arguments.execution).await?))?;
    arguments.form.answer(&done, out, |out| {
        writeln!(out, "{}", done.message)?;
        Ok(())
    })?;
    Ok(Exit::Good)
}
