//! `noetl cleanup`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use noetl_client::api::execution::CleanupRequest;

use crate::connection::{ServerFlags, ask};
use crate::exit::Exit;
use crate::form::Form;
use crate::output::Output;

/// Cancel executions that have not moved for a while
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  noetl cleanup --older-than-minutes 60 --dry-run")]
pub struct Arguments {
    /// For how long nothing happened in them
    #[arg(long, value_name = "MINUTES", default_value_t = 5)]
    older_than_minutes: u64,

    /// Only say which
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    form: Form,
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let request =
        CleanupRequest { older_than_minutes: arguments.older_than_minutes, dry_run: arguments.dry_run };
    let done = ask(server, arguments.form.quiet, async |client| Ok(client.clean_up(&request).await?))?;
    arguments.form.answer(&done, out, |out| {
        writeln!(out, "{}", done.message)?;
        for id in &done.execution_ids {
            writeln!(out, "{}", id.0)?;
        }
        Ok(())
    })?;
    Ok(Exit::Good)
}
