//! `noetl logs`

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use clap::Args;
use noetl_client::Client;
use noetl_client::api::execution::{LogLine, LogParameters};
use noetl_server::http::log_line;
use noetl_store::{LogFilter, Store};
use noetl_types::ExecutionId;

use super::data::{LOOK_AGAIN, RunOf, Source, wait};
use crate::config::Flags;
use crate::connection::{ServerFlags, converse};
use crate::exit::Exit;
use crate::form::write_json_line;
use crate::interrupts::Interrupts;
use crate::output::{Output, mention};

/// Show what the steps of an execution printed
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl logs 380361384216494080
  noetl logs 380361384216494080 -f             go on until the execution is over
  noetl logs 380361384216494080 --step fetch
  noetl logs                                   of the newest one
  noetl logs --data runs                       of a run that `noetl run --data runs` keeps

With --json each piece of output is an object on a line of its own: {\"cursor\", \"at\", \"step\", \"command\", \"attempt\",
\"stream\", \"text\", \"dropped_bytes\"}.")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,

    /// Go on showing output until the execution is over
    #[arg(long, short)]
    follow: bool,

    /// Only this step
    #[arg(long, value_name = "STEP")]
    step: Option<String>,

    /// Write each piece of output as a JSON object on a line of its own
    #[arg(long, short)]
    json: bool,
}

const PAGE: usize = 200;

/// Output may come a little later than the event that ends the run: so many looks must find nothing new.
const LOOKS_AFTER_THE_END: usize = 3;

pub fn run(arguments: &Arguments, flags: &Flags, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    match arguments.run.folder.source(flags, server)? {
        Source::Folder(data) => of_folder(arguments, &data, out),
        Source::Server => converse(server, async |client| of_server(arguments, &client, out).await),
    }
}

async fn of_server(arguments: &Arguments, client: &Client, out: &mut Output) -> Result<Exit> {
    let execution = arguments.run.on_server(client).await?;
    let mut asked = LogParameters { step: arguments.step.clone(), ..LogParameters::default() };
    let mut shown = Shown::default();
    if arguments.follow {
        let mut interrupts = Interrupts::listen()?;
        let mut lines = client.follow_logs(execution, &asked);
        loop {
            tokio::select! {
                line = lines.next() => match line? {
                    Some(line) if !out.is_reader_gone() => shown.show(&line, arguments.json, out)?,
                    _ => break,
                },
                exit = interrupts.next() => return Ok(exit),
            }
            out.flush()?;
        }
    } else {
        loop {
            let page = client.list_logs(execution, &asked).await?;
            for line in &page.logs {
                shown.show(line, arguments.json, out)?;
            }
            asked.after = Some(page.next);
            if !page.has_more || out.is_reader_gone() {
                break;
            }
        }
    }
    shown.conclude();
    Ok(Exit::Good)
}

/// What was shown so far.
#[derive(Debug, Default)]
struct Shown {
    pieces: usize,
    dropped: u64,
}

impl Shown {
    fn show(&mut self, line: &LogLine, json: bool, out: &mut Output) -> Result<()> {
        self.pieces += 1;
        self.dropped += line.dropped_bytes;
        if json {
            return write_json_line(line, out);
        }
        for text in line.text.lines() {
            writeln!(out, "{} | {text}", line.step)?;
        }
        Ok(())
    }

    /// Says what can't be seen from what was shown.
    fn conclude(&self) {
        if self.pieces == 0 {
            mention(format_args!("nothing was printed"));
        }
        if self.dropped > 0 {
            mention(format_args!("{} bytes were over the limit and are not kept", self.dropped));
        }
    }
}

fn of_folder(arguments: &Arguments, data: &Path, out: &mut Output) -> Result<Exit> {
    wait(async {
        let (store, execution) = arguments.run.open(data).await?;
        let mut reading = Reading {
            filter: LogFilter { step: arguments.step.clone(), ..LogFilter::default() },
            json: arguments.json,
            shown: Shown::default(),
        };
        let mut looks_left = LOOKS_AFTER_THE_END;
        loop {
            let over = is_over(&*store, execution).await?;
            let found = reading.show_new(&*store, execution, out).await?;
            looks_left = if over && found == 0 { looks_left - 1 } else { LOOKS_AFTER_THE_END };
            if !arguments.follow || looks_left == 0 || out.is_reader_gone() {
                break;
            }
            out.flush()?;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        reading.shown.conclude();
        Ok(Exit::Good)
    })
}

async fn is_over(store: &dyn Store, execution: ExecutionId) -> Result<bool> {
    let found = store.find_execution(execution).await?;
    Ok(found.is_none_or(|found| found.row.status.is_terminal()))
}

struct Reading {
    filter: LogFilter,
    json: bool,
    shown: Shown,
}

impl Reading {
    /// Shows what has come since the last time and says how many pieces that were.
    async fn show_new(
        &mut self,
        store: &dyn Store,
        execution: ExecutionId,
        out: &mut Output,
    ) -> Result<usize> {
        let mut found = 0;
        loop {
            let chunks = store.list_logs(execution, &self.filter, PAGE).await?;
            for stored in &chunks {
                self.filter.after = stored.cursor;
                self.shown.show(&log_line(stored), self.json, out)?;
            }
            found += chunks.len();
            if chunks.len() < PAGE {
                return Ok(found);
            }
        }
    }
}
