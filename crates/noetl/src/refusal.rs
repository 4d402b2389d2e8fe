//! What is said when a server refuses or is not there, and which exit code that is.

use std::io::Write;

use noetl_client::{Error, Refusal};

use crate::command::register::show_diagnostic;
use crate::exit::Exit;
use crate::output;

/// Says on standard error why the server did not do it: the code, the sentence, and what to do.
pub fn complain(error: &Error) -> Exit {
    match error {
        Error::Refused(refusal) => {
            if refusal.code.is_empty() {
                output::complain(format_args!("{}", refusal.message));
            } else {
                // With standard error closed there is nobody left to tell.
                let _ = writeln!(std::io::stderr(), "error[{}]: {}", refusal.code, refusal.message);
            }
            for diagnostic in &refusal.diagnostics {
                show_diagnostic("document", diagnostic);
            }
            if let Some(help) = advice(refusal) {
                output::help(format_args!("{help}"));
            }
            exit(refusal)
        }
        Error::Unreachable { .. } => {
            output::complain(format_args!("{error}"));
            output::help(format_args!(
                "start a server with `noetl dev`, or say where it is with --server, NOETL_SERVER or `noetl context`"
            ));
            Exit::Failed
        }
        Error::NoAnswer { source, .. } => {
            output::complain(format_args!("{error}: {source}"));
            Exit::Failed
        }
        Error::BrokenOff { .. } | Error::Strange { .. } => {
            output::complain(format_args!("{error}"));
            Exit::Failed
        }
    }
}

/// What to do, in the words of this command line where it knows better than the server.
fn advice(refusal: &Refusal) -> Option<&str> {
    match refusal.code.as_str() {
        "not_authenticated" => Some(
            "give a token with --token, NOETL_TOKEN or `noetl context update --token`; `noetl token create` makes one",
        ),
        _ => refusal.help.as_deref(),
    }
}

fn exit(refusal: &Refusal) -> Exit {
    match (refusal.code.as_str(), refusal.status) {
        ("playbook_invalid" | "document_invalid", _) => Exit::Invalid,
        // What was asked for makes sense, only not now.
        ("transition_not_allowed" | "execution_ended" | "execution_running", _) => Exit::Failed,
        (_, 400 | 404 | 405 | 413 | 415 | 422) => Exit::Usage,
        _ => Exit::Failed,
    }
}
