//! `noetl token`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use noetl_server::app::Scope;
use noetl_server::app::tokens::{NewToken, mint};
use noetl_server::clock::{Clock, SystemClock};
use noetl_server::ids::IdSource;
use noetl_store::{ApiToken, ApiTokens};
use noetl_store_sqlite::{Options, SqliteStore};

use super::data::wait;
use crate::config::{Config, Flags};
use crate::exit::{Exit, WrongUse};
use crate::output::Output;

/// Make, list and revoke the API tokens of a data folder, without a server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl token create --data noetl-data --scope admin          print the secret of a new token
  noetl token create --scope viewer --name ci --days 30       one that may only read, for a month
  noetl token list
  noetl token revoke 350000000000000001

A server with --auth tokens lets in who sends `Authorization: Bearer <secret>`. While a server runs on the data folder, use
its own routes under /api/tokens instead.")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,

    /// The data folder, noetl-data unless configured otherwise
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a token and print its secret, which is shown this once
    Create {
        /// What it is good for: viewer, operator, worker or admin; may be given several times
        #[arg(long, value_name = "SCOPE", required = true, value_parser = scope)]
        scope: Vec<Scope>,

        /// For people, to tell tokens apart
        #[arg(long, default_value = "cli")]
        name: String,

        /// How many days it is valid; without it until it is revoked
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..=36_500))]
        days: Option<u64>,
    },
    /// Show all tokens, without their secrets
    List,
    /// End a token for good
    Revoke { id: i64 },
}

fn scope(name: &str) -> Result<Scope, &'static str> {
    Scope::find(name).ok_or("scopes are viewer, operator, worker and admin")
}

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    let data = match &arguments.data {
        Some(data) => data.clone(),
        None => Config::load(flags)?.server.data,
    };
    wait(act(&arguments.what, &data, out))
}

async fn act(what: &What, data: &Path, out: &mut Output) -> Result<Exit> {
    std::fs::create_dir_all(data)
        .with_context(|| format!("the data folder {} can't be made", data.display()))?;
    let store = SqliteStore::open(data.join("noetl.db"), &Options::default())?;
    let clock: Arc<dyn Clock> = SystemClock::shared();
    let now = clock.now();
    match what {
        What::Create { scope, name, days } => {
            let expires_at = days.map(|days| now.after(Duration::from_secs(days * 86_400)));
            let new = NewToken { name: name.clone(), scopes: scope.clone(), expires_at };
            let id = IdSource::new(clock, 0).next();
            let minted = mint(&store, id, now, new).await?;
            writeln!(out, "{}", minted.secret)?;
        }
        What::List => {
            for token in store.list_tokens().await? {
                writeln!(out, "{}", line(&token))?;
            }
        }
        What::Revoke { id } => {
            if !store.revoke_token(*id, now).await? {
                return Err(WrongUse(format!("there is no token {id} that could be revoked")).into());
            }
        }
    }
    Ok(Exit::Good)
}

fn line(token: &ApiToken) -> String {
    let mut line =
        format!("{}  {}  {}  made {}", token.id, token.name, token.scopes.join(","), token.created_at);
    for (word, at) in
        [("expires", token.expires_at), ("used", token.last_used_at), ("revoked", token.revoked_at)]
    {
        if let Some(at) = at {
            line.push_str(&format!("  {word} {at}"));
        }
    }
    line
}
