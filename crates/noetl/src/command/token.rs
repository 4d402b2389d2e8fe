//! `noetl token`

mod folder;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use noetl_client::api::tokens::{Token, TokenRequest, TokenScope};
use noetl_server::app::Scope;

use crate::connection::{ServerFlags, ask};
use crate::exit::Exit;
use crate::form::{Form, write_json};
use crate::output::{Output, mention};
use crate::table::Table;

/// Make, list and revoke the API tokens of a server, or of a data folder without one
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl token create --data noetl-data --scope admin          the first one, before the server starts
  noetl token create --scope viewer --name ci --days 30       one that may only read, for a month
  noetl token list
  noetl token revoke 350000000000000001

A server with --auth tokens lets in who sends `Authorization: Bearer <secret>`; commands send the one of --token,
NOETL_TOKEN or their context. With --data no server may be running on the folder.

With --json each writes the answer of its route under /api/tokens; `list` writes {\"items\"}.")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,

    /// Work on this data folder, without a server
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

        #[command(flatten)]
        form: Form,
    },
    /// Show all tokens, without their secrets
    List {
        #[command(flatten)]
        form: Form,
    },
    /// End a token for good
    Revoke {
        id: i64,

        #[command(flatten)]
        form: Form,
    },
}

fn scope(name: &str) -> Result<Scope, &'static str> {
    Scope::find(name).ok_or("scopes are viewer, operator, worker and admin")
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let data = arguments.data.as_deref();
    match &arguments.what {
        What::Create { scope, name, days, form } => {
            let created = match data {
                Some(data) => folder::create(data, scope, name, *days)?,
                None => {
                    let request = TokenRequest {
                        name: name.clone(),
                        scopes: scope.iter().map(|scope| named(*scope)).collect(),
                        expires_at: None,
                        expires_in: days.map(|days| days * 86_400),
                    };
                    ask(server, form.quiet, async |client| Ok(client.create_token(&request).await?))?
                }
            };
            match form.json {
                true => write_json(&created, out)?,
                false => writeln!(out, "{}", created.token)?,
            }
        }
        What::List { form } => {
            let found = match data {
                Some(data) => folder::list(data)?,
                None => ask(server, form.quiet, async |client| Ok(client.list_tokens().await?))?,
            };
            match form {
                Form { json: true, .. } => write_json(&found, out)?,
                Form { quiet: true, .. } => {
                    for token in &found.items {
                        writeln!(out, "{}", token.id)?;
                    }
                }
                _ if found.items.is_empty() => mention(format_args!("there are no tokens")),
                _ => table(&found.items).write(out)?,
            }
        }
        What::Revoke { id, form } => {
            let done = match data {
                Some(data) => folder::revoke(data, *id)?,
                None => ask(server, form.quiet, async |client| Ok(client.revoke_token(*id).await?))?,
            };
            form.answer(&done, out, |_| Ok(()))?;
        }
    }
    Ok(Exit::Good)
}

fn named(scope: Scope) -> TokenScope {
    match scope {
        Scope::Viewer => TokenScope::Viewer,
        Scope::Operator => TokenScope::Operator,
        Scope::Worker => TokenScope::Worker,
        Scope::Admin => TokenScope::Admin,
    }
}

fn table(tokens: &[Token]) -> Table {
    let mut table = Table::new(["ID", "NAME", "SCOPES", "MADE", "EXPIRES", "LAST USED", "REVOKED"]);
    for token in tokens {
        let at = |instant: &Option<String>| instant.clone().unwrap_or_else(|| "-".to_owned());
        table.row([
            token.id.into(),
            (&token.name).into(),
            token.scopes.join(",").into(),
            (&token.created_at).into(),
            at(&token.expires_at).into(),
            at(&token.last_used_at).into(),
            at(&token.revoked_at).into(),
        ]);
    }
    table
}
