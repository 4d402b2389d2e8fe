//! `noetl explain`

use std::io::Write;

use anyhow::{Result, bail};
use clap::Args;
use noetl_server::drive::load_run;
use serde_json::json;

use super::data::{RunOf, wait};
use crate::config::Flags;
use crate::exit::Exit;
use crate::output::Output;

/// Say in words where a run stands and what it waits for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl explain --data runs                     of the newest run
  noetl explain 1234567 --data runs
  noetl explain 1234567 --data runs --json")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,

    /// Write one JSON object with the status and the sentences
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    wait(async {
        let (store, execution) = arguments.run.open(flags).await?;
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
        let sentences = noetl_engine::explain(&run, &plan);
        if arguments.json {
            let execution = execution.to_string();
            let answer = json!({"execution_id": execution, "status": run.status, "sentences": sentences});
            serde_json::to_writer_pretty(&mut *out, &answer)?;
            writeln!(out)?;
        } else {
            for sentence in sentences {
                writeln!(out, "{sentence}")?;
            }
        }
        Ok(Exit::Good)
    })
}
