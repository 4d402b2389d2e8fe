//! `noetl exec`

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use noetl_client::Client;
use noetl_client::api::catalog::RegisterRequest;
use noetl_client::api::execute::{Dedup, ExecuteRequest, Executed, Version};

use crate::catalog_names::complete_playbook;
use crate::connection::{ServerFlags, converse};
use crate::exit::Exit;
use crate::following::{self, Detailed};
use crate::form::{Form, write_json};
use crate::output::{Output, mention};
use crate::payload::Inputs;
use crate::playbook_file;
use crate::reference::Reference;

/// Start a playbook of the catalog on the server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl exec examples/hello --set name=Ada           start it and print its id
  noetl exec examples/hello --wait                   wait for it and print its result
  noetl exec examples/hello@2 --follow               version 2, telling each step as it ends
  noetl exec flow.yaml --wait                        register the file first, and run what it has become
  noetl exec nightly --payload @input.json --dedup 2026-01-31   at most once for this key

With --wait and --follow it ends with 0 when the execution completed and with 1 when it did not. Ctrl-C detaches: the
execution goes on, and `noetl status ID --wait` comes back to it.

With --json it writes the answer of POST /api/execute, and with --wait that of GET /api/executions/{id} without events.")]
pub struct Arguments {
    /// Its path in the catalog, with a version if wanted (PATH, PATH@3, catalog://PATH@3), a catalog id, or a file
    #[arg(value_name = "PATH|FILE", add = ArgValueCompleter::new(complete_playbook))]
    playbook: String,

    #[command(flatten)]
    inputs: Inputs,

    /// The version; the newest when left out
    #[arg(long, short = 'V', value_name = "N")]
    version: Option<String>,

    /// Begin at this step
    #[arg(long, short, value_name = "STEP")]
    target: Option<String>,

    /// The worker pool for its commands
    #[arg(long, value_name = "NAME")]
    pool: Option<String>,

    /// Start at most one execution with this key
    #[arg(long, value_name = "KEY")]
    dedup: Option<String>,

    /// For how long the key counts, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "dedup")]
    dedup_window: u64,

    #[command(flatten)]
    manner: MannerFlags,

    #[command(flatten)]
    form: Form,
}

#[derive(Clone, Copy, Debug, Default, Args)]
pub struct MannerFlags {
    /// Wait until it is over, then print its result
    #[arg(long, short)]
    wait: bool,

    /// Wait, and tell each step as it ends
    #[arg(long, short)]
    follow: bool,
}

/// What to do once an execution has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Leave,
    Wait(Detailed),
}

impl From<MannerFlags> for Manner {
    fn from(flags: MannerFlags) -> Manner {
        match flags {
            MannerFlags { follow: true, .. } => Manner::Wait(Detailed::Steps),
            MannerFlags { wait: true, .. } => Manner::Wait(Detailed::Standing),
            _ => Manner::Leave,
        }
    }
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let wish = ExecuteRequest {
        entry: arguments.target.clone(),
        execution_pool: arguments.pool.clone(),
        dedup: arguments.dedup.clone().map(|key| Dedup { key, window_secs: arguments.dedup_window }),
        payload: arguments.inputs.read_if_given()?,
        ..ExecuteRequest::default()
    };
    let (manner, form) = (arguments.manner.into(), arguments.form);
    let file = Path::new(&arguments.playbook);
    let is_yaml = file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    if is_yaml && file.is_file() {
        return start_file(file, wish, manner, form, server, out);
    }
    let named = request(&arguments.playbook, arguments.version.as_deref(), &Inputs::default())?;
    let request =
        ExecuteRequest { path: named.path, catalog_id: named.catalog_id, version: named.version, ..wish };
    converse(server, async |client| start(&client, request, manner, form, out).await)
}

/// Registers a file and starts the version that it has become.
pub fn start_file(
    file: &Path,
    wish: ExecuteRequest,
    manner: Manner,
    form: Form,
    server: &ServerFlags,
    out: &mut Output,
) -> Result<Exit> {
    let document = match playbook_file::read(file)? {
        Ok(document) => document,
        Err(exit) => return Ok(exit),
    };
    converse(server, async |client| {
        let request = RegisterRequest { content: document.text, resource_type: None };
        let registered = client.register(&request).await?;
        let version = Some(Version::Number(registered.version));
        let request = ExecuteRequest { path: Some(registered.path), version, ..wish };
        start(&client, request, manner, form, out).await
    })
}

/// The wish to start a playbook with these inputs.
pub fn request(playbook: &str, version: Option<&str>, inputs: &Inputs) -> Result<ExecuteRequest> {
    let request = ExecuteRequest { payload: inputs.read_if_given()?, ..ExecuteRequest::default() };
    Ok(match Reference::parse(playbook, version)? {
        Reference::Id(id) => ExecuteRequest { catalog_id: Some(id), ..request },
        Reference::Path { path, version } => ExecuteRequest { path: Some(path), version, ..request },
    })
}

/// Starts an execution and goes on as wanted.
pub async fn start(
    client: &Client,
    request: ExecuteRequest,
    manner: Manner,
    form: Form,
    out: &mut Output,
) -> Result<Exit> {
    let started = client.execute(&request).await?;
    let id = started.execution_id.0;
    if let Manner::Wait(detailed) = manner {
        return following::to_the_end(client, id, &started.path, detailed, form, out).await;
    }
    told(&started, form, out)?;
    Ok(Exit::Good)
}

fn told(started: &Executed, form: Form, out: &mut Output) -> Result<()> {
    if form.json {
        return write_json(started, out);
    }
    writeln!(out, "{}", started.execution_id)?;
    if !form.quiet {
        let Executed { execution_id, path, version, .. } = started;
        let what = match started.status.as_str() {
            "duplicate" => "runs already under this key",
            _ => "started",
        };
        mention(format_args!(
            "{path} version {version} {what}; noetl status {execution_id} --wait waits for it"
        ));
    }
    Ok(())
}
