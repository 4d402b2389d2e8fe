//! `noetl rerun`

use std::io::Write;

use anyhow::Result;
use clap::Args;
use noetl_client::api::execution::RerunRequest;

use super::exec::{Manner, MannerFlags};
use crate::connection::{ServerFlags, converse};
use crate::exit::Exit;
use crate::following;
use crate::form::{Form, write_json};
use crate::output::{Output, mention};
use crate::payload::Inputs;
use crate::reference::parse_version;

/// Run the playbook of an execution again
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl rerun 380361384216494080                      all of it, with the same inputs
  noetl rerun 380361384216494080 --failed --wait      from where it failed; other steps keep their results
  noetl rerun 380361384216494080 --from report        from this step
  noetl rerun 380361384216494080 --set day=2026-01-31 --version latest

With --json it writes the answer of POST /api/executions/{id}/rerun, and with --wait that of GET /api/executions/{id}
without events.")]
pub struct Arguments {
    /// The id of the earlier execution
    #[arg(value_name = "ID")]
    execution: i64,

    /// Begin at this step and keep the results of the steps before it
    #[arg(long, value_name = "STEP", conflicts_with = "failed")]
    from: Option<String>,

    /// Begin where it failed and keep the results of the other steps
    #[arg(long)]
    failed: bool,

    /// Another version of the playbook: a number, or latest
    #[arg(long, short = 'V', value_name = "N")]
    version: Option<String>,

    #[command(flatten)]
    inputs: Inputs,

    #[command(flatten)]
    manner: MannerFlags,

    #[command(flatten)]
    form: Form,
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let request = RerunRequest {
        workload: arguments.inputs.read_if_given()?,
        from: arguments.from.clone(),
        from_failed: arguments.failed,
        version: arguments.version.as_deref().map(parse_version).transpose()?,
        ..RerunRequest::default()
    };
    let manner = arguments.manner.into();
    rerun(arguments.execution, &request, manner, arguments.form, server, out)
}

/// Runs it again and goes on as wanted.
pub fn rerun(
    execution: i64,
    request: &RerunRequest,
    manner: Manner,
    form: Form,
    server: &ServerFlags,
    out: &mut Output,
) -> Result<Exit> {
    converse(server, async |client| {
        let again = client.rerun(execution, request).await?;
        if let Manner::Wait(detailed) = manner {
            let id = again.execution_id.0;
            return following::to_the_end(&client, id, &again.path, detailed, form, out).await;
        }
        if form.json {
            write_json(&again, out)?;
            return Ok(Exit::Good);
        }
        writeln!(out, "{}", again.execution_id)?;
        if !form.quiet {
            let kept = match again.kept_steps.as_slice() {
                [] => String::new(),
                steps => format!(", keeping {}", steps.join(", ")),
            };
            let (path, version) = (&again.path, again.version);
            mention(format_args!("{path} version {version} runs again{kept}"));
        }
        Ok(Exit::Good)
    })
}
