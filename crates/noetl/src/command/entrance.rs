//! Who may come in to a server: the flags of the commands that serve, and the refusal to leave the door open.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use noetl_server::http::Auth;

use crate::config::{Config, Flags};
use crate::output::mention;

#[derive(Debug, Args)]
pub struct Entrance {
    /// How callers show who they are
    #[arg(long, value_enum, value_name = "HOW")]
    auth: Option<Login>,

    /// Listen beyond this machine although nobody has to log in
    #[arg(long)]
    insecure: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Login {
    /// Everybody may do everything
    None,
    /// Every caller needs an API token; see `noetl token`
    Tokens,
}

impl Entrance {
    /// What these flags say about the configuration.
    pub fn set(&self, flags: &mut Flags) {
        match self.auth {
            Some(Login::None) => flags.set("server.auth", "--auth", "none"),
            Some(Login::Tokens) => flags.set("server.auth", "--auth", "tokens"),
            None => {}
        }
        if self.insecure {
            flags.set("server.insecure", "--insecure", "true");
        }
    }
}

/// Refuses to serve everybody who can reach this machine, unless that is what the operator wants.
pub fn check(config: &Config) -> Result<()> {
    let server = &config.server;
    if server.listen.is_local() || server.gate.auth != Auth::None {
        return Ok(());
    }
    if !server.insecure {
        bail!(
            "{} can be reached from other machines, and nobody has to log in; add --auth tokens, or --insecure to do it all the same",
            server.listen
        );
    }
    mention(format_args!("everybody who can reach {} may do everything", server.listen));
    Ok(())
}
