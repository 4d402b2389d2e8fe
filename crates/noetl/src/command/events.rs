//! `noetl events`

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use noetl_client::Client;
use noetl_client::api::execution::{EventRow, EventsParameters};
use noetl_server::http::event_row;

use super::data::{LOOK_AGAIN, RunOf, Source, wait};
use crate::config::Flags;
use crate::connection::{ServerFlags, converse};
use crate::exit::Exit;
use crate::form::write_json_line;
use crate::interrupts::Interrupts;
use crate::output::Output;

/// Show what happened in an execution, event by event
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl events 380361384216494080
  noetl events 380361384216494080 -f        go on until the execution is over
  noetl events                              of the newest one
  noetl events --data runs                  of a run that `noetl run --data runs` keeps

With --json each event is an object on a line of its own, an EventRow of the API.")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,

    /// Go on showing events until the execution is over
    #[arg(long, short)]
    follow: bool,

    /// Write each event as a JSON object on a line of its own
    #[arg(long, short)]
    json: bool,
}

const PAGE: usize = 500;

pub fn run(arguments: &Arguments, flags: &Flags, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    match arguments.run.folder.source(flags, server)? {
        Source::Folder(data) => of_folder(arguments, &data, out),
        Source::Server => converse(server, async |client| of_server(arguments, &client, out).await),
    }
}

async fn of_server(arguments: &Arguments, client: &Client, out: &mut Output) -> Result<Exit> {
    let execution = arguments.run.on_server(client).await?;
    if !arguments.follow {
        let mut asked =
            EventsParameters { after_seq: Some(0), limit: Some(PAGE as u64), ..EventsParameters::default() };
        loop {
            let page = client.list_events(execution, &asked).await?;
            for event in &page.events {
                show(event, arguments.json, out)?;
            }
            asked.after_seq = page.events.last().map(|event| event.seq);
            if !page.has_more || asked.after_seq.is_none() || out.is_reader_gone() {
                return Ok(Exit::Good);
            }
        }
    }
    let mut interrupts = Interrupts::listen()?;
    let mut events = client.follow_events(execution, 0);
    loop {
        tokio::select! {
            event = events.next() => match event? {
                Some(event) if !out.is_reader_gone() => show(&event, arguments.json, out)?,
                _ => return Ok(Exit::Good),
            },
            exit = interrupts.next() => return Ok(exit),
        }
        out.flush()?;
    }
}

fn show(event: &EventRow, json: bool, out: &mut Output) -> Result<()> {
    if json {
        return write_json_line(event, out);
    }
    // Events of the whole execution have no step.
    let step = if event.event_type.starts_with("playbook") { None } else { event.node_name.as_deref() };
    let EventRow { seq, timestamp, event_type, .. } = event;
    let text = format!("{seq:>6}  {timestamp}  {event_type:<20}  {}", step.unwrap_or_default());
    writeln!(out, "{}", text.trim_end())?;
    Ok(())
}

fn of_folder(arguments: &Arguments, data: &Path, out: &mut Output) -> Result<Exit> {
    wait(async {
        let (store, execution) = arguments.run.open(data).await?;
        let Some(found) = store.find_execution(execution).await? else {
            bail!("execution {execution} is gone");
        };
        let (mut after, mut over) = (0, false);
        loop {
            let events = store.load_events(execution, after, PAGE).await?;
            for event in &events {
                after = event.seq;
                over |= event.body.is_end();
                show(&event_row(&found, event), arguments.json, out)?;
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
