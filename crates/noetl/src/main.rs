//! The `noetl` binary: reads the command line, runs one command, and turns its outcome into an exit code.

mod catalog_names;
mod cli;
#[cfg(test)]
mod cli_page;
mod command;
mod config;
mod connection;
mod documents;
mod embedded;
mod examples;
mod exit;
mod following;
mod form;
mod interrupts;
mod logging;
mod memory;
mod output;
mod payload;
mod playbook_file;
mod reference;
mod refusal;
mod report;
mod table;
mod telemetry;
mod telling;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;

use crate::cli::{Cli, Command};
use crate::command::older::{self, refused};
use crate::config::ConfigError;
use crate::exit::{Exit, WrongUse};
use crate::output::Output;

fn main() -> ExitCode {
    memory::give_back_at_once();
    // A shell that completes a command line asks this very binary, and it ends here then.
    CompleteEnv::with_factory(Cli::command).complete();
    let cli = Cli::parse_from(older::spelled_now(std::env::args_os()));
    cli.color.apply();
    let mut out = Output::stdout();
    let outcome = run(&cli, &mut out);
    let outcome = outcome.and_then(|exit| {
        out.flush().context("the output could not be written")?;
        Ok(exit)
    });
    match outcome {
        Ok(exit) => exit.into(),
        Err(error) => complain(&error).into(),
    }
}

fn run(cli: &Cli, out: &mut Output) -> Result<Exit> {
    let flags = &cli.flags();
    let server = &cli.server;
    match &cli.command {
        Command::Run(arguments) => command::run::run(arguments, flags, server, out),
        Command::Check(arguments) => command::check::run(arguments, out),
        Command::Test(arguments) => command::test::run(arguments, flags, out),
        Command::Record(arguments) => command::record::run(arguments, flags, server, out),
        Command::Dev(arguments) => command::dev::run(arguments, flags, out),
        Command::Server(arguments) => command::server::run(arguments, flags, out),
        Command::Worker(arguments) => command::worker::run(arguments, flags, out),
        Command::Register(arguments) => command::register::run(arguments, server, out),
        Command::Catalog(arguments) => command::catalog::run(arguments, server, out),
        Command::Exec(arguments) => command::exec::run(arguments, server, out),
        Command::List(arguments) => command::list::run(arguments, server, out),
        Command::Status(arguments) => command::status::run(arguments, server, out),
        Command::Events(arguments) => command::events::run(arguments, flags, server, out),
        Command::Logs(arguments) => command::logs::run(arguments, flags, server, out),
        Command::Explain(arguments) => command::explain::run(arguments, flags, server, out),
        Command::Cancel(arguments) => command::cancel::run(arguments, server, out),
        Command::Pause(arguments) => command::pause::run(arguments, server, out),
        Command::Resume(arguments) => command::resume::run(arguments, server, out),
        Command::Rerun(arguments) => command::rerun::run(arguments, server, out),
        Command::Signal(arguments) => command::signal::run(arguments, server, out),
        Command::Query(arguments) => command::query::run(arguments, flags, server, out),
        Command::Workers(arguments) => command::workers::run(arguments, server, out),
        Command::Credential(arguments) => command::credential::run(arguments, server, out),
        Command::Plugin(arguments) => command::plugin::run(arguments, server, out),
        Command::Subscription(arguments) => command::subscription::run(arguments, server, out),
        Command::Token(arguments) => command::token::run(arguments, server, out),
        Command::Context(arguments) => command::context::run(arguments, server, out),
        Command::Config(arguments) => command::config::run(arguments, flags, out),
        Command::Doctor(arguments) => command::doctor::run(arguments, flags, server, out),
        Command::Bench(arguments) => command::bench::run(arguments, server, out),
        Command::Schema(arguments) => command::schema::run(arguments, out),
        Command::Completions(arguments) => command::completions::run(arguments, out),
        Command::Version(arguments) => command::version::run(arguments, out),
        Command::Cleanup(arguments) => older::cleanup::run(arguments, server, out),
        Command::Db(arguments) => older::db::run(arguments, server, out),
        Command::Execute(arguments) => older::execute::run(arguments, server, out),
        Command::Get(arguments) => older::get::run(arguments, server, out),
        Command::Ai(arguments) => refused::run(refused::AI, arguments),
        Command::Auth(arguments) => refused::run(refused::AUTH, arguments),
        Command::Build(arguments) => refused::run(refused::BUILD, arguments),
        Command::Codex(arguments) => refused::run(refused::CODEX, arguments),
        Command::Console(arguments) => refused::run(refused::CONSOLE, arguments),
        Command::Ehdb(arguments) => refused::run(refused::EHDB, arguments),
        Command::Iap(arguments) => refused::run(refused::IAP, arguments),
        Command::K8s(arguments) => refused::run(refused::K8S, arguments),
        Command::Provider(arguments) => refused::run(refused::PROVIDER, arguments),
        Command::Subscribe(arguments) => refused::run(refused::SUBSCRIBE, arguments),
    }
}

/// Says what went wrong, and what exit code that is.
fn complain(error: &anyhow::Error) -> Exit {
    if let Some(error) = error.downcast_ref::<noetl_client::Error>() {
        return refusal::complain(error);
    }
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
