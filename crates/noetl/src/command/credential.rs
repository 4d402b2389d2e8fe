//! `noetl credential`

use std::io::{Read, Write};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use noetl_client::api::credentials::{Credential, CredentialRequest, SecretData};
use noetl_types::{Map, Value};

use crate::connection::{ServerFlags, ask};
use crate::exit::{Exit, WrongUse};
use crate::form::{Form, write_json};
use crate::output::{Output, mention};
use crate::payload::from_text;
use crate::table::Table;

/// Keep the credentials that steps use by name
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl credential set pg_main --type postgres --file pg_main.yaml     the fields, from a file of JSON or YAML
  pass show api | noetl credential set api --type bearer --field token=-   one field from standard input
  noetl credential list
  noetl credential get pg_main            without its fields
  noetl credential get pg_main --show     with them; needs a token with the scope worker or admin
  noetl credential delete pg_main

The server encrypts the fields before it stores them. What stands on a command line can be seen by others on this
machine, so secrets are better read from a file or from standard input.

With --json each writes the answer of its route under /api/credentials; `list` writes an array.")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Keep a credential; one of the same name is replaced
    Set {
        /// Its name
        name: String,

        /// Its type: bearer, basic, api_key, postgres …
        #[arg(long = "type", value_name = "TYPE")]
        kind: String,

        /// A field; `KEY=-` reads it from standard input; may be given several times
        #[arg(long, value_name = "KEY=VALUE")]
        field: Vec<String>,

        /// A file with the fields, JSON or YAML; `-` for standard input
        #[arg(long, short, value_name = "FILE")]
        file: Option<String>,

        /// For people
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,

        /// For finding it; may be given several times
        #[arg(long, value_name = "TAG")]
        tag: Vec<String>,

        #[command(flatten)]
        form: Form,
    },
    /// List credentials, without their fields
    List {
        /// Only of this type
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,

        #[command(flatten)]
        form: Form,
    },
    /// Show a credential
    Get {
        /// Its name or id
        name: String,

        /// With its fields
        #[arg(long)]
        show: bool,

        #[command(flatten)]
        form: Form,
    },
    /// Forget a credential
    Delete {
        /// Its name or id
        name: String,

        #[command(flatten)]
        form: Form,
    },
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    match &arguments.what {
        What::Set { name, kind, field, file, description, tag, form } => {
            let data = fields(field, file.as_deref()).map_err(|error| WrongUse(format!("{error:#}")))?;
            let request = CredentialRequest {
                name: name.clone(),
                kind: kind.clone(),
                data: SecretData(data),
                meta: None,
                tags: (!tag.is_empty()).then(|| tag.clone()),
                description: description.clone(),
            };
            let kept = ask(server, form.quiet, async |client| Ok(client.put_credential(&request).await?))?;
            form.answer(&kept, out, |out| {
                writeln!(out, "credential {} of type {}", kept.name, kept.kind)?;
                Ok(())
            })?;
        }
        What::List { kind, form } => {
            let found =
                ask(server, form.quiet, async |client| Ok(client.list_credentials(kind.as_deref()).await?))?;
            list(&found, *form, out)?;
        }
        What::Get { name, show, form } => get(name, *show, *form, server, out)?,
        What::Delete { name, form } => {
            let done = ask(server, form.quiet, async |client| Ok(client.delete_credential(name).await?))?;
            form.answer(&done, out, |out| {
                writeln!(out, "{}", done.message)?;
                Ok(())
            })?;
        }
    }
    Ok(Exit::Good)
}

/// Shows a credential; also what earlier command lines call `get credential`.
pub fn get(name: &str, show: bool, form: Form, server: &ServerFlags, out: &mut Output) -> Result<()> {
    let found = ask(server, form.quiet, async |client| Ok(client.get_credential(name, show).await?))?;
    form.answer(&found, out, |out| {
        let mut table = Table::of_facts();
        table.fact("name", &found.name);
        table.fact("type", &found.kind);
        table.fact("id", found.id);
        if let Some(description) = &found.description {
            table.fact("description", description);
        }
        if !found.tags.is_empty() {
            table.fact("tags", found.tags.join(", "));
        }
        if let Some(at) = &found.updated_at {
            table.fact("changed", at);
        }
        if let Some(Value::Map(fields)) = found.data.as_ref().map(|data| &data.0) {
            for (key, value) in fields.iter() {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                table.fact(&format!("data.{key}"), text);
            }
        }
        table.write(out)
    })
}

fn list(found: &[Credential], form: Form, out: &mut Output) -> Result<()> {
    if form.json {
        return write_json(&found, out);
    }
    if form.quiet {
        for credential in found {
            writeln!(out, "{}", credential.name)?;
        }
        return Ok(());
    }
    if found.is_empty() {
        mention(format_args!("there are no credentials"));
        return Ok(());
    }
    let mut table = Table::new(["NAME", "TYPE", "CHANGED", "DESCRIPTION"]);
    for credential in found {
        table.row([
            (&credential.name).into(),
            (&credential.kind).into(),
            credential.updated_at.clone().unwrap_or_default().into(),
            credential.description.clone().unwrap_or_default().into(),
        ]);
    }
    table.write(out)
}

/// The fields of a file, with single ones laid over them.
fn fields(single: &[String], file: Option<&str>) -> Result<Value> {
    let mut fields = match file {
        None => Map::new(),
        Some(file) => {
            let text = match file {
                "-" => standard_input()?,
                file => std::fs::read_to_string(file).with_context(|| file.to_owned())?,
            };
            match from_text(&text).with_context(|| file.to_owned())? {
                Value::Map(fields) => (*fields).clone(),
                other => bail!("{file} must have a map of fields, not a {}", other.type_name()),
            }
        }
    };
    for one in single {
        let Some((key, value)) = one.split_once('=') else {
            bail!("--field: write KEY=VALUE");
        };
        let value = match value {
            "-" => standard_input()?.trim_end_matches(['\n', '\r']).to_owned(),
            value => value.to_owned(),
        };
        fields.insert(key.into(), value.into());
    }
    if fields.is_empty() {
        bail!("a credential has fields; give them with --field or --file");
    }
    Ok(fields.into())
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("standard input can't be read")?;
    Ok(text)
}
