//! `noetl config`

use std::io::Write;

use anyhow::Result;
use clap::{Args, Subcommand};
use noetl_types::Value;

use crate::config::{self, DEFAULT_FILE, Flags, Loaded, Origin, Surroundings};
use crate::exit::Exit;
use crate::output::Output;

/// Show the configuration: what counts, where it comes from, and all there is to choose
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl config show                    every value that counts, and where it came from
  noetl config show --json             the same for programs
  noetl config default > noetl.toml    a file to start from, every setting explained")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print each setting with the value that counts and where it came from
    Show {
        /// Write one JSON object
        #[arg(long, short)]
        json: bool,
    },
    /// Print the default configuration file, with every setting explained
    Default,
}

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    match arguments.action {
        Action::Default => write!(out, "{DEFAULT_FILE}")?,
        Action::Show { json } => {
            let loaded = config::load(flags, &Surroundings::of_this_process())?;
            if json {
                serde_json::to_writer_pretty(&mut *out, &loaded.in_effect())?;
                writeln!(out)?;
            } else {
                show(&loaded, out)?;
            }
        }
    }
    Ok(Exit::Good)
}

fn show(loaded: &Loaded, out: &mut Output) -> Result<()> {
    let lines: Vec<(String, &Origin)> = loaded
        .settings
        .iter()
        .map(|setting| (format!("{} = {}", setting.key, written(&setting.value)), &setting.origin))
        .collect();
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
    for (line, origin) in lines {
        writeln!(out, "{line:<width$}  {origin}")?;
    }
    Ok(())
}

/// A value as the file would have it; a dash when there is none.
fn written(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(name, value)| format!("{name} = {}", written(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    }
}
