//! `noetl cancel`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use noetl_client::Error;
use noetl_client::api::execution::CancelRequest;
use serde_json::json;

use crate::connection::{ServerFlags, ask};
use crate::exit::Exit;
use crate::form::{Form, write_json};
use crate::output::{Output, mention};

/// Stop an execution and everything it started
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl cancel 380361384216494080
  noetl cancel 380361384216494080 --reason \"wrong day\"
  noetl cancel 380361384216494080 --no-cascade    leave the executions that it started alone

An execution that is over already is left as it is, and that is fine: it ends with 0.
With --json it writes the answer of POST /api/executions/{id}/cancel.")]
pub struct Arguments {
    /// The id of the execution
    #[arg(value_name = "ID")]
    execution: i64,

    /// Kept with the execution
    #[arg(long, short, value_name = "TEXT")]
    reason: Option<String>,

    /// Leave the executions that it started alone
    #[arg(long, conflicts_with = "cascade")]
    no_cascade: bool,

    /// Stop what it started too, as is usual
    #[arg(long, hide = true)]
    cascade: bool,

    #[command(flatten)]
    form: Form,
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let request = CancelRequest { reason: arguments.reason.clone(), cascade: !arguments.no_cascade };
    let answer = ask(server, arguments.form.quiet, async |client| {
        Ok(client.cancel(arguments.execution, &request).await)
    })?;
    match answer {
        Ok(done) => arguments.form.answer(&done, out, |out| {
            writeln!(out, "{}", done.message)?;
            Ok(())
        })?,
        Err(Error::Refused(refusal)) if refusal.code == "execution_ended" => match arguments.form.json {
            true => write_json(
                &json!({
                    "status": "already_completed",
                    "execution_id": arguments.execution.to_string(),
                    "cancelled_executions": [],
                    "message": refusal.message,
                }),
                out,
            )?,
            false => mention(format_args!("{}", refusal.message)),
        },
        Err(error) => return Err(error.into()),
    }
    Ok(Exit::Good)
}
