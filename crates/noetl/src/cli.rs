//! The command line: what may be typed. What a command does is in its own file under `command`.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::command::older::{cleanup, db, execute, get, refused};
use crate::command::{
    bench, cancel, catalog, check, completions, config, context, credential, dev, doctor, events, exec,
    explain, list, logs, pause, plugin, query, record, register, rerun, resume, run, schema, server, signal,
    status, subscription, test, token, version, worker, workers,
};
use crate::config::Flags;
use crate::connection::ServerFlags;

/// Runs NoETL playbooks: workflows in YAML.
#[derive(Debug, Parser)]
#[command(name = "noetl", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// When to use colours. `auto` uses them on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,

    /// The configuration file, in place of ./noetl.toml or the user's own; see `noetl config`
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// A setting of the configuration, such as worker.concurrency=8; may be given several times
    #[arg(long, short, global = true, value_name = "KEY=VALUE", value_parser = assignment)]
    option: Vec<(String, String)>,

    #[command(flatten)]
    pub server: ServerFlags,
}

impl Cli {
    /// What the command line says about settings.
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::new(self.config.clone());
        for (key, value) in &self.option {
            flags.set(key, "--option", value);
        }
        flags
    }
}

fn assignment(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Box<run::Arguments>),
    Check(check::Arguments),
    Test(test::Arguments),
    Record(record::Arguments),

    Dev(dev::Arguments),
    Server(server::Arguments),
    Worker(worker::Arguments),

    Register(register::Arguments),
    Catalog(catalog::Arguments),
    Exec(Box<exec::Arguments>),
    List(list::Arguments),
    Status(status::Arguments),
    Events(events::Arguments),
    Logs(logs::Arguments),
    Explain(explain::Arguments),
    Cancel(cancel::Arguments),
    Pause(pause::Arguments),
    Resume(resume::Arguments),
    Rerun(rerun::Arguments),
    Signal(signal::Arguments),
    Query(query::Arguments),
    Workers(workers::Arguments),
    Credential(credential::Arguments),
    Plugin(plugin::Arguments),
    Subscription(subscription::Arguments),
    Token(token::Arguments),

    Context(context::Arguments),
    Config(config::Arguments),
    Doctor(doctor::Arguments),
    Bench(bench::Arguments),
    Schema(schema::Arguments),
    Completions(completions::Arguments),
    Version(version::Arguments),

    #[command(hide = true)]
    Cleanup(cleanup::Arguments),
    #[command(hide = true)]
    Db(db::Arguments),
    #[command(hide = true)]
    Execute(execute::Arguments),
    #[command(hide = true)]
    Get(get::Arguments),

    #[command(hide = true)]
    Ai(refused::Arguments),
    #[command(hide = true)]
    Auth(refused::Arguments),
    #[command(hide = true)]
    Build(refused::Arguments),
    #[command(hide = true)]
    Codex(refused::Arguments),
    #[command(hide = true)]
    Console(refused::Arguments),
    #[command(hide = true)]
    Ehdb(refused::Arguments),
    #[command(hide = true)]
    Iap(refused::Arguments),
    #[command(hide = true)]
    K8s(refused::Arguments),
    #[command(hide = true)]
    Provider(refused::Arguments),
    #[command(hide = true)]
    Subscribe(refused::Arguments),
}

const EXIT_CODES: &str = "\
Exit codes:
  0  everything is as it should be
  1  the command could not do its work, or the execution failed
  2  wrong use: an unknown flag, a file that cannot be read, an id or a path that is not there
  3  a playbook is not valid
  129, 130, 143  the terminal went away, Ctrl-C was pressed, the system asked to end";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Makes this the choice of everything that writes from here on.
    pub fn apply(self) {
        let choice = match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                help.contains(&format!("noetl {}", command.get_name())),
                "{}: {help}",
                command.get_name()
            );
        }
    }
}
