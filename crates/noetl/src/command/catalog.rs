//! `noetl catalog`

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use noetl_client::Range;
use noetl_client::api::catalog::{Entry, ListRequest, PathRequest, ResourceRequest};

use super::register::{self, Batches};
use crate::catalog_names::complete_playbook;
use crate::connection::{ServerFlags, ask};
use crate::exit::Exit;
use crate::form::{Form, write_json};
use crate::output::{Output, mention};
use crate::reference::{Reference, parse_version};
use crate::table::{Cell, Color, Table};

/// Look into the catalog of the server and change it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl catalog list                          the newest version of every document
  noetl catalog list Playbook                 of one kind
  noetl catalog get examples/hello            the YAML of the newest version
  noetl catalog get examples/hello@1 --json   version 1 as data
  noetl catalog versions examples/hello
  noetl catalog diff examples/hello --from 1 --to 3
  noetl catalog delete examples/hello@2       version 2 only; without @2 all of it
  noetl catalog restore examples/hello        what was hidden is there again

With --json each writes the answer of its route under /api/catalog.")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List documents, the newest version of each
    List {
        /// Only of this kind, such as Playbook or Subscription
        #[arg(value_name = "TYPE")]
        kind: Option<String>,

        /// Also what was deleted and is only hidden
        #[arg(long)]
        all: bool,

        #[command(flatten)]
        form: Form,
    },
    /// Print the text of a document
    Get {
        #[command(flatten)]
        document: Named,

        #[command(flatten)]
        form: Form,
    },
    /// List the versions of a path
    Versions {
        #[command(flatten)]
        document: Named,

        #[command(flatten)]
        form: Form,
    },
    /// Show what changed between two versions of a path
    Diff {
        #[command(flatten)]
        document: Named,

        /// The earlier version; the one before --to when left out
        #[arg(long, value_name = "N")]
        from: Option<i64>,

        /// The later version; the newest when left out
        #[arg(long, value_name = "N")]
        to: Option<i64>,

        #[command(flatten)]
        form: Form,
    },
    /// Delete a path, or one version of it; what executions need is only hidden
    Delete {
        #[command(flatten)]
        document: Named,

        #[command(flatten)]
        form: Form,
    },
    /// Show again what was hidden
    Restore {
        #[command(flatten)]
        document: Named,

        #[command(flatten)]
        form: Form,
    },
    /// The same as `noetl register`
    #[command(hide = true)]
    Register {
        #[arg(value_name = "FILE", required = true)]
        paths: Vec<PathBuf>,

        #[command(flatten)]
        form: Form,
    },
    /// The same as `noetl register`, with the size of batches
    #[command(hide = true)]
    Load {
        #[arg(value_name = "FILE|DIR", required = true)]
        paths: Vec<PathBuf>,

        #[arg(long, default_value_t = 100)]
        batch_size: usize,

        #[arg(long)]
        dry_run: bool,

        #[command(flatten)]
        form: Form,
    },
}

#[derive(Clone, Debug, Args)]
struct Named {
    /// Its path, with a version if wanted: PATH, PATH@3
    #[arg(value_name = "PATH", add = ArgValueCompleter::new(complete_playbook))]
    path: String,

    /// The version
    #[arg(long, short = 'V', value_name = "N")]
    version: Option<String>,
}

impl Named {
    fn reference(&self) -> Result<Reference> {
        Ok(Reference::parse(&self.path, self.version.as_deref())?)
    }

    /// The path without its version.
    fn path(&self) -> Result<String> {
        Ok(match self.reference()? {
            Reference::Id(id) => id.to_string(),
            Reference::Path { path, .. } => path,
        })
    }

    fn request(&self) -> Result<PathRequest> {
        Ok(match self.reference()? {
            Reference::Id(id) => PathRequest { path: id.to_string(), version: None },
            Reference::Path { path, version } => PathRequest { path, version },
        })
    }
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    match &arguments.what {
        What::List { kind, all, form } => list(kind.as_deref(), *all, *form, server, out),
        What::Get { document, form } => get(document, *form, server, out),
        What::Versions { document, form } => versions(document, *form, server, out),
        What::Diff { document, from, to, form } => {
            diff(document, Range { from: *from, to: *to }, *form, server, out)
        }
        What::Delete { document, form } => delete(document, *form, server, out),
        What::Restore { document, form } => restore(document, *form, server, out),
        What::Register { paths, form } => register::register(paths, &Batches::default(), *form, server, out),
        What::Load { paths, batch_size, dry_run, form } => {
            let batches = Batches { size: *batch_size, dry_run: *dry_run };
            register::register(paths, &batches, *form, server, out)
        }
    }
}

/// What earlier command lines call `list TYPE`.
pub fn list_kind(kind: &str, form: Form, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    list(Some(kind), false, form, server, out)
}

fn list(kind: Option<&str>, all: bool, form: Form, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let request = ListRequest {
        resource_type: kind.map(str::to_owned),
        include_archived: all,
        latest_only: true,
        ..ListRequest::default()
    };
    let found = ask(server, form.quiet, async |client| Ok(client.list_catalog(&request).await?))?;
    if form.json {
        write_json(&found, out)?;
    } else if form.quiet {
        for entry in &found.entries {
            writeln!(out, "{}", entry.path)?;
        }
    } else if found.entries.is_empty() {
        mention(format_args!("there are no such documents"));
    } else {
        table(&found.entries).write(out)?;
    }
    Ok(Exit::Good)
}

fn table(entries: &[Entry]) -> Table {
    let mut table = Table::new(["PATH", "VERSION", "KIND", "ID", "REGISTERED"]);
    for entry in entries {
        let hidden = entry.archived_at.as_ref().map(|at| format!("{} (hidden {at})", entry.created_at));
        table.row([
            (&entry.path).into(),
            entry.version.into(),
            (&entry.kind).into(),
            entry.catalog_id.into(),
            hidden.unwrap_or_else(|| entry.created_at.clone()).into(),
        ]);
    }
    table
}

fn get(document: &Named, form: Form, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let request = match document.reference()? {
        Reference::Id(id) => ResourceRequest { catalog_id: Some(id), ..ResourceRequest::default() },
        Reference::Path { path, version } => ResourceRequest { catalog_id: None, path: Some(path), version },
    };
    let entry = ask(server, form.quiet, async |client| Ok(client.resource(&request).await?))?;
    form.answer(&entry, out, |out| {
        let text = entry.content.as_deref().unwrap_or_default();
        writeln!(out, "{}", text.trim_end_matches('\n'))?;
        Ok(())
    })?;
    Ok(Exit::Good)
}

fn versions(document: &Named, form: Form, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let path = document.path()?;
    let found = ask(server, form.quiet, async |client| Ok(client.versions(&path).await?))?;
    form.answer(&found, out, |out| {
        let mut table = Table::new(["VERSION", "KIND", "ID", "REGISTERED", "HIDDEN"]);
        for version in &found.versions {
            table.row([
                version.version.into(),
                (&version.kind).into(),
                version.catalog_id.into(),
                (&version.created_at).into(),
                Cell::maybe(version.archived_at.as_ref()),
            ]);
        }
        table.write(out)
    })?;
    Ok(Exit::Good)
}

fn diff(document: &Named, range: Range, form: Form, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let path = document.path()?;
    // A version that was named is the later one.
    let named = document.version.as_deref().or(document.path.rsplit_once('@').map(|(_, version)| version));
    let to = match (range.to, named.map(parse_version).transpose()?) {
        (None, Some(noetl_client::api::execute::Version::Number(version))) => Some(version),
        (to, _) => to,
    };
    let range = Range { to, ..range };
    let found = ask(server, form.quiet, async |client| Ok(client.diff(&path, range).await?))?;
    form.answer(&found, out, |out| {
        if found.diff.is_empty() {
            mention(format_args!("versions {} and {} are the same", found.from, found.to));
        }
        let colored = out.colored();
        for line in found.diff.lines() {
            let color = match line.as_bytes().first() {
                Some(b'+') => Some(Color::Green),
                Some(b'-') => Some(Color::Red),
                _ => None,
            };
            match color.filter(|_| colored) {
                Some(color) => writeln!(out, "\x1b[{}m{line}\x1b[0m", color.code())?,
                None => writeln!(out, "{line}")?,
            }
        }
        Ok(())
    })?;
    Ok(Exit::Good)
}

fn delete(document: &Named, form: Form, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let request = document.request()?;
    let done = ask(server, form.quiet, async |client| Ok(client.delete_from_catalog(&request).await?))?;
    form.answer(&done, out, |out| {
        for version in &done.deleted {
            let how = if version.archived { "hidden, because executions of it exist" } else { "deleted" };
            writeln!(out, "{} version {} {how}", done.path, version.version)?;
        }
        Ok(())
    })?;
    Ok(Exit::Good)
}

fn restore(document: &Named, form: Form, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let request = document.request()?;
    let done = ask(server, form.quiet, async |client| Ok(client.restore_to_catalog(&request).await?))?;
    form.answer(&done, out, |out| {
        for version in &done.restored {
            writeln!(out, "{} version {} is back", done.path, version.version)?;
        }
        Ok(())
    })?;
    Ok(Exit::Good)
}
