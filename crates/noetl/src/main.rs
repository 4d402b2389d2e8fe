//! The `noetl` binary: reads the command line, runs one command, and turns its outcome into an exit code.

mod cli;
mod command;
mod config;
mod documents;
mod embedded;
mod examples;
mod exit;
mod interrupts;
mod logging;
mod output;
mod report;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

use crate::cli::{Cli, Command};
use crate::config::ConfigError;
use crate::exit::{Exit, WrongUse};
use crate::output::Output;

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.color.apply();
    let flags = cli.flags();
    let mut out = Output::stdout();
    let outcome = match &cli.command {
        Command::Check(arguments) => command::check::run(arguments, &mut out),
        Command::Dev(arguments) => command::dev::run(arguments, &flags, &mut out),
        Command::Server(arguments) => command::server::run(arguments, &flags, &mut out),
        Command::Worker(arguments) => command::worker::run(arguments, &flags, &mut out),
        Command::Run(arguments) => command::run::run(arguments, &flags, &mut out),
        Command::Events(arguments) => command::events::run(arguments, &flags, &mut out),
        Command::Logs(arguments) => command::logs::run(arguments, &flags, &mut out),
        Command::Explain(arguments) => command::explain::run(arguments, &flags, &mut out),
        Command::Query(arguments) => command::query::run(arguments, &flags, &mut out),
        Command::Schema(arguments) => command::schema::run(arguments, &mut out),
        Command::Config(arguments) => command::config::run(arguments, &flags, &mut out),
        Command::Token(arguments) => command::token::run(arguments, &flags, &mut out),
        Command::Completions(arguments) => command::completions::run(arguments, &mut out),
        Command::Version(arguments) => command::version::run(arguments, &mut out),
    };
    let outcome = outcome.and_then(|exit| {
        out.flush().context("the output could not be written")?;
        Ok(exit)
    });
    match outcome {
        Ok(exit) => exit.into(),
        Err(error) => complain(&error).into(),
    }
}

/// Says what went wrong, and what exit code that is.
fn complain(error: &anyhow::Error) -> Exit {
    match error.downcast_ref::<ConfigError>() {
        Some(wrong) => {
            for problem in &wrong.problems {
                output::complain(format_args!("{problem}"));
            }
            Exit::Usage
        }
        None => {
            output::complain(format_args!("{error:#}"));
            if error.is::<WrongUse>() { Exit::Usage } else { Exit::Failed }
        }
    }
}
