//! `noetl completions`

use std::io::Write;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use clap_complete::env::Shells;

use crate::exit::Exit;
use crate::output::Output;

/// Write a script that teaches a shell to complete this command line, with the paths of the catalog
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl completions bash > ~/.local/share/bash-completion/completions/noetl
  noetl completions zsh > ~/.zfunc/_noetl
  noetl completions fish > ~/.config/fish/completions/noetl.fish

The script asks `noetl` itself, which asks the server for the paths of its catalog, and waits for it two seconds at
most.")]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Shell {
    fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Elvish => "elvish",
            Shell::Fish => "fish",
            Shell::Powershell => "powershell",
            Shell::Zsh => "zsh",
        }
    }
}

pub fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit> {
    let shells = Shells::builtins();
    let shell = shells.completer(arguments.shell.name()).context("the shell is not known")?;
    let mut script = Vec::new();
    shell.write_registration("COMPLETE", "noetl", "noetl", "noetl", &mut script)?;
    out.write_all(&script)?;
    Ok(Exit::Good)
}
