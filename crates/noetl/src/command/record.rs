//! `noetl record`

mod folder;
mod rows;
mod server;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use noetl_dsl::Plan;
use noetl_test::{Recording, to_yaml};
use noetl_types::Event;

use super::data::{RunOf, Source};
use crate::config::Flags;
use crate::connection::ServerFlags;
use crate::exit::Exit;
use crate::output::{Output, mention};

/// Write what the tools of an execution gave, for tests
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl record 380361384216494080 --output flow.recording.yaml   for `recorded:` in a case of a test file
  noetl record 380361384216494080 --test --output flow.test.yaml the execution as a test file
  noetl record --data runs                                       of the newest run that is kept in a folder

Mocks answer with what counted in the end; attempts that were followed by another one are not in the events.")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,

    /// Write a whole test file, with a case that expects what the execution came to
    #[arg(long)]
    test: bool,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// An execution: its playbook, and its events with every value in them.
type History = (Arc<Plan>, Vec<Event>);

pub fn run(arguments: &Arguments, flags: &Flags, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let (plan, events) = match arguments.run.folder.source(flags, server)? {
        Source::Folder(data) => folder::history(&arguments.run, &data)?,
        Source::Server => server::history(&arguments.run, server)?,
    };
    let recording = Recording::of(&plan, &events);
    let text = to_yaml(&if arguments.test { recording.to_test() } else { recording.to_value() });
    match &arguments.output {
        None => out.write_all(text.as_bytes())?,
        Some(file) => {
            std::fs::write(file, text).with_context(|| format!("{} could not be written", file.display()))?;
            mention(format_args!("wrote {}", file.display()));
        }
    }
    Ok(Exit::Good)
}

/// The plan of a playbook that was run.
fn plan_of(text: &str) -> Result<Arc<Plan>> {
    let checked = noetl_dsl::check(text, &noetl_dsl::Options::default());
    checked.plan.context("the playbook of the execution is not valid for this release")
}
