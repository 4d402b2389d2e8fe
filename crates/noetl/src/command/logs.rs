//! `noetl logs`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use noetl_store::{LogFilter, Store, StoredLogChunk};
use noetl_types::ExecutionId;
use serde_json::json;

use super::data::{LOOK_AGAIN, RunOf, wait};
use crate::config::Flags;
use crate::exit::Exit;
use crate::output::{Output, mention};

/// Show what the steps of a run printed
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl logs --data runs                     of the newest run
  noetl logs 1234567 --data runs
  noetl logs 1234567 --data runs -f             go on until the run is over
  noetl logs 1234567 --data runs --step fetch
  noetl logs 1234567 --data runs --json         one JSON object for each piece of output")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,

    /// Go on showing output until the run is over
    #[arg(long, short)]
    follow: bool,

    /// Only this step
    #[arg(long, value_name = "STEP")]
    step: Option<String>,

    /// Write each piece of output as a JSON object on a line of its own
    #[arg(long)]
    json: bool,
}

const PAGE: usize = 200;

/// Output may come a little later than the event that ends the run: so many looks must find nothing new.
const LOOKS_AFTER_THE_END: usize = 3;

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    wait(async {
        let (store, execution) = arguments.run.open(flags).await?;
        let mut reading = Reading {
            filter: LogFilter { step: arguments.step.clone(), ..LogFilter::default() },
            json: arguments.json,
            dropped: 0,
        };
        let (mut looks_left, mut shown) = (LOOKS_AFTER_THE_END, 0);
        loop {
            let over = is_over(&*store, execution).await?;
            let found = reading.show_new(&*store, execution, out).await?;
            shown += found;
            looks_left = if over && found == 0 { looks_left - 1 } else { LOOKS_AFTER_THE_END };
            if !arguments.follow || looks_left == 0 || out.is_reader_gone() {
                break;
            }
            out.flush()?;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        if shown == 0 {
            mention(format_args!("nothing was printed"));
        }
        if reading.dropped > 0 {
            mention(format_args!("{} bytes were over the limit and are not kept", reading.dropped));
        }
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
    dropped: u64,
}

impl Reading {
    /// Shows what has come since the last time and says how many pieces that were.
    async fn show_new(
        &mut self,
        store: &dyn Store,
        execution: ExecutionId,
        out: &mut Output,
    ) -> Result<usize> {
        let mut shown = 0;
        loop {
            let chunks = store.list_logs(execution, &self.filter, PAGE).await?;
            for stored in &chunks {
                self.filter.after = stored.cursor;
                self.dropped += stored.dropped;
                self.show(stored, out)?;
            }
            shown += chunks.len();
            if chunks.len() < PAGE {
                return Ok(shown);
            }
        }
    }

    fn show(&self, stored: &StoredLogChunk, out: &mut Output) -> Result<()> {
        let chunk = &stored.chunk;
        let text = String::from_utf8_lossy(&chunk.bytes);
        if self.json {
            let line = json!({
                "at": chunk.at.to_string(),
                "step": chunk.step,
                "command": chunk.command.to_string(),
                "attempt": chunk.attempt,
                "stream": chunk.stream.as_str(),
                "text": text,
                "dropped_bytes": stored.dropped,
            });
            writeln!(out, "{line}")?;
        } else {
            for line in text.lines() {
                writeln!(out, "{} | {line}", chunk.step)?;
            }
        }
        Ok(())
    }
}
