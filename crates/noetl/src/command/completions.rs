//! `noetl completions`

use std::io::Write;

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::Output;

/// Write a script that teaches a shell to complete this command line
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl completions bash > ~/.local/share/bash-completion/completions/noetl
  noetl completions zsh > ~/.zfunc/_noetl
  noetl completions fish > ~/.config/fish/completions/noetl.fish")]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit> {
    // The generator panics when it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "noetl", &mut script);
    out.write_all(&script)?;
    Ok(Exit::Good)
}
