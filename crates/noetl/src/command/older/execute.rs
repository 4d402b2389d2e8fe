//! `noetl execute`

use anyhow::Result;
use clap::{Args, Subcommand};
use noetl_client::api::execution::RerunRequest;

use crate::command::exec::Manner;
use crate::command::{exec, rerun, status};
use crate::connection::ServerFlags;
use crate::exit::Exit;
use crate::form::Form;
use crate::output::Output;
use crate::payload::Inputs;

/// Start playbooks and ask how they fare; `noetl exec`, `rerun` and `status` say the same
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  noetl execute playbook examples/hello --json")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Start a playbook
    Playbook(Box<exec::Arguments>),
    /// Run the playbook of an execution again
    Rerun {
        #[arg(value_name = "ID")]
        execution: i64,

        #[command(flatten)]
        inputs: Inputs,

        #[command(flatten)]
        form: Form,
    },
    /// Say where an execution stands
    Status(status::Arguments),
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    match &arguments.what {
        What::Playbook(arguments) => exec::run(arguments, server, out),
        What::Rerun { execution, inputs, form } => {
            let request = RerunRequest { workload: inputs.read_if_given()?, ..RerunRequest::default() };
            rerun::rerun(*execution, &request, Manner::Leave, *form, server, out)
        }
        What::Status(arguments) => status::run(arguments, server, out),
    }
}
