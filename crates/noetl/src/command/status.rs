//! `noetl status`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use noetl_client::api::execution::Status;

use crate::connection::{ServerFlags, converse};
use crate::exit::Exit;
use crate::following::{self, Detailed};
use crate::form::{Form, write_json};
use crate::output::Output;
use crate::table::{Cell, Table};

/// Say where an execution stands, or wait until it is over
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl status 380361384216494080
  noetl status 380361384216494080 --wait     wait for its end and print its result
  noetl status 380361384216494080 --quiet    one word: COMPLETED, FAILED, RUNNING …
  noetl status 380361384216494080 --json     the answer of GET /api/executions/{id}/status

With --wait it ends with 0 when the execution completed and with 1 when it did not; without it, with 0 whatever the
status is.")]
pub struct Arguments {
    /// The id of the execution
    #[arg(value_name = "ID")]
    execution: i64,

    /// Wait until it is over, then print its result
    #[arg(long, short)]
    wait: bool,

    /// Wait, and tell each step as it ends
    #[arg(long, short)]
    follow: bool,

    #[command(flatten)]
    form: Form,
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let Arguments { execution, wait, follow, form } = *arguments;
    converse(server, async |client| {
        let status = client.execution_status(execution).await?;
        if wait || follow {
            let detailed = if follow { Detailed::Steps } else { Detailed::Standing };
            return following::to_the_end(&client, execution, &status.path, detailed, form, out).await;
        }
        match form {
            Form { json: true, .. } => write_json(&status, out)?,
            Form { quiet: true, .. } => writeln!(out, "{}", status.status)?,
            _ => show(&status, out)?,
        }
        Ok(Exit::Good)
    })
}

fn show(status: &Status, out: &mut Output) -> Result<()> {
    let mut table = Table::of_facts();
    table.fact("execution", status.execution_id);
    table.fact("path", &status.path);
    table.fact("status", Cell::status(&status.status));
    table.fact("started", &status.started_at);
    if let Some(at) = &status.completed_at {
        table.fact("ended", at);
    }
    table.fact("duration", &status.duration_human);
    let progress = &status.progress;
    let mut steps = format!("{} of {} done", progress.completed_steps, progress.total_steps);
    for (count, what) in [(progress.running_steps, "under way"), (progress.failed_steps, "failed")] {
        if count > 0 {
            steps.push_str(&format!(", {count} {what}"));
        }
    }
    table.fact("steps", steps);
    if let Some(step) = status.current_step.as_ref().filter(|_| !status.completed) {
        table.fact("at step", step);
    }
    if let Some(error) = &status.error {
        table.fact("error", error);
    }
    table.write(out)
}
