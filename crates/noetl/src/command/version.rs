//! `noetl version`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use crate::exit::Exit;
use crate::output::Output;

/// The apiVersion of the playbooks this binary understands.
const LANGUAGE: &str = "noetl.io/v2";

/// Say which version this is
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  noetl version --json")]
pub struct Arguments {
    /// Write JSON
    #[arg(long, short)]
    json: bool,
}

pub fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit> {
    let version = env!("CARGO_PKG_VERSION");
    if arguments.json {
        let facts = json!({
            "version": version,
            "language": LANGUAGE,
            "os": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
        });
        writeln!(out, "{facts}")?;
    } else {
        writeln!(out, "noetl {version}, playbooks of {LANGUAGE}")?;
    }
    Ok(Exit::Good)
}
