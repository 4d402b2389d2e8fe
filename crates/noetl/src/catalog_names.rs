//! The paths of the catalog, for shells that complete them.

use std::ffi::OsStr;
use std::time::Duration;

use clap::Parser;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use noetl_client::Retry;

use crate::config::Surroundings;
use crate::connection::{ServerFlags, Target, client};
use crate::reference::CATALOG;

/// Nobody waits longer for a shell to complete a word.
const PATIENCE: Duration = Duration::from_secs(2);

/// Playbooks that begin with the word.
pub fn complete_playbook(word: &OsStr) -> Vec<CompletionCandidate> {
    complete(word, "Playbook")
}

/// Playbooks of the catalog where one is meant, else files.
pub fn complete_reference(word: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = PathCompleter::file().complete(word);
    let typed = word.to_string_lossy();
    if typed.starts_with(CATALOG) || CATALOG.starts_with(&*typed) {
        let beginning = typed.strip_prefix(CATALOG).unwrap_or_default();
        found.extend(fitting(beginning, "Playbook", CATALOG));
    }
    found
}

/// Subscriptions that begin with the word.
pub fn complete_subscription(word: &OsStr) -> Vec<CompletionCandidate> {
    complete(word, "Subscription")
}

fn complete(word: &OsStr, kind: &str) -> Vec<CompletionCandidate> {
    let word = word.to_string_lossy();
    match word.strip_prefix(CATALOG) {
        Some(beginning) => fitting(beginning, kind, CATALOG),
        None => fitting(&word, kind, ""),
    }
}

/// The paths with this beginning. What can't be asked is not completed; a shell is no place for complaints.
fn fitting(beginning: &str, kind: &str, scheme: &str) -> Vec<CompletionCandidate> {
    let paths = paths(kind).unwrap_or_default();
    let fitting = paths.into_iter().filter(|path| path.starts_with(beginning));
    fitting.map(|path| CompletionCandidate::new(format!("{scheme}{path}"))).collect()
}

fn paths(kind: &str) -> Option<Vec<String>> {
    let target = Target::find(&typed_flags(), &Surroundings::of_this_process()).ok()?;
    let client = client(&target).ok()?.with_retry(Retry::NEVER);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async { tokio::time::timeout(PATIENCE, client.catalog_paths(kind)).await.ok()?.ok() })
}

/// The server that the words typed so far name. The shell hands them over behind `--`.
fn typed_flags() -> ServerFlags {
    #[derive(Parser)]
    #[command(ignore_errors = true, disable_help_flag = true)]
    struct Typed {
        #[command(flatten)]
        server: ServerFlags,
        rest: Vec<String>,
    }
    let words = std::env::args().skip_while(|word| word != "--").skip(1);
    Typed::try_parse_from(words).map(|typed| typed.server).unwrap_or_default()
}
