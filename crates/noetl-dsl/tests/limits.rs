//! Small documents cannot ask for large plans, and nothing that is written makes the checker panic.

#[path = "support/suite.rs"]
#[allow(dead_code, reason = "only the texts of the playbooks are used here")]
mod suite;

use noetl_dsl::{Options, Severity, check};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn codes(source: &str) -> Vec<&'static str> {
    let mut codes: Vec<&str> = check(source, &Options::default())
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| found.code)
        .collect();
    codes.dedup();
    codes
}

fn playbook(parts: &str) -> String {
    format!("apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: sample}}\n{parts}\n")
}

#[test]
fn workbook_tasks_cannot_multiply_a_document() {
    let rows = "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0], ".repeat(500);
    let calls = "      - {kind: workbook, name: big}\n".repeat(100);
    let calls: String = calls
        .lines()
        .enumerate()
        .map(|(at, line)| line.replace("- {", &format!("- t{at}: {{")) + "\n")
        .collect();
    let source = playbook(&format!(
        "workbook:\n  - {{name: big, tool: {{kind: noop, result: [{rows}]}}}}\nworkflow:\n  - step: start\n    tool:\n{calls}"
    ));
    assert_eq!(codes(&source), ["too_large"]);
}

#[test]
fn the_input_of_a_step_cannot_multiply_a_document() {
    let input: String = (0..2000).map(|at| format!("k{at}: 0, ")).collect();
    let tasks = "      - {kind: noop}\n".repeat(100);
    let source = playbook(&format!("workflow:\n  - step: start\n    input: {{{input}}}\n    tool:\n{tasks}"));
    assert_eq!(codes(&source), ["too_large"]);
}

#[test]
fn long_chains_of_workbook_tasks_are_refused() {
    let chain = |length: usize| {
        let tasks: String = (0..length)
            .map(|at| format!("  - {{name: t{at}, tool: {{kind: workbook, name: t{}}}}}\n", at + 1))
            .collect();
        playbook(&format!(
            "workbook:\n{tasks}  - {{name: t{length}, tool: {{kind: noop}}}}\nworkflow:\n  - step: start\n    tool: {{kind: workbook, name: t0}}"
        ))
    };
    assert_eq!(codes(&chain(20)), Vec::<&str>::new());
    assert_eq!(codes(&chain(40)), ["too_large"]);
    assert_eq!(codes(&chain(5000)), ["too_large"]);
}

#[test]
fn a_large_cycle_of_workbook_tasks_is_reported_once() {
    let tasks: String = (0..3000)
        .map(|at| format!("  - {{name: t{at}, tool: {{kind: workbook, name: t{}}}}}\n", (at + 1) % 3000))
        .collect();
    let source = playbook(&format!(
        "workbook:\n{tasks}workflow:\n  - step: start\n    tool: {{kind: workbook, name: t0}}"
    ));
    let found = check(&source, &Options::default()).diagnostics;
    let cycles: Vec<_> = found.iter().filter(|found| found.code == "workbook_cycle").collect();
    assert_eq!(cycles.len(), 1);
    assert!(cycles[0].message.len() < 1000);
}

#[test]
fn the_number_of_steps_is_bounded() {
    let steps = |count: usize| {
        let steps: String = (0..count)
            .map(|at| format!("  - step: s{at}\n    next: {{arcs: [{{step: s{}}}]}}\n", at + 1))
            .collect();
        playbook(&format!("workflow:\n{steps}  - step: s{count}"))
    };
    assert_eq!(codes(&steps(2000)), Vec::<&str>::new());
    assert_eq!(codes(&steps(10_000)), ["too_large"]);
}

/// A playbook of the suite with a part of it cut out, repeated or replaced.
fn damaged() -> impl Strategy<Value = String> {
    let sources: Vec<String> =
        suite::cases().into_iter().flat_map(|case| case.playbooks.into_values()).collect();
    let scraps = prop::sample::select(vec![
        "",
        ":",
        "- ",
        "{{",
        "}}",
        "{%",
        "\n",
        "  ",
        "[",
        "{",
        "null",
        "'",
        "step: start",
        "é",
    ]);
    let edit = (any::<prop::sample::Index>(), 0..40usize, scraps, any::<bool>());
    (prop::sample::select(sources), prop::collection::vec(edit, 1..4)).prop_map(|(mut source, edits)| {
        for (at, length, scrap, twice) in edits {
            let boundaries: Vec<usize> =
                source.char_indices().map(|(offset, _)| offset).chain([source.len()]).collect();
            let start = at.index(boundaries.len());
            let end = (start + length).min(boundaries.len() - 1);
            let cut = source[boundaries[start]..boundaries[end]].to_owned();
            let put = if twice { format!("{cut}{scrap}{cut}") } else { scrap.to_owned() };
            source.replace_range(boundaries[start]..boundaries[end], &put);
        }
        source
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(20), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_playbooks_are_reported_in_order_and_in_place(source in damaged()) {
        let checked = check(&source, &Options::default());
        let has_errors = checked.diagnostics.iter().any(|found| found.severity == Severity::Error);
        prop_assert_eq!(checked.plan.is_none(), has_errors);
        let lines = source.lines().count().max(1) as u32 + 1;
        for found in &checked.diagnostics {
            prop_assert!(found.span.start <= found.span.end && found.span.end <= source.len(), "{found:?}");
            prop_assert!((1..=lines).contains(&found.line) && found.column >= 1, "{found:?}");
            prop_assert!(found.line <= found.end_line && !found.message.is_empty(), "{found:?}");
        }
        prop_assert!(checked.diagnostics.is_sorted_by_key(|found| found.span.start));
    }
}
