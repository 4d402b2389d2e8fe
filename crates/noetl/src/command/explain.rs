//! `noetl explain`

use std::io::Write;

use anyhow::{Result, bail};
use clap::Args;
use noetl_server::drive::load_run;

use super::data::{RunOf, wait};
use crate::exit::Exit;
use crate::output::Output;

/// Say in words where a run stands and what it waits for
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  noetl explain 1234567 --data runs")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,
}

pub fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit> {
    wait(async {
        let store = arguments.run.open().await?;
        let Some((run, _)) = load_run(&*store, arguments.run.execution()).await? else {
            bail!("the run has no events");
        };
        let Some(entry) = store.find_entry(run.started.catalog_id).await? else {
            bail!("the playbook of the run is gone from the catalog");
        };
        let checked = noetl_dsl::check(&entry.entry.content, &noetl_dsl::Options::default());
        let Some(plan) = checked.plan else {
            bail!("the playbook of the run is not valid for this release");
        };
        for line in noetl_engine::explain(&run, &plan) {
            writeln!(out, "{line}")?;
        }
        Ok(Exit::Good)
    })
}
