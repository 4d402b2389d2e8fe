//! `noetl check`

mod explain;
mod fix;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use noetl_dsl::{Diagnostic, Severity};

use crate::documents::{self, Document, Origin};
use crate::exit::Exit;
use crate::output::{Output, complain, mention};
use crate::report::{Checked, Human, Json, Tally};

/// Check playbooks and subscriptions, without running anything
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl check flow.yaml                 one file
  noetl check playbooks/ --json         every playbook in a folder, for programs
  noetl check --fix --dry-run flow.yaml show how older spellings would be rewritten
  cat flow.yaml | noetl check -         standard input
  noetl check --explain unknown_step    what a code means

Ends with 0 when no file has an error, 3 when one has, 2 when something could not be read.")]
pub struct Arguments {
    /// Files, folders (searched for *.yaml and *.yml), or `-` for standard input
    #[arg(value_name = "FILE|DIR", required_unless_present = "explain")]
    paths: Vec<PathBuf>,

    /// Write one JSON object with all findings
    #[arg(long, short)]
    json: bool,

    /// Rewrite older spellings in the files first; comments and layout stay
    #[arg(long)]
    fix: bool,

    /// With --fix: show the changes as a diff, do nothing else
    #[arg(long, requires = "fix", conflicts_with_all = ["json", "quiet", "deny_warnings"])]
    dry_run: bool,

    /// End with 3 for warnings too
    #[arg(long)]
    deny_warnings: bool,

    /// Show errors only, and no summary
    #[arg(long, short, conflicts_with_all = ["json", "verbose"])]
    quiet: bool,

    /// Also say which files of a folder were left aside
    #[arg(long, short)]
    verbose: bool,

    /// Say what a code means, or list all codes
    #[arg(long, value_name = "CODE", num_args = 0..=1, default_missing_value = "", conflicts_with = "paths")]
    explain: Option<String>,
}

pub fn run(arguments: &Arguments, out: &mut Output) -> Result<Exit> {
    if let Some(code) = &arguments.explain {
        return explain::run(code, out);
    }
    let mut found = documents::find(&arguments.paths);
    if arguments.verbose {
        for name in &found.skipped {
            mention(format_args!("{name}: not a NoETL document, left aside"));
        }
    }
    for problem in &found.problems {
        complain(format_args!("{problem}"));
    }
    let all_read = found.problems.is_empty();
    if arguments.dry_run {
        fix::preview(&found.documents, out)?;
        return Ok(if all_read { Exit::Good } else { Exit::Usage });
    }
    if arguments.fix {
        if let Some(stdin) = found.documents.iter().find(|document| document.origin == Origin::Stdin) {
            complain(format_args!("{} cannot be rewritten; --fix --dry-run shows the changes", stdin.name));
            return Ok(Exit::Usage);
        }
        for document in &mut found.documents {
            fix::apply(document)?;
        }
    }
    let checked = check(found.documents);
    let tally = Tally::of(&checked);
    if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &Json::new(&checked))?;
        writeln!(out)?;
    } else {
        write_for_people(&checked, tally, arguments, out)?;
    }
    Ok(match () {
        () if !all_read => Exit::Usage,
        () if tally.errors > 0 || (arguments.deny_warnings && tally.warnings > 0) => Exit::Invalid,
        () => Exit::Good,
    })
}

/// Checks all documents together, so that calls between them are followed.
fn check(documents: Vec<Document>) -> Vec<Checked> {
    let sources: Vec<(&str, &str)> =
        documents.iter().map(|document| (document.name.as_str(), document.text.as_str())).collect();
    let results = noetl_dsl::check_many(&sources, &noetl_dsl::Options::default());
    let findings: Vec<Vec<Diagnostic>> = results.into_iter().map(|file| file.checked.diagnostics).collect();
    documents
        .into_iter()
        .zip(findings)
        .map(|(document, diagnostics)| Checked { document, diagnostics })
        .collect()
}

fn write_for_people(
    checked: &[Checked],
    tally: Tally,
    arguments: &Arguments,
    out: &mut Output,
) -> Result<()> {
    let human = Human::new(out.colored());
    for one in checked {
        for diagnostic in &one.diagnostics {
            if !arguments.quiet || diagnostic.severity == Severity::Error {
                human.write(out, &one.document, diagnostic)?;
            }
        }
    }
    if arguments.quiet || checked.is_empty() {
        return Ok(());
    }
    writeln!(out, "{tally}")?;
    Ok(())
}
