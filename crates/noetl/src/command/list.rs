//! `noetl list`

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use noetl_client::Client;
use noetl_client::api::Id;
use noetl_client::api::execution::{Execution, ListParameters};

use super::catalog;
use crate::connection::{ServerFlags, ask, converse};
use crate::exit::Exit;
use crate::form::{Form, write_json, write_json_line};
use crate::interrupts::Interrupts;
use crate::output::{Output, mention};
use crate::table::{Cell, Table};

/// List executions, the newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl list                                  the newest 50
  noetl list --status RUNNING,PAUSED          those that are not over
  noetl list --path nightly --limit 500       of playbooks with this in their path
  noetl list --since 2026-01-31T00:00:00Z --status FAILED
  noetl list --watch                          go on showing what changes
  noetl list --status RUNNING --quiet | xargs -n 1 noetl cancel

With --json it writes the answer of GET /api/executions; with --watch as well, each change as an object on a line.")]
pub struct Arguments {
    /// A kind of catalog document, to list those in place of executions
    #[arg(value_name = "TYPE", hide = true)]
    kind: Option<String>,

    /// Only with this status; several with commas between them
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,

    /// Only of playbooks with this in their path
    #[arg(long, value_name = "TEXT")]
    path: Option<String>,

    /// Only with this text in the path, the error or a label, or at the beginning of the id
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,

    /// Only with this label; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    label: Vec<String>,

    /// Only of this worker pool
    #[arg(long, value_name = "NAME")]
    pool: Option<String>,

    /// Only those that this execution started
    #[arg(long, value_name = "ID")]
    parent: Option<i64>,

    /// Only started at this instant or later, as in 2026-01-31T23:59:59Z
    #[arg(long, value_name = "INSTANT")]
    since: Option<String>,

    /// Only started before this instant
    #[arg(long, value_name = "INSTANT")]
    until: Option<String>,

    /// How many at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,

    /// Go on showing what changes, until Ctrl-C
    #[arg(long, short)]
    watch: bool,

    #[command(flatten)]
    form: Form,
}

/// The server gives no more at once.
const PAGE: u64 = 100;

/// How often a list that is watched is looked at.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    if let Some(kind) = &arguments.kind {
        return catalog::list_kind(kind, arguments.form, server, out);
    }
    if arguments.watch {
        return converse(server, async |client| watch(&client, arguments, out).await);
    }
    ask(server, arguments.form.quiet, async |client| {
        let found = list(&client, arguments).await?;
        show(&found, arguments.form, out)?;
        Ok(Exit::Good)
    })
}

async fn list(client: &Client, arguments: &Arguments) -> Result<Vec<Execution>> {
    let mut asked = ListParameters {
        status: arguments.status.clone(),
        path: arguments.path.clone(),
        parent_execution_id: arguments.parent.map(Id),
        search: arguments.search.clone(),
        labels: (!arguments.label.is_empty()).then(|| arguments.label.join(",")),
        execution_pool: arguments.pool.clone(),
        started_from: arguments.since.clone(),
        started_before: arguments.until.clone(),
        ..ListParameters::default()
    };
    let mut found = Vec::new();
    loop {
        let wanted = (arguments.limit - found.len() as u64).min(PAGE);
        asked.limit = Some(wanted);
        let page = client.list_executions(&asked).await?;
        let is_last = (page.len() as u64) < wanted;
        found.extend(page);
        asked.before = found.last().map(|last| last.execution_id);
        if is_last || found.len() as u64 >= arguments.limit {
            return Ok(found);
        }
    }
}

fn show(found: &[Execution], form: Form, out: &mut Output) -> Result<()> {
    if form.json {
        return write_json(&found, out);
    }
    if form.quiet {
        for execution in found {
            writeln!(out, "{}", execution.execution_id)?;
        }
        return Ok(());
    }
    if found.is_empty() {
        mention(format_args!("there are no such executions"));
        return Ok(());
    }
    table(found.iter()).write(out)
}

fn table<'e>(found: impl Iterator<Item = &'e Execution>) -> Table {
    let mut table = Table::new(["ID", "PATH", "VERSION", "STATUS", "STARTED", "DURATION", "STEP OR ERROR"]);
    for execution in found {
        let last = execution.error.as_ref().or(execution.current_step.as_ref());
        table.row([
            execution.execution_id.into(),
            (&execution.path).into(),
            execution.version.into(),
            Cell::status(&execution.status),
            (&execution.started_at).into(),
            (&execution.duration_human).into(),
            Cell::maybe(last),
        ]);
    }
    table
}

/// On a terminal the list is drawn again and again; elsewhere what is new or has changed is written once more.
async fn watch(client: &Client, arguments: &Arguments, out: &mut Output) -> Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    let mut known: BTreeMap<Id, (String, Option<String>)> = BTreeMap::new();
    let draws = std::io::stdout().is_terminal() && !arguments.form.json && !arguments.form.quiet;
    loop {
        let found = list(client, arguments).await?;
        if draws {
            // Home, draw, and clear what was below.
            write!(out, "\x1b[H\x1b[2J")?;
            show(&found, arguments.form, out)?;
        } else {
            let standing = |one: &Execution| (one.status.clone(), one.current_step.clone());
            let changed: Vec<&Execution> = found
                .iter()
                .rev()
                .filter(|one| known.get(&one.execution_id) != Some(&standing(one)))
                .collect();
            for execution in &changed {
                known.insert(execution.execution_id, standing(execution));
                match arguments.form {
                    Form { json: true, .. } => write_json_line(execution, out)?,
                    Form { quiet: true, .. } => writeln!(out, "{}", execution.execution_id)?,
                    _ => writeln!(
                        out,
                        "{}  {}  {}  {}",
                        execution.execution_id,
                        execution.path,
                        execution.status,
                        execution.current_step.as_deref().unwrap_or_default()
                    )?,
                }
            }
        }
        out.flush()?;
        if out.is_reader_gone() {
            return Ok(Exit::Good);
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_AGAIN) => {}
            exit = interrupts.next() => return Ok(exit),
        }
    }
}
