//! `noetl explain`

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use noetl_server::drive::load_run;
use serde::Serialize;

use super::data::{RunOf, Source, wait};
use crate::config::Flags;
use crate::connection::{ServerFlags, ask};
use crate::exit::Exit;
use crate::form::Form;
use crate::output::Output;

/// Say in words where an execution stands and what it waits for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl explain 380361384216494080
  noetl explain                        of the newest one
  noetl explain --data runs            of a run that `noetl run --data runs` keeps

With --json: {\"execution_id\", \"status\", \"sentences\"}.")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,

    #[command(flatten)]
    form: Form,
}

#[derive(Debug, Serialize)]
struct Explained {
    execution_id: String,
    status: String,
    sentences: Vec<String>,
}

pub fn run(arguments: &Arguments, flags: &Flags, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let explained = match arguments.run.folder.source(flags, server)? {
        Source::Folder(data) => wait(of_folder(arguments, &data))?,
        Source::Server => ask(server, arguments.form.quiet, async |client| {
            let execution = arguments.run.on_server(&client).await?;
            let answer = client.explain(execution).await?;
            let execution_id = answer.execution_id.to_string();
            Ok(Explained { execution_id, status: answer.status, sentences: answer.lines })
        })?,
    };
    arguments.form.answer(&explained, out, |out| {
        for sentence in &explained.sentences {
            writeln!(out, "{sentence}")?;
        }
        Ok(())
    })?;
    Ok(Exit::Good)
}

async fn of_folder(arguments: &Arguments, data: &Path) -> Result<Explained> {
    let (store, execution) = arguments.run.open(data).await?;
    let Some((run, _)) = load_run(&*store, execution).await? else {
        bail!("the run has no events");
    };
    let Some(entry) = store.find_entry(run.started.catalog_id).await? else {
        bail!("the playbook of the run is gone from the catalog");
    };
    let checked = noetl_dsl::check(&entry.entry.content, &noetl_dsl::Options::default());
    let Some(plan) = checked.plan else {
        bail!("the playbook of the run is not valid for this release");
    };
    Ok(Explained {
        execution_id: execution.to_string(),
        status: run.status.as_str().to_owned(),
        sentences: noetl_engine::explain(&run, &plan),
    })
}
