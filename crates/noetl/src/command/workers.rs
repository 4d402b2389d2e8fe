//! `noetl workers`

use anyhow::Result;
use clap::Args;
use noetl_client::api::registry::PartQuery;
use noetl_types::Value;

use crate::connection::{ServerFlags, ask};
use crate::exit::Exit;
use crate::form::Form;
use crate::output::{Output, mention};
use crate::table::{Cell, Table};

/// List the workers of the server and when they were last heard of
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl workers
  noetl workers --json     the answer of GET /api/worker/pools")]
pub struct Arguments {
    #[command(flatten)]
    form: Form,
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let query = PartQuery { kind: Some("worker_pool".to_owned()), ..PartQuery::default() };
    let form = arguments.form;
    let found = ask(server, form.quiet, async |client| Ok(client.list_workers(&query).await?))?;
    form.answer(&found, out, |out| {
        if found.items.is_empty() {
            mention(format_args!("no workers have registered; `noetl worker` starts one"));
            return Ok(());
        }
        let mut table = Table::new(["NAME", "STATUS", "CAPACITY", "LAST HEARD OF", "SINCE", "POOLS"]);
        for worker in &found.items {
            table.row([
                (&worker.name).into(),
                Cell::status(&worker.status),
                Cell::maybe(worker.capacity),
                (&worker.heartbeat).into(),
                (&worker.created_at).into(),
                pools(&worker.runtime).or_else(|| pools(&worker.capabilities)).unwrap_or_default().into(),
            ]);
        }
        table.write(out)
    })?;
    Ok(Exit::Good)
}

fn pools(facts: &Value) -> Option<String> {
    let pools = facts.get("pools")?.as_list()?;
    let names: Vec<&str> = pools.iter().filter_map(Value::as_str).collect();
    Some(names.join(", "))
}
