//! `noetl context`

use std::io::Write;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::config::Surroundings;
use crate::connection::{Context, Contexts, DEFAULT_URL, Runtime, ServerFlags, Target, connections};
use crate::exit::{Exit, WrongUse};
use crate::form::{Form, write_json};
use crate::output::{Output, mention};
use crate::table::{Cell, Color, Table};

/// Keep the servers you work with, by name
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl context add prod https://noetl.example.org --token \"$(cat token)\" --use
  noetl context use prod
  noetl context list
  noetl context current              the server that commands talk to now, and why
  noetl list --context staging       another one for once
  noetl context remove staging

They are in ~/.noetl/config.yaml, which only you can read. Which server counts, in this order: --server, --context,
NOETL_SERVER, the context in use, http://127.0.0.1:8082. --token and NOETL_TOKEN count more than the token of a context,
which goes to the server of that context only.

With --json: `current` writes {\"context\", \"server_url\", \"origin\", \"has_token\"}; the others write all there are then, as
{\"current\", \"contexts\": [{\"name\", \"server_url\", \"runtime\", \"has_token\"}]}.")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Add a server; the first one is used from then on
    Add {
        /// Its name
        name: String,

        /// Its address; --server says the same
        url: Option<String>,

        /// Where `noetl run` runs while this context is in use
        #[arg(long, value_enum, default_value_t = Runtime::Auto)]
        runtime: Runtime,

        /// Use it from now on
        #[arg(long = "use", alias = "set-current")]
        make_current: bool,

        #[command(flatten)]
        form: Form,
    },
    /// Use a server from now on
    Use {
        /// Its name
        name: String,

        #[command(flatten)]
        form: Form,
    },
    /// List the servers; `*` is the one in use
    List {
        #[command(flatten)]
        form: Form,
    },
    /// Forget a server
    #[command(alias = "delete")]
    Remove {
        /// Its name
        name: String,

        #[command(flatten)]
        form: Form,
    },
    /// Say which server commands talk to now, and why
    Current {
        #[command(flatten)]
        form: Form,
    },
    /// Change a server
    Update {
        /// Its name
        name: String,

        /// Where `noetl run` runs while this context is in use
        #[arg(long, value_enum)]
        runtime: Option<Runtime>,

        #[command(flatten)]
        form: Form,
    },
    /// Change where `noetl run` runs while a context is in use
    #[command(hide = true)]
    SetRuntime {
        #[arg(value_enum)]
        runtime: Runtime,

        #[command(flatten)]
        form: Form,
    },
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let around = Surroundings::of_this_process();
    let mut contexts = Contexts::load(&around)?;
    let form = match &arguments.what {
        What::Current { form } => {
            current(&Target::find(server, &around)?, *form, out)?;
            return Ok(Exit::Good);
        }
        What::List { form } => {
            list(&contexts, *form, out)?;
            return Ok(Exit::Good);
        }
        What::Add { name, url, runtime, make_current, form } => {
            let Some(url) = url.as_ref().or(server.server.as_ref()) else {
                let sentence = format!("say where it is: noetl context add {name} http://HOST:8082");
                return Err(WrongUse(sentence).into());
            };
            let token = server.token.clone();
            let context = Context { server_url: checked(url)?, runtime: *runtime, token };
            add(&mut contexts, name, &context, *make_current, *form)?;
            form
        }
        What::Use { name, form } => {
            get(&contexts, name)?;
            contexts.make_current(name);
            form
        }
        What::Remove { name, form } => {
            get(&contexts, name)?;
            let was_current = contexts.current() == Some(name);
            contexts.remove(name);
            if was_current && !form.json && !form.quiet {
                mention(format_args!("no context is in use now; commands talk to {DEFAULT_URL}"));
            }
            form
        }
        What::Update { name, runtime, form } => {
            let mut context = get(&contexts, name)?;
            if let Some(url) = &server.server {
                context.server_url = checked(url)?;
            }
            context.token = server.token.clone().or(context.token);
            context.runtime = runtime.unwrap_or(context.runtime);
            contexts.put(name, &context);
            form
        }
        What::SetRuntime { runtime, form } => {
            let Some(name) = server.context.clone().or(contexts.current().map(str::to_owned)) else {
                let sentence = "no context is in use; `noetl context use NAME` uses one";
                return Err(WrongUse(sentence.to_owned()).into());
            };
            let context = Context { runtime: *runtime, ..get(&contexts, &name)? };
            contexts.put(&name, &context);
            form
        }
    };
    contexts.save()?;
    if form.json {
        list(&contexts, *form, out)?;
    }
    Ok(Exit::Good)
}

/// An address that can be one of a server.
fn checked(url: &str) -> Result<String> {
    connections(url)?;
    Ok(url.trim_end_matches('/').to_owned())
}

fn get(contexts: &Contexts, name: &str) -> Result<Context> {
    contexts.find(name).ok_or_else(|| {
        WrongUse(format!("there is no context '{name}'; `noetl context list` shows those there are")).into()
    })
}

fn add(contexts: &mut Contexts, name: &str, context: &Context, make_current: bool, form: Form) -> Result<()> {
    if contexts.find(name).is_some() {
        let sentence =
            format!("there is a context '{name}' already; `noetl context update {name}` changes it");
        return Err(WrongUse(sentence).into());
    }
    let is_first = contexts.names().next().is_none();
    contexts.put(name, context);
    if make_current || is_first {
        contexts.make_current(name);
    }
    if !form.json && !form.quiet {
        let used = if make_current || is_first { ", in use from now on" } else { "" };
        mention(format_args!("context {name} is in {}{used}", contexts.file().display()));
    }
    Ok(())
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    current: Option<&'a str>,
    contexts: Vec<One<'a>>,
}

#[derive(Debug, Serialize)]
struct One<'a> {
    name: &'a str,
    server_url: String,
    runtime: &'static str,
    has_token: bool,
}

fn list(contexts: &Contexts, form: Form, out: &mut Output) -> Result<()> {
    let described = contexts.names().filter_map(|name| {
        let Context { server_url, runtime, token } = contexts.find(name)?;
        Some(One { name, server_url, runtime: runtime.as_str(), has_token: token.is_some() })
    });
    let listed = Listed { current: contexts.current(), contexts: described.collect() };
    if form.json {
        return write_json(&listed, out);
    }
    if form.quiet {
        for one in &listed.contexts {
            writeln!(out, "{}", one.name)?;
        }
        return Ok(());
    }
    if listed.contexts.is_empty() {
        mention(format_args!("there are no contexts; `noetl context add` adds one"));
        return Ok(());
    }
    let mut table = Table::new(["", "NAME", "SERVER", "RUNTIME", "TOKEN"]);
    for one in &listed.contexts {
        let mark = if listed.current == Some(one.name) { "*" } else { "" };
        table.row([
            Cell::colored(mark, Some(Color::Green)),
            one.name.into(),
            (&one.server_url).into(),
            one.runtime.into(),
            (if one.has_token { "yes" } else { "no" }).into(),
        ]);
    }
    table.write(out)
}

#[derive(Debug, Serialize)]
struct Current {
    context: Option<String>,
    server_url: String,
    origin: String,
    has_token: bool,
}

fn current(target: &Target, form: Form, out: &mut Output) -> Result<()> {
    let context = match &target.origin {
        crate::connection::Origin::Context(name) => Some(name.clone()),
        _ => None,
    };
    let current = Current {
        context,
        server_url: target.url.clone(),
        origin: target.origin.to_string(),
        has_token: target.token.is_some(),
    };
    form.answer(&current, out, |out| {
        let token = if current.has_token { "with a token" } else { "without a token" };
        writeln!(out, "{} ({}), {token}", current.server_url, current.origin)?;
        Ok(())
    })
}
