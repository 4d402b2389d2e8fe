//! What can only be seen when several documents are checked together.

use expect_test::{Expect, expect};
use noetl_dsl::{Options, check_many};

fn check_files(files: &[(&str, String)], expected: Expect) {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, source)| (*path, source.as_str())).collect();
    let lines: Vec<String> = check_many(&files, &Options::default())
        .iter()
        .flat_map(|file| file.checked.diagnostics.iter().map(|found| format!("{}:{found}", file.path)))
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

fn playbook(path: &str, steps: &str) -> String {
    format!(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: x, path: {path}}}\nworkflow:\n{steps}\n"
    )
}

#[test]
fn playbooks_that_always_call_each_other_are_found() {
    check_files(
        &[
            (
                "a.yaml",
                playbook(
                    "a",
                    "  - step: start\n    next: {arcs: [{step: call}]}\n  - step: call\n    tool: {kind: playbook, path: b}",
                ),
            ),
            ("b.yaml", playbook("b", "  - step: start\n    tool: [{kind: noop}, {kind: playbook, path: c}]")),
            ("c.yaml", playbook("c", "  - step: start\n    tool: {kind: playbook, path: a}")),
            ("d.yaml", playbook("d", "  - step: start\n    tool: {kind: playbook, path: a}")),
            (
                "self.yaml",
                playbook("self", "  - step: start\n    tool: {kind: playbook, path: self, async: true}"),
            ),
        ],
        expect![[r#"
            a.yaml:8:34 warning[endless_call]: every run calls the playbook again, without an end: `a` → `b` → `c` → `a`
            b.yaml:6:49 warning[endless_call]: every run calls the playbook again, without an end: `b` → `c` → `a` → `b`
            c.yaml:6:34 warning[endless_call]: every run calls the playbook again, without an end: `c` → `a` → `b` → `c`
            self.yaml:6:34 warning[endless_call]: every run calls the playbook again, without an end: `self` → `self`"#]],
    );
}

#[test]
fn recursion_that_something_can_stop_is_fine() {
    check_files(
        &[
            (
                "arc.yaml",
                playbook(
                    "arc",
                    "  - step: start\n    next: {arcs: [{step: end, when: '{{ workload.n == 0 }}'}, {step: call}]}\n  - step: call\n    tool: {kind: playbook, path: arc}",
                ),
            ),
            (
                "when.yaml",
                playbook(
                    "when",
                    "  - step: start\n    when: '{{ workload.n > 0 }}'\n    tool: {kind: playbook, path: when}",
                ),
            ),
            (
                "loop.yaml",
                playbook(
                    "loop",
                    "  - step: start\n    loop: {in: '{{ workload.rows }}', iterator: row}\n    tool: {kind: playbook, path: loop}",
                ),
            ),
            (
                "rule.yaml",
                playbook(
                    "rule",
                    "  - step: start\n    tool:\n      - {kind: noop, spec: {policy: {rules: [{when: '{{ workload.n == 0 }}', then: {do: break}}]}}}\n      - {kind: playbook, path: rule}",
                ),
            ),
            (
                "path.yaml",
                playbook("path", "  - step: start\n    tool: {kind: playbook, path: '{{ workload.next }}'}"),
            ),
        ],
        expect![""],
    );
}

#[test]
fn two_files_with_one_catalog_path_are_found() {
    let steps = "  - step: start";
    check_files(
        &[
            ("a.yaml", playbook("same", steps)),
            ("b.yaml", playbook("other", steps)),
            ("c.yaml", playbook("same", steps)),
        ],
        expect!["c.yaml:3:27 warning[duplicate_path]: `same` is also the catalog path of a.yaml"],
    );
}

#[test]
fn subscriptions_are_checked_as_what_they_are() {
    let subscription = "apiVersion: noetl.io/v1\nkind: Subscription\nmetadata: {name: s}\nspec: {source: nats, stream: a, dispatch: {playbook: p}}\n";
    check_files(
        &[("s.yaml", subscription.to_owned()), ("broken.yaml", "a: [".to_owned())],
        expect![[r#"
        s.yaml:4:16 error[missing_key]: a subscription to `nats` needs `consumer`
        broken.yaml:1:4 error[yaml_syntax]: this '[' is never closed"#]],
    );
}
