//! `noetl events`

use std::io::Write;

use anyhow::Result;
use clap::Args;

use super::data::{RunOf, wait};
use crate::exit::Exit;
use crate::output::Output;

/// Show what happened in a run, event by event
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl events 1234567 --data runs
  noetl events 1234567 --data runs --json    one JSON object a line")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,

    /// Write each event as a JSON object on a line of its own
    #[arg(long)]
    json: bool,
}

const PAGE: usize = 500;

pub fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit> {
    wait(async {
        let store = arguments.run.open().await?;
        let mut after = 0;
        loop {
            let events = store.load_events(arguments.run.execution(), after, PAGE).await?;
            for event in &events {
                after = event.seq;
                if arguments.json {
                    serde_json::to_writer(&mut *out, event)?;
                    writeln!(out)?;
                } else {
                    let step = event.body.step().map_or("", |step| step);
                    let name = event.body.type_name();
                    writeln!(out, "{:>6}  {}  {name:<20}  {step}", event.seq, event.at)?;
                }
            }
            if events.len() < PAGE {
                return Ok(Exit::Good);
            }
        }
    })
}
