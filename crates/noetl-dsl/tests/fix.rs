//! A playbook that is fixed runs as before: its plan is the same, and the checker has nothing old left to warn about.

#[path = "support/suite.rs"]
mod suite;

use noetl_dsl::fix::fix;
use noetl_dsl::{Checked, Options, check};

/// Everything in a plan but the lines its parts came from, with the older names in templates brought up to date.
fn plan_of(source: &str) -> String {
    let Checked { plan, diagnostics } = check(source, &Options::default());
    let plan = plan.unwrap_or_else(|| panic!("{diagnostics:#?} in {source}"));
    let shown = format!("{plan:#?}");
    let shown = shown.replace("outcome.result", "output.data").replace("outcome", "output");
    shown.lines().filter(|line| !line.trim_start().starts_with("line: ")).collect::<Vec<_>>().join("\n")
}

fn old_spellings(source: &str) -> Vec<String> {
    let findings = check(source, &Options::default()).diagnostics;
    let is_old = |code: &str| matches!(code, "old_spelling" | "old_name");
    findings.iter().filter(|finding| is_old(finding.code)).map(ToString::to_string).collect()
}

#[track_caller]
fn check_fixed(source: &str) {
    assert!(!old_spellings(source).is_empty(), "nothing is old in {source}");
    let fixed = fix(source).text;
    assert_eq!(old_spellings(&fixed), [""; 0], "in {fixed}");
    assert_eq!(plan_of(source), plan_of(&fixed), "{source}\n{fixed}");
}

#[test]
fn old_playbooks_keep_their_plans() {
    for steps in [
        "- step: start\n  args: {a: 1}\n  tool: {kind: noop, args: {b: 2}}\n",
        "- step: start\n  tool: {kind: noop}\n  vars: {a: 1}\n  set_ctx: {b: '{{ a }}'}\n  set: {ctx.c: 1}\n",
        "- step: start\n  tool: {kind: noop, set_ctx: {a: 1, iter.b: 2, workload.c: 3}, set_iter: {d: 4}}\n",
        "- step: start\n  next: end\n",
        "- step: start\n  next: [one, two]\n- step: one\n- step: two\n",
        "- step: start\n  next:\n  - step: one\n    when: '{{ outcome.result }}'\n    set_ctx: {a: 1}\n  - two\n- step: one\n- step: two\n",
        "- step: start\n  next: {step: one, when: outcome.status == 'error'}\n- step: one\n",
        "- step: start\n  next:\n    mode: inclusive\n    arcs:\n      - one\n      - step: end\n- step: one\n",
        "- step: start\n  spec: {next_mode: inclusive}\n  next: [one, {step: end}]\n- step: one\n",
        "- step: start\n  loop: {in: [1], iterator: i, mode: async, concurrency: 3}\n  tool: {kind: noop}\n",
        "- step: start\n  loop:\n    in: [1]\n    iterator: i\n    spec: {mode: async}\n  tool: {kind: noop}\n",
        "- step: start\n  tool:\n    kind: noop\n    spec:\n      policy:\n        rules:\n          - when: outcome.error\n            then: {do: fail}\n          - else:\n              do: continue\n              set_iter: {a: 1}\n",
        "- step: start\n  tool: {kind: noop, spec: {policy: {rules: [{else: , then: {do: break}}]}}}\n",
        "- step: start\n  tool:\n    - first:\n        kind: http\n        endpoint: 'http://localhost'\n    - second: {kind: noop, result: '{{ first }}'}\n",
    ] {
        check_fixed(&format!(
            "apiVersion: noetl.io/v10\nkind: Playbook\nmetadata: {{name: old}}\nworkflow:\n{steps}"
        ));
    }
}

#[test]
fn a_list_of_one_name_needs_no_mode() {
    let source = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: old}\nworkflow:\n- step: start\n  next: [one]\n- step: one\n";
    let fixed = fix(source).text;
    assert!(old_spellings(&fixed).is_empty());
    assert_eq!(plan_of(source).replace("inclusive: true", "inclusive: false"), plan_of(&fixed));
}

#[test]
fn playbooks_of_the_suite_keep_their_plans() {
    let mut fixed = 0;
    for case in suite::cases() {
        if case.expects_refusal() {
            continue;
        }
        for source in case.playbooks.values() {
            if old_spellings(source).is_empty() {
                let after = fix(source).text;
                assert_eq!(plan_of(source), plan_of(&after), "{}", case.name);
            } else {
                fixed += 1;
                check_fixed(source);
            }
        }
    }
    assert!(fixed > 0);
}
