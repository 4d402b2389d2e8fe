//! `noetl get`

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::command::credential;
use crate::connection::ServerFlags;
use crate::exit::Exit;
use crate::form::Form;
use crate::output::Output;

/// Show a credential; `noetl credential get` says the same
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  noetl get credential pg_main --include-data=false")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show a credential
    Credential {
        name: String,

        /// With its fields
        #[arg(long, default_value_t = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = clap::ArgAction::Set)]
        include_data: bool,

        #[command(flatten)]
        form: Form,
    },
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let What::Credential { name, include_data, form } = &arguments.what;
    credential::get(name, *include_data, *form, server, out)?;
    Ok(Exit::Good)
}
