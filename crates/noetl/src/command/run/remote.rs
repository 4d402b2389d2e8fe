//! A run on the server in place of one here.

use anyhow::Result;
use noetl_client::api::execute::ExecuteRequest;

use super::Arguments;
use crate::command::exec::{self, Manner};
use crate::config::Surroundings;
use crate::connection::{Contexts, Runtime, ServerFlags, converse};
use crate::exit::{Exit, WrongUse};
use crate::following::Detailed;
use crate::form::Form;
use crate::output::{Output, mention};
use crate::reference::CATALOG;

/// What to do on the server once the execution has begun. Nothing when the playbook is to run here.
pub fn manner(arguments: &Arguments, server: &ServerFlags) -> Result<Option<Manner>> {
    let Some(playbook) = &arguments.playbook else {
        return Ok(None);
    };
    let is_in_catalog = playbook.to_string_lossy().starts_with(CATALOG);
    let runtime = match arguments.runtime {
        Runtime::Auto if is_in_catalog => return Ok(Some(Manner::Wait(Detailed::Steps))),
        Runtime::Auto => runtime_of_context(server),
        given => given,
    };
    match runtime {
        Runtime::Distributed => Ok(Some(Manner::Leave)),
        Runtime::Local if is_in_catalog => {
            Err(WrongUse("what is in the catalog runs on the server; give a file to run it here".to_owned())
                .into())
        }
        Runtime::Local | Runtime::Auto => Ok(None),
    }
}

/// What the context says that is in use. Without contexts nothing is said.
fn runtime_of_context(server: &ServerFlags) -> Runtime {
    let Ok(contexts) = Contexts::load(&Surroundings::of_this_process()) else {
        return Runtime::Auto;
    };
    let name = server.context.as_deref().or(contexts.current());
    name.and_then(|name| contexts.find(name)).map_or(Runtime::Auto, |context| context.runtime)
}

pub fn run(arguments: &Arguments, manner: Manner, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let only_here = [
        ("--data", arguments.data.is_some()),
        ("--credentials", !arguments.credentials.is_empty()),
        ("--dry-run", arguments.dry_run),
    ];
    if let Some((flag, _)) = only_here.iter().find(|(_, is_given)| *is_given) {
        return Err(WrongUse(format!("{flag} is for runs on this machine, not for those on a server")).into());
    }
    let Some(playbook) = &arguments.playbook else {
        return Err(WrongUse("say which playbook".to_owned()).into());
    };
    let form = Form { json: arguments.json, quiet: arguments.quiet };
    if manner == Manner::Leave && !arguments.quiet && !arguments.json {
        mention(format_args!("runtime: distributed"));
    }
    if playbook.is_file() {
        let request = ExecuteRequest {
            entry: arguments.target.clone(),
            payload: arguments.inputs.read_if_given()?,
            ..ExecuteRequest::default()
        };
        return exec::start_file(playbook, request, manner, form, server, out);
    }
    let name = playbook.to_string_lossy();
    let version = arguments.version.as_deref();
    let request = ExecuteRequest {
        entry: arguments.target.clone(),
        ..exec::request(&name, version, &arguments.inputs)?
    };
    converse(server, async |client| exec::start(&client, request, manner, form, out).await)
}
