//! `noetl logs`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use noetl_store::LogFilter;

use super::data::{RunOf, wait};
use crate::exit::Exit;
use crate::output::{Output, mention};

/// Show what the steps of a run printed
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl logs 1234567 --data runs
  noetl logs 1234567 --data runs --step fetch")]
pub struct Arguments {
    #[command(flatten)]
    run: RunOf,

    /// Only this step
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
}

const PAGE: usize = 200;

pub fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit> {
    wait(async {
        let store = arguments.run.open().await?;
        let mut filter = LogFilter { step: arguments.step.clone(), ..LogFilter::default() };
        let mut dropped = 0;
        loop {
            let chunks = store.list_logs(arguments.run.execution(), &filter, PAGE).await?;
            for stored in &chunks {
                filter.after = stored.cursor;
                dropped += stored.dropped;
                let text = String::from_utf8_lossy(&stored.chunk.bytes);
                for line in text.lines() {
                    writeln!(out, "{} | {line}", stored.chunk.step)?;
                }
            }
            if chunks.len() < PAGE {
                break;
            }
        }
        if dropped > 0 {
            mention(format_args!("{dropped} bytes were over the limit and are not kept"));
        }
        Ok(Exit::Good)
    })
}
