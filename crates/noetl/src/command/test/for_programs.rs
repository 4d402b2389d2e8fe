//! Cases for programs. The shape is promised: keys may be added, none goes away.

use std::io::Write;

use anyhow::Result;
use noetl_test::{Case, Problem, Share};
use serde_json::{Value, json};

use super::{CoverageOf, Ran, TestFile};
use crate::output::Output;

pub fn write(out: &mut Output, files: &[TestFile], ran: &[Vec<Ran>], coverage: &[CoverageOf]) -> Result<()> {
    let failed = ran.iter().flatten().filter(|ran| !ran.outcome.passed()).count();
    let answer = json!({
        "files": files.iter().zip(ran).map(|(test, ran)| file(test, ran)).collect::<Vec<_>>(),
        "passed": ran.iter().flatten().count() - failed,
        "failed": failed,
        "invalid": files.iter().filter(|file| file.ready.is_none()).count(),
        "coverage": coverage.iter().map(covered).collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &answer)?;
    writeln!(out)?;
    Ok(())
}

fn file(test: &TestFile, ran: &[Ran]) -> Value {
    let ready = test.ready.as_ref();
    let cases = ready.map_or(&[][..], |ready| &ready.cases).iter().zip(ran);
    json!({
        "file": test.document.name,
        "playbook": ready.map(|ready| &*ready.playbooks.main().file),
        "diagnostics": test.diagnostics,
        "cases": cases.map(|(case, ran)| one(case, ran)).collect::<Vec<_>>(),
    })
}

fn one(case: &Case, Ran { outcome, took }: &Ran) -> Value {
    json!({
        "name": case.name,
        "line": case.place.line,
        "passed": outcome.passed(),
        "status": outcome.status,
        "calls": outcome.calls,
        "elapsed_seconds": outcome.elapsed.as_secs_f64(),
        "took_seconds": took.as_secs_f64(),
        "problems": outcome.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

fn problem(problem: &Problem) -> Value {
    let difference = problem.difference.as_ref();
    json!({
        "about": problem.about,
        "message": problem.message,
        "help": problem.help,
        "line": problem.place.line,
        "column": problem.place.column,
        "expected": difference.map(|difference| difference.expected.to_json()),
        "actual": difference.map(|difference| difference.actual.to_json()),
        "playbook": problem.source.as_ref().map(|source| {
            json!({"file": &*source.file, "line": source.line, "what": source.what})
        }),
    })
}

fn covered(of: &CoverageOf) -> Value {
    let share = |share: Share| json!({"reached": share.reached, "of": share.of});
    let missed = of.covered.missed.iter();
    json!({
        "playbook": of.file,
        "percent": of.covered.all().percent(),
        "steps": share(of.covered.steps),
        "arcs": share(of.covered.arcs),
        "rules": share(of.covered.rules),
        "missed": missed
            .map(|missed| json!({"kind": missed.kind, "what": missed.what, "line": missed.line}))
            .collect::<Vec<_>>(),
    })
}
