//! Every playbook of the conformance suite registers without an error and without a surprise, and those that must be
//! refused are refused for the reasons their case names.

#[path = "support/suite.rs"]
mod suite;

use noetl_dsl::{Diagnostic, Options, Severity, check, has_errors};
use serde_json::Value;
use suite::{Case, cases};

/// Cases whose playbooks are meant to show a warning, with the codes they show.
const WARNED: &[(&str, &[&str])] = &[
    ("entry/entry_step_setting", &["unreachable_step"]),
    ("entry/start_wins_over_first", &["unreachable_step"]),
    ("flow/exclusive_first_match", &["shadowed_arc"]),
    ("flow/truthiness", &["unknown_name"]),
    ("http/older_spellings", &["old_spelling"]),
    ("lint/warnings_do_not_refuse", &["old_name", "old_spelling", "unknown_key", "unreachable_step"]),
    ("policy/else_forms_and_first_match", &["old_spelling", "shadowed_rule"]),
    ("workload/input_merge_and_types", &["old_spelling"]),
];

#[test]
fn playbooks_of_the_suite_register_without_surprises() {
    let mut seen = 0;
    let mut failures = Vec::new();
    for case in cases() {
        if case.expects_refusal() {
            continue;
        }
        for (file, source) in &case.playbooks {
            seen += 1;
            let checked = check(source, &Options::default());
            let mut codes: Vec<&str> = checked.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
            codes.sort_unstable();
            codes.dedup();
            let expected =
                WARNED.iter().find(|(name, _)| *name == case.name).map_or(&[][..], |(_, codes)| codes);
            if checked.plan.is_none() || codes != expected {
                failures.push(format!("{}/{file}:\n{}", case.name, listed(&checked.diagnostics)));
            }
        }
        failures.extend(unmet_diagnostics(&case));
    }
    assert!(seen > 130, "only {seen} playbooks were found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn playbooks_that_must_be_refused_are_refused_for_the_right_reasons() {
    let mut seen = 0;
    let mut failures = Vec::new();
    for case in cases().into_iter().filter(Case::expects_refusal) {
        seen += 1;
        let checked = check(&case.playbooks["playbook.yaml"], &Options::default());
        if checked.plan.is_some() || !has_errors(&checked.diagnostics) {
            failures.push(format!("{} is accepted", case.name));
        }
        failures.extend(unmet_diagnostics(&case));
    }
    assert!(seen >= 12, "only {seen} cases were found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The diagnostics that the case asks for and the checker does not give.
fn unmet_diagnostics(case: &Case) -> Vec<String> {
    let source = &case.playbooks["playbook.yaml"];
    let diagnostics = check(source, &Options::default()).diagnostics;
    let wanted = case.expect["diagnostics"].as_array().cloned().unwrap_or_default();
    let unmet = wanted.iter().filter(|wanted| !diagnostics.iter().any(|given| meets(given, wanted, source)));
    unmet.map(|wanted| format!("{} lacks {wanted} among:\n{}", case.name, listed(&diagnostics))).collect()
}

fn meets(given: &Diagnostic, wanted: &Value, source: &str) -> bool {
    let severity_fits = match wanted["severity"].as_str() {
        Some(severity) => given.severity.to_string() == severity,
        None => given.severity != Severity::Note,
    };
    let place_fits = wanted["at"].as_str().is_none_or(|at| {
        let line =
            source.lines().position(|line| line.contains(at)).expect("the case names a line of its playbook")
                + 1;
        let within = wanted["within"].as_u64().unwrap_or(0) as usize;
        line.abs_diff(given.line as usize) <= within
    });
    let words_fit = wanted["contains"].as_str().is_none_or(|words| given.message.contains(words));
    severity_fits && place_fits && words_fit
}

fn listed(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("    {diagnostic}\n")).collect()
}
