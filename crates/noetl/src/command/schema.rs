//! `noetl schema`

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::exit::Exit;
use crate::form::write_json;
use crate::output::Output;

/// Write the JSON Schema of playbooks, subscriptions or test files, for editors
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  noetl schema > playbook.schema.json

Editors with a YAML language server use it through the first line of a playbook:
  # yaml-language-server: $schema=./playbook.schema.json")]
pub struct Arguments {
    /// The kind of document
    #[arg(value_enum, default_value_t = Kind::Playbook)]
    kind: Kind,

    /// The file to write; standard output when left out
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Playbook,
    Subscription,
    Test,
}

pub fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit> {
    let schema = match arguments.kind {
        Kind::Playbook => noetl_dsl::schema(),
        Kind::Subscription => noetl_dsl::subscription_schema(),
        Kind::Test => noetl_test::schema(),
    };
    match &arguments.output {
        Some(file) => {
            let text = serde_json::to_string_pretty(&schema)? + "\n";
            std::fs::write(file, text).with_context(|| file.display().to_string())?;
        }
        None => write_json(&schema, out)?,
    }
    Ok(Exit::Good)
}
