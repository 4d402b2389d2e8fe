//! `noetl plugin`

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use noetl_client::Client;
use noetl_client::api::plugin::PluginInfo;

use crate::connection::{ServerFlags, ask};
use crate::exit::{Exit, WrongUse};
use crate::form::Form;
use crate::output::{Output, mention};
use crate::table::Table;

/// Keep the WebAssembly modules that steps call
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl plugin push tools/score score.wasm               as the next version
  noetl plugin push tools/score score.wasm --version 3
  noetl plugin list
  noetl plugin get tools/score --output score.wasm       the newest version
  noetl plugin delete tools/score --version 3

A version keeps its code: other code under the same version is refused. With --json each writes the answer of its route
under /api/internal/plugins.")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Register a module
    Push {
        /// Its path
        path: String,

        /// Its code: .wasm, or .wat for the text form
        file: PathBuf,

        /// The version; the one after the newest when left out
        #[arg(long, short = 'V', value_name = "N")]
        version: Option<i64>,

        #[command(flatten)]
        form: Form,
    },
    /// List modules
    List {
        #[command(flatten)]
        form: Form,
    },
    /// Write the code of a module
    Get {
        /// Its path
        path: String,

        /// The version; the newest when left out
        #[arg(long, short = 'V', value_name = "N")]
        version: Option<i64>,

        /// The file to write; standard output when left out
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove a version of a module
    Delete {
        /// Its path
        path: String,

        /// The version
        #[arg(long, short = 'V', value_name = "N")]
        version: i64,

        #[command(flatten)]
        form: Form,
    },
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    match &arguments.what {
        What::Push { path, file, version, form } => push(path, file, *version, *form, server, out)?,
        What::List { form } => list(*form, server, out)?,
        What::Get { path, version, output } => {
            let code = ask(server, false, async |client| {
                let version = match version {
                    Some(version) => *version,
                    None => newest(&client, path).await?.ok_or_else(|| unknown(path))?,
                };
                Ok(client.get_plugin(path, version).await?)
            })?;
            match output {
                Some(file) => std::fs::write(file, code).with_context(|| file.display().to_string())?,
                None => out.write_all(&code)?,
            }
        }
        What::Delete { path, version, form } => {
            let done =
                ask(server, form.quiet, async |client| Ok(client.delete_plugin(path, *version).await?))?;
            form.answer(&done, out, |out| {
                writeln!(out, "{path} version {version} is removed")?;
                Ok(())
            })?;
        }
    }
    Ok(Exit::Good)
}

fn push(
    path: &str,
    file: &Path,
    version: Option<i64>,
    form: Form,
    server: &ServerFlags,
    out: &mut Output,
) -> Result<()> {
    let code = std::fs::read(file).map_err(|error| WrongUse(format!("{}: {error}", file.display())))?;
    let media_type = match file.extension().is_some_and(|ending| ending == "wat") {
        true => "text/wat",
        false => "application/wasm",
    };
    let kept = ask(server, form.quiet, async |client| {
        let version = match version {
            Some(version) => version,
            None => newest(&client, path).await?.map_or(1, |newest| newest + 1),
        };
        Ok(client.push_plugin(path, version, media_type, code).await?)
    })?;
    form.answer(&kept, out, |out| {
        writeln!(
            out,
            "{} version {}, {} bytes, sha256 {}",
            kept.path, kept.version, kept.bytes, kept.digest
        )?;
        Ok(())
    })
}

fn list(form: Form, server: &ServerFlags, out: &mut Output) -> Result<()> {
    let found = ask(server, form.quiet, async |client| Ok(client.list_plugins().await?))?;
    form.answer(&found, out, |out| {
        if found.plugins.is_empty() {
            mention(format_args!("there are no plug-ins"));
            return Ok(());
        }
        let mut table = Table::new(["PATH", "VERSION", "BYTES", "TYPE", "PUSHED", "SHA-256"]);
        for plugin in &found.plugins {
            table.row([
                (&plugin.path).into(),
                plugin.version.into(),
                plugin.bytes.into(),
                (&plugin.media_type).into(),
                (&plugin.created_at).into(),
                (&plugin.digest).into(),
            ]);
        }
        table.write(out)
    })
}

async fn newest(client: &Client, path: &str) -> Result<Option<i64>> {
    let all = client.list_plugins().await?.plugins;
    let of_path = all.iter().filter(|plugin| plugin.path == path);
    Ok(of_path.map(|PluginInfo { version, .. }| *version).max())
}

fn unknown(path: &str) -> WrongUse {
    WrongUse(format!("there is no plug-in '{path}'; `noetl plugin list` shows those there are"))
}
