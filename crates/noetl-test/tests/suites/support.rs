//! Runs test files that stand in a test, and says in words what came of them.

use std::fmt::Write;
use std::sync::Arc;

use expect_test::Expect;
use noetl_dsl::Options;
use noetl_test::{Coverage, Playbook, Playbooks, Problem, RealCall, RealTools, run_case};
use noetl_types::{Report, Value};

/// `noop` does what it does; every other tool says that it was called for real.
struct Tools;

impl RealTools for Tools {
    fn call(&self, call: RealCall<'_>) -> Report {
        let task = call.task;
        if &*task.kind == "noop" {
            return Report::success(task.config.get("result").cloned().unwrap_or_default());
        }
        let credentials = Value::from(call.credentials.clone());
        Report::success(Value::map([
            ("real", Value::Text(task.kind.clone())),
            ("input", task.input.clone()),
            ("credentials", credentials),
        ]))
    }
}

/// Playbooks; the first is the one under test.
pub fn playbooks(workflows: &[(&str, &str)]) -> Playbooks {
    let mut all = workflows.iter().map(|(name, rest)| {
        let text = format!(
            "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: {name}, path: {name}}}\n{}",
            rest.trim_start_matches('\n')
        );
        let checked = noetl_dsl::check(&text, &Options::default());
        let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
        Playbook { plan, file: Arc::from(format!("{name}.yaml")) }
    });
    let main = all.next().expect("there is a playbook to test");
    Playbooks::new(main, all)
}

/// Runs the test file and compares what is said about it.
pub fn check(workflow: &str, test: &str, expected: Expect) {
    check_all(&[("flow", workflow)], test, expected);
}

pub fn check_all(workflows: &[(&str, &str)], test: &str, expected: Expect) {
    expected.assert_eq(&outcome(&playbooks(workflows), test).0);
}

/// What is said about a test file, and what its cases reached.
pub fn outcome(playbooks: &Playbooks, test: &str) -> (String, Coverage) {
    let mut text = String::new();
    let mut coverage = Coverage::default();
    let mut load = |name: &str| Err(format!("{name}: no such file"));
    let reading = noetl_test::read(test.trim_start_matches('\n'), playbooks, &mut load);
    for found in &reading.diagnostics {
        let help = found.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        writeln!(text, "{found}{help}").expect("texts take everything");
    }
    for case in reading.suite.iter().flat_map(|suite| &suite.cases) {
        let outcome = run_case(case, playbooks, &Tools);
        let word = if outcome.passed() { "ok" } else { "FAIL" };
        let elapsed = outcome.elapsed.as_secs_f64();
        writeln!(text, "{word} {}: {} after {elapsed} s, {} calls", case.name, outcome.status, outcome.calls)
            .expect("texts take everything");
        outcome.problems.iter().for_each(|problem| describe(&mut text, problem));
        coverage.add(outcome.coverage);
    }
    (text, coverage)
}

fn describe(text: &mut String, problem: &Problem) {
    let mut say = |line: String| writeln!(text, "  {line}").expect("texts take everything");
    let source = problem.source.as_ref();
    let source =
        source.map_or(String::new(), |source| format!(", {}:{} ({})", source.file, source.line, source.what));
    say(format!("{}: {}", problem.about, problem.message));
    say(format!("  line {}:{}{source}", problem.place.line, problem.place.column));
    if let Some(difference) = &problem.difference {
        say(format!("  expected {}", difference.expected));
        say(format!("  actual   {}", difference.actual));
    }
    if let Some(help) = &problem.help {
        say(format!("  help: {help}"));
    }
}
