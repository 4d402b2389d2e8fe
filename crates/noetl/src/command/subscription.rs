//! `noetl subscription`

use std::io::Write;

use anyhow::Result;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use noetl_client::Client;
use noetl_client::api::subscription::SubscriptionStatus;

use crate::catalog_names::complete_subscription;
use crate::connection::{ServerFlags, ask};
use crate::exit::{Exit, WrongUse};
use crate::form::Form;
use crate::output::{Output, mention};
use crate::table::{Cell, Table};

/// Register subscriptions, which start playbooks for messages, and steer them
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl register orders.yaml                    put the document into the catalog first
  noetl subscription register shop/orders
  noetl subscription activate shop/orders       by path, or by its id
  noetl subscription pause shop/orders
  noetl subscription list

Drain takes no new messages and lets the executions of earlier ones end; deactivate stops at once. Both can be activated
again after that. With --json each writes the answer of its route under /api/subscriptions.")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List subscriptions, the newest first
    List {
        #[command(flatten)]
        form: Form,
    },
    /// Register the subscription of a catalog path
    Register(Which),
    /// Take messages
    Activate(Which),
    /// Take no messages until it is resumed
    Pause(Which),
    /// Take messages again
    Resume(Which),
    /// Take no new messages, and let what they started end
    Drain(Which),
    /// Stop at once
    Deactivate(Which),
}

#[derive(Debug, Args)]
struct Which {
    /// Its catalog path, or its id
    #[arg(value_name = "PATH|ID", add = ArgValueCompleter::new(complete_subscription))]
    subscription: String,

    #[command(flatten)]
    form: Form,
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    match &arguments.what {
        What::List { form } => list(*form, server, out),
        What::Register(Which { subscription, form }) => {
            let done = ask(server, form.quiet, async |client| {
                Ok(client.register_subscription(subscription).await?)
            })?;
            told(&done, *form, out)
        }
        What::Activate(which) => change(which, "activate", server, out),
        What::Pause(which) => change(which, "pause", server, out),
        What::Resume(which) => change(which, "resume", server, out),
        What::Drain(which) => change(which, "drain", server, out),
        What::Deactivate(which) => change(which, "deactivate", server, out),
    }
}

fn list(form: Form, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let found = ask(server, form.quiet, async |client| Ok(client.list_subscriptions().await?))?;
    form.answer(&found, out, |out| {
        if found.subscriptions.is_empty() {
            mention(format_args!("there are no subscriptions"));
            return Ok(());
        }
        let mut table = Table::new(["ID", "PATH", "STATE", "SINCE"]);
        for subscription in &found.subscriptions {
            table.row([
                subscription.subscription_id.into(),
                (&subscription.path).into(),
                Cell::status(&subscription.state),
                Cell::maybe(subscription.updated_at.as_ref()),
            ]);
        }
        table.write(out)
    })?;
    Ok(Exit::Good)
}

fn change(which: &Which, action: &str, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let done = ask(server, which.form.quiet, async |client| {
        let id = find(&client, &which.subscription).await?;
        Ok(client.change_subscription(id, action).await?)
    })?;
    told(&done, which.form, out)
}

/// The id itself, or that of the newest subscription of a path.
async fn find(client: &Client, named: &str) -> Result<i64> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let all = client.list_subscriptions().await?.subscriptions;
    match all.iter().find(|subscription| subscription.path == named) {
        Some(found) => Ok(found.subscription_id.0),
        None => {
            let sentence = format!(
                "'{named}' has no subscription; `noetl subscription register {named}` registers that of the catalog"
            );
            Err(WrongUse(sentence).into())
        }
    }
}

fn told(status: &SubscriptionStatus, form: Form, out: &mut Output) -> Result<Exit> {
    form.answer(status, out, |out| {
        writeln!(out, "subscription {} of {} is {}", status.subscription_id, status.path, status.state)?;
        Ok(())
    })?;
    Ok(Exit::Good)
}
