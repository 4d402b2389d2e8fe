//! `noetl events`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use noetl_types::{Event, EventBody};

use super::data::{LOOK_AGAIN, RunOf, wait};
use crate::config::Flags;
use crate::exit::Exit;
use crate::output::Output;

/// Show what happened in a run, event by event
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl events --data runs                     of the newest run
  noetl events 1234567 --data runs
  noetl events 1234567 --data runs -f        go on until the run is over
  noetl events 1234567 --data runs --json    one JSON object a line")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,

    /// Go on showing events until the run is over
    #[arg(long, short)]
    follow: bool,

    /// Write each event as a JSON object on a line of its own
    #[arg(long)]
    json: bool,
}

const PAGE: usize = 500;

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    wait(async {
        let (store, execution) = arguments.run.open(flags).await?;
        let (mut after, mut over) = (0, false);
        loop {
            let events = store.load_events(execution, after, PAGE).await?;
            for event in &events {
                after = event.seq;
                over |= is_the_end(event);
                show(event, arguments.json, out)?;
            }
            if events.len() == PAGE {
                continue;
            }
            if !arguments.follow || over || out.is_reader_gone() {
                return Ok(Exit::Good);
            }
            out.flush()?;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    })
}

fn show(event: &Event, json: bool, out: &mut Output) -> Result<()> {
    if json {
        serde_json::to_writer(&mut *out, event)?;
        writeln!(out)?;
    } else {
        let step = event.body.step().map_or("", |step| step);
        let name = event.body.type_name();
        writeln!(out, "{:>6}  {}  {name:<20}  {step}", event.seq, event.at)?;
    }
    Ok(())
}

fn is_the_end(event: &Event) -> bool {
    matches!(
        event.body,
        EventBody::PlaybookCompleted { .. }
            | EventBody::PlaybookFailed { .. }
            | EventBody::PlaybookCancelled { .. }
    )
}
