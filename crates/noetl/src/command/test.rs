//! `noetl test`

mod files;
mod for_people;
mod for_programs;
mod junit;
mod tools;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use noetl_dsl::Diagnostic;
use noetl_test::{Case, CaseOutcome, Coverage, Covered, Playbook, Playbooks, Share};

use crate::config::{Config, Flags};
use crate::documents::Document;
use crate::exit::Exit;
use crate::output::{Output, complain};
use for_people::People;
use tools::Tools;

/// Run the unit tests of playbooks, without a server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  noetl test flow.yaml                  the cases in flow.test.yaml
  noetl test playbooks/                 every *.test.yaml below a folder
  noetl test playbooks/ --filter retry  the cases whose name or file has this in it
  noetl test playbooks/ --coverage      and which steps, arcs and rules no case reaches

The engine and the interpreter are real; tools are mocked and time is virtual, so that a case takes a
millisecond. What a test file can say is in docs/testing.md, and `noetl schema test` helps editors.
Ends with 0 when every case passed, 1 when one did not, 2 for wrong use, 3 for an invalid playbook or test.")]
pub struct Arguments {
    /// Test files, playbooks with a test file beside them, or folders
    #[arg(value_name = "FILE|DIR", required = true)]
    paths: Vec<PathBuf>,

    /// Run only the cases whose name or file has this text in it
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Say which steps, arcs and rules no case reached
    #[arg(long)]
    coverage: bool,

    /// End with 1 when less than this percentage of steps, arcs and rules was reached
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    coverage_min: Option<f64>,

    /// Also write the outcome as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write one JSON object with all cases
    #[arg(long, short)]
    json: bool,

    /// Show only what is wrong
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
}

fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    number
        .filter(|number| (0.0..=100.0).contains(number))
        .ok_or_else(|| "write a number from 0 to 100".to_owned())
}

/// A test file, ready to run or refused.
struct TestFile {
    document: Document,
    diagnostics: Vec<Diagnostic>,
    /// Nothing when the file or its playbook is not valid.
    ready: Option<Ready>,
}

struct Ready {
    playbooks: Playbooks,
    cases: Vec<Case>,
}

/// A case that was run.
struct Ran {
    outcome: CaseOutcome,
    took: Duration,
}

/// How much of each playbook was reached.
struct CoverageOf {
    file: String,
    covered: Covered,
}

pub fn run(arguments: &Arguments, flags: &Flags, out: &mut Output) -> Result<Exit> {
    let tools = Tools::new(Config::load(flags)?.tools)?;
    let mut found = files::find(&arguments.paths);
    for problem in &found.problems {
        complain(format_args!("{problem}"));
    }
    if let Some(text) = &arguments.filter {
        for file in &mut found.files {
            let in_name = file.document.name.contains(text.as_str());
            if let Some(ready) = &mut file.ready {
                ready.cases.retain(|case| in_name || case.name.contains(text.as_str()));
            }
        }
        found.files.retain(|file| file.ready.as_ref().is_none_or(|ready| !ready.cases.is_empty()));
    }
    let began = Instant::now();
    let mut people = People::new(!arguments.json, arguments.quiet, out.colored());
    let ran = run_all(&found.files, &tools, |file, case, ran| people.show(out, file, case, ran))?;
    people.show_invalid(out, &found.files)?;
    let took = began.elapsed();
    let coverage = coverage(&found.files, &found.playbooks, &ran);
    let total = coverage.iter().fold(Share::default(), |share, of| share.and(of.covered.all()));
    if arguments.json {
        for_programs::write(out, &found.files, &ran, &coverage)?;
    } else {
        if arguments.coverage {
            people.show_coverage(out, &coverage, total)?;
        }
        people.show_summary(out, &ran, &found.files, took)?;
    }
    if let Some(file) = &arguments.junit {
        std::fs::write(file, junit::document(&found.files, &ran))
            .with_context(|| format!("{} could not be written", file.display()))?;
    }
    let too_little = arguments.coverage_min.filter(|least| total.percent() < *least);
    if let Some(least) = too_little {
        complain(format_args!("{:.1} % of the playbooks was reached, less than {least} %", total.percent()));
    }
    Ok(match () {
        () if !found.problems.is_empty() => Exit::Usage,
        () if found.files.iter().any(|file| file.ready.is_none()) => Exit::Invalid,
        () if ran.iter().flatten().any(|ran| !ran.outcome.passed()) || too_little.is_some() => Exit::Failed,
        () => Exit::Good,
    })
}

/// Runs every case, on all cores, and shows each in the order of the files. The answer is by file and case.
fn run_all(
    files: &[TestFile],
    tools: &Tools,
    mut show: impl FnMut(&TestFile, &Case, &Ran) -> Result<()>,
) -> Result<Vec<Vec<Ran>>> {
    let cases: Vec<(usize, &Ready, &Case)> = files
        .iter()
        .enumerate()
        .filter_map(|(at, file)| Some((at, file.ready.as_ref()?)))
        .flat_map(|(at, ready)| ready.cases.iter().map(move |case| (at, ready, case)))
        .collect();
    let next = Mutex::new(0..cases.len());
    let (done, mut outcomes) = mpsc::channel();
    thread::scope(|scope| {
        let hands = thread::available_parallelism().map_or(1, usize::from).min(cases.len());
        for _ in 0..hands {
            let (done, next, cases) = (done.clone(), &next, &cases);
            scope.spawn(move || {
                while let Some(at) = next.lock().ok().and_then(|mut next| next.next()) {
                    let (_, ready, case) = cases[at];
                    let began = Instant::now();
                    let outcome = noetl_test::run_case(case, &ready.playbooks, tools);
                    // Nobody listens any more when the output could not be written.
                    let _ = done.send((at, Ran { outcome, took: began.elapsed() }));
                }
            });
        }
        drop(done);
        let mut ran: Vec<Vec<Ran>> = files.iter().map(|_| Vec::new()).collect();
        in_order(&mut outcomes, |at, outcome| {
            let (file, _, case) = cases[at];
            show(&files[file], case, &outcome)?;
            ran[file].push(outcome);
            Ok(())
        })?;
        Ok(ran)
    })
}

/// Hands on what comes in any order in the order of its numbers.
fn in_order<T>(
    incoming: &mut Receiver<(usize, T)>,
    mut take: impl FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    let mut early = std::collections::BTreeMap::new();
    let mut next = 0;
    for (at, item) in incoming.iter() {
        early.insert(at, item);
        while let Some(item) = early.remove(&next) {
            take(next, item)?;
            next += 1;
        }
    }
    Ok(())
}

/// Of every playbook that is tested, and of those in the folders that are not.
fn coverage(files: &[TestFile], untested: &[Playbook], ran: &[Vec<Ran>]) -> Vec<CoverageOf> {
    let mut reached = Coverage::default();
    for outcome in ran.iter().flatten() {
        reached.add(outcome.outcome.coverage.clone());
    }
    let tested = files.iter().filter_map(|file| file.ready.as_ref()).map(|ready| ready.playbooks.main());
    let mut seen = std::collections::BTreeSet::new();
    tested
        .chain(untested)
        .filter(|playbook| seen.insert(playbook.plan.path.clone()))
        .map(|playbook| CoverageOf {
            file: playbook.file.to_string(),
            covered: reached.hold_against(&playbook.plan),
        })
        .collect()
}
