//! `noetl db`

use std::io::Write;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::connection::{ServerFlags, ask};
use crate::exit::Exit;
use crate::form::Form;
use crate::output::Output;

/// See whether the database of the server has its tables
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  noetl db validate")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The server makes its tables when it starts; this says whether they are there
    Init {
        #[command(flatten)]
        form: Form,
    },
    /// Say whether the tables are there
    Validate {
        #[command(flatten)]
        form: Form,
    },
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let (form, state) = match &arguments.what {
        What::Init { form } => {
            (form, ask(server, form.quiet, async |client| Ok(client.init_database().await?))?)
        }
        What::Validate { form } => {
            (form, ask(server, form.quiet, async |client| Ok(client.validate_database().await?))?)
        }
    };
    form.answer(&state, out, |out| {
        writeln!(out, "{}", state.message)?;
        Ok(())
    })?;
    Ok(if state.valid { Exit::Good } else { Exit::Failed })
}
