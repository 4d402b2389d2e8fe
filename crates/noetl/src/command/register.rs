//! `noetl register`

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use noetl_client::Client;
use noetl_client::api::Diagnostic;
use noetl_client::api::catalog::{RegisterBatchRequest, RegisterRequest, RegisteredItem};
use noetl_client::api::credentials::CredentialRequest;
use serde::Serialize;

use crate::connection::{ServerFlags, ask, converse};
use crate::documents::{self, Document};
use crate::exit::{Exit, WrongUse};
use crate::form::Form;
use crate::output::{Output, complain, mention};
use crate::report::counted;
use crate::telling::Teller;

/// Register playbooks and other documents in the catalog of the server
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  noetl register flow.yaml              one file; it becomes the next version of its path
  noetl register playbooks/             every NoETL document in a folder and below it
  cat flow.yaml | noetl register -      standard input

Ends with 3 when a document is not valid; the others are registered all the same.

With --json: {\"registered\", \"failed\", \"results\": [{\"file\", \"status\", \"path\", \"version\", \"catalog_id\", \"kind\",
\"error\", \"code\", \"diagnostics\"}]}."
)]
pub struct Arguments {
    #[command(subcommand)]
    older: Option<Older>,

    /// Files, folders (searched for *.yaml and *.yml), or `-` for standard input
    #[arg(value_name = "FILE|DIR", required = true)]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    form: Form,
}

#[derive(Debug, Subcommand)]
enum Older {
    /// The same as `register FILE|DIR`
    #[command(hide = true)]
    Playbook(Place),
    /// Keep credentials of files, each with its name, type and data
    #[command(hide = true)]
    Credential(Place),
}

#[derive(Debug, Args)]
#[group(required = true)]
struct Place {
    /// A file
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,

    /// A folder
    #[arg(long, short, visible_alias = "dir", value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Place {
    fn path(&self) -> Option<&PathBuf> {
        self.file.as_ref().or(self.directory.as_ref())
    }
}

pub fn run(arguments: &Arguments, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    match &arguments.older {
        None => register(&arguments.paths, &Batches::default(), arguments.form, server, out),
        Some(Older::Playbook(place)) => {
            let paths: Vec<PathBuf> = place.path().into_iter().cloned().collect();
            register(&paths, &Batches::default(), Form::default(), server, out)
        }
        Some(Older::Credential(place)) => {
            let path = place.path().ok_or_else(|| WrongUse("say which file with --file".to_owned()))?;
            register_credentials(path, server, out)
        }
    }
}

/// How documents are sent.
#[derive(Clone, Copy, Debug)]
pub struct Batches {
    /// So many at once.
    pub size: usize,
    /// Only say what would be sent.
    pub dry_run: bool,
}

impl Default for Batches {
    fn default() -> Batches {
        Batches { size: 100, dry_run: false }
    }
}

/// No batch is larger, unless a single document is.
const BATCH_BYTES: usize = 1024 * 1024;

/// What came of all documents.
#[derive(Debug, Default, Serialize)]
struct Outcome {
    registered: usize,
    failed: usize,
    results: Vec<FileOutcome>,
}

#[derive(Debug, Serialize)]
struct FileOutcome {
    file: String,
    #[serde(flatten)]
    item: RegisteredItem,
}

/// Registers the documents of these files and folders.
pub fn register(
    paths: &[PathBuf],
    batches: &Batches,
    form: Form,
    server: &ServerFlags,
    out: &mut Output,
) -> Result<Exit> {
    let found = documents::find(paths);
    for problem in &found.problems {
        complain(format_args!("{problem}"));
    }
    if batches.dry_run {
        for document in &found.documents {
            writeln!(out, "{}", document.name)?;
        }
        return Ok(if found.problems.is_empty() { Exit::Good } else { Exit::Usage });
    }
    if found.documents.is_empty() {
        return Ok(Exit::Usage);
    }
    let outcome = converse(server, async |client| send(&client, &found.documents, batches.size, form).await)?;
    form.answer(&outcome, out, |out| show(&outcome, out))?;
    Ok(match () {
        () if outcome.failed > 0 => Exit::Invalid,
        () if !found.problems.is_empty() => Exit::Usage,
        () => Exit::Good,
    })
}

async fn send(client: &Client, documents: &[Document], most: usize, form: Form) -> Result<Outcome> {
    let mut teller = Teller::new(form.json || form.quiet);
    let mut outcome = Outcome::default();
    for batch in batched(documents, most) {
        if documents.len() > batch.len() {
            teller.meanwhile(&format!("{} of {} registered", outcome.results.len(), documents.len()));
        }
        let items = batch
            .iter()
            .map(|document| RegisterRequest { content: document.text.clone(), resource_type: None });
        let answer = client.register_batch(&RegisterBatchRequest { items: items.collect() }).await?;
        outcome.registered += answer.registered;
        outcome.failed += answer.failed;
        let named = batch.iter().zip(answer.results);
        outcome
            .results
            .extend(named.map(|(document, item)| FileOutcome { file: document.name.clone(), item }));
    }
    teller.clear();
    Ok(outcome)
}

/// Documents in their order, cut where a batch would become too many or too large.
fn batched(documents: &[Document], most: usize) -> Vec<&[Document]> {
    let mut batches = Vec::new();
    let (mut begin, mut bytes) = (0, 0);
    for (at, document) in documents.iter().enumerate() {
        let is_full = at - begin >= most.max(1) || bytes + document.text.len() > BATCH_BYTES;
        if is_full && at > begin {
            batches.push(&documents[begin..at]);
            (begin, bytes) = (at, 0);
        }
        bytes += document.text.len();
    }
    if begin < documents.len() {
        batches.push(&documents[begin..]);
    }
    batches
}

fn show(outcome: &Outcome, out: &mut Output) -> Result<()> {
    for FileOutcome { file, item } in &outcome.results {
        match (&item.path, item.version, &item.error) {
            (Some(path), Some(version), None) => {
                let kind = item.kind.as_deref().unwrap_or("document");
                writeln!(out, "{kind} {path} version {version}  {file}")?;
            }
            (_, _, error) => refuse(file, item, error.as_deref().unwrap_or("it was not registered")),
        }
        for diagnostic in &item.diagnostics {
            show_diagnostic(file, diagnostic);
        }
    }
    if outcome.results.len() > 1 {
        let failed = if outcome.failed > 0 { format!(", {} refused", outcome.failed) } else { String::new() };
        mention(format_args!("{} registered{failed}", counted(outcome.registered, "document")));
    }
    Ok(())
}

fn refuse(file: &str, item: &RegisteredItem, error: &str) {
    match &item.code {
        // With standard error closed there is nobody left to tell.
        Some(code) => drop(writeln!(std::io::stderr(), "error[{code}]: {file}: {error}")),
        None => complain(format_args!("{file}: {error}")),
    }
}

/// A finding of the server's checker.
pub fn show_diagnostic(file: &str, diagnostic: &Diagnostic) {
    let Diagnostic { severity, code, message, line, column, .. } = diagnostic;
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(stderr, "{file}:{line}:{column}: {severity}[{code}]: {message}");
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(stderr, "  help: {help}");
    }
}

/// Keeps the credential in a file, or those in the JSON files of a folder.
fn register_credentials(path: &PathBuf, server: &ServerFlags, out: &mut Output) -> Result<Exit> {
    let mut files = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).with_context(|| path.display().to_string())? {
            let file = entry.with_context(|| path.display().to_string())?.path();
            if file.extension().is_some_and(|ending| ending == "json") {
                files.push(file);
            }
        }
        files.sort();
    } else {
        files.push(path.clone());
    }
    let mut requests = Vec::new();
    for file in &files {
        let name = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| WrongUse(format!("{name}: {error}")))?;
        match serde_json::from_str::<CredentialRequest>(&text) {
            Ok(request) => requests.push(request),
            // Other JSON files may lie in the folder.
            Err(_) if path.is_dir() => mention(format_args!("{name}: not a credential, left aside")),
            Err(error) => {
                let sentence =
                    format!("{name} is no credential, an object with name, type and data: {error}");
                return Err(WrongUse(sentence).into());
            }
        }
    }
    ask(server, false, async |client| {
        for request in &requests {
            let kept = client.put_credential(request).await?;
            writeln!(out, "credential {} of type {}", kept.name, kept.kind)?;
        }
        Ok(Exit::Good)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::Origin;

    #[test]
    fn batches_are_cut_by_number_and_by_size_and_lose_nothing() {
        let document =
            |bytes: usize| Document { name: String::new(), origin: Origin::Stdin, text: "x".repeat(bytes) };
        let sizes = |documents: &[Document], most: usize| -> Vec<usize> {
            batched(documents, most).iter().map(|batch| batch.len()).collect()
        };
        let small: Vec<Document> = (0..5).map(|_| document(1)).collect();
        assert_eq!(sizes(&small, 2), [2, 2, 1]);
        let large = [document(1), document(BATCH_BYTES), document(1), document(1)];
        assert_eq!(sizes(&large, 100), [1, 1, 2]);
        assert!(batched(&[], 3).is_empty());
    }
}
