//! What the checker says about a playbook as a whole: its identity, its settings, its workbook and its keychain.

use expect_test::{Expect, expect};
use noetl_dsl::{Options, check};

fn check_document(source: &str, expected: Expect) {
    let checked = check(source, &Options::default());
    let lines: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|found| {
            let help = found.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{}:{} {} {}{help}", found.line, found.column, found.code, found.message)
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

/// The header, what is given, and one step.
fn check_around_a_step(part: &str, expected: Expect) {
    check_document(
        &format!(
            "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: sample}}\n{part}\nworkflow:\n  - step: start\n"
        ),
        expected,
    );
}

#[test]
fn a_document_must_be_a_playbook() {
    check_document("", expect!["1:1 yaml_syntax the document is empty"]);
    check_document("just text", expect!["1:1 wrong_type a playbook must be a map"]);
    check_document(
        "kind: Playbok\nmetadata: {name: a}",
        expect!["1:7 wrong_kind this is a `Playbok`, not a `Playbook` (did you mean `Playbook`?)"],
    );
    check_document(
        "kind: Subscription\nspec: {}",
        expect!["1:7 wrong_kind this is a `Subscription`, not a `Playbook` (write `kind: Playbook`)"],
    );
    check_document(
        "apiVersion: noetl.io/v1\nkind: Playbook\nmetadata: {name: a}\nworkflow: [{step: start}]",
        expect!["1:13 wrong_api_version playbooks have no apiVersion `noetl.io/v1` (write `noetl.io/v2`)"],
    );
    check_document(
        "apiVersion: noetl.io/v10\nkind: Playbook\nmetadata: {name: a}\nworkflow: [{step: start}]",
        expect![
            "1:13 old_spelling `noetl.io/v10` is an older spelling of `noetl.io/v2` (write `noetl.io/v2`)"
        ],
    );
    check_document(
        "kind: Playbook",
        expect![[r#"
        1:1 missing_key a playbook needs `apiVersion`
        1:1 missing_key a playbook needs `metadata`
        1:1 missing_key a playbook needs `workflow`"#]],
    );
    check_document(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {path: a/b}\nworkflow: []",
        expect![[r#"
        3:1 missing_key `metadata` needs `name`
        4:1 empty_workflow the workflow has no steps"#]],
    );
    check_document(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: a\nworkflow: {step: start}",
        expect![[r#"
        3:11 wrong_type `metadata` must be a map, not text
        4:12 wrong_type `workflow` must be a list, not a map"#]],
    );
    check_document(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: a, name: b}\nworkflow: [{step: start}]",
        expect![
            "3:21 duplicate_key the key 'name' occurs twice in this map (remove one of them, or rename it)"
        ],
    );
    check_document("a: [1", expect!["1:4 yaml_syntax this '[' is never closed"]);
}

#[test]
fn unknown_keys_of_the_document_are_only_warned_about() {
    check_around_a_step(
        "annotations: {team: data}",
        expect![
            "4:1 unknown_key `annotations` is not a key of a playbook (a playbook has `apiVersion`, `kind`, `metadata`, `executor`, `workload`, `keychain`, `workbook` and `workflow`)"
        ],
    );
    check_around_a_step(
        "wrokload: {a: 1}",
        expect!["4:1 unknown_key `wrokload` is not a key of a playbook (did you mean `workload`?)"],
    );
    check_around_a_step(
        "vars: {a: 1}",
        expect![
            "4:1 unknown_key `vars` is not a key of a playbook (a playbook has `apiVersion`, `kind`, `metadata`, `executor`, `workload`, `keychain`, `workbook` and `workflow`)"
        ],
    );
}

#[test]
fn settings_of_the_executor_name_steps_and_tools_that_exist() {
    check_around_a_step(
        "executor: {spec: {entry_step: strat, final_step: finish}}",
        expect![[r#"
        4:31 unknown_step `entry_step` names the step `strat`, which does not exist (did you mean `start`?)
        4:50 unknown_step `final_step` names the step `finish`, which does not exist"#]],
    );
    check_around_a_step(
        "executor: {profile: lokal, spec: {compat: loose, timeout: -1, entry: start}}",
        expect![[r#"
        4:21 unknown_value `profile` cannot be `lokal` (did you mean `local`?)
        4:43 unknown_value `compat` cannot be `loose` (it takes `strict` or `lenient`)
        4:59 out_of_range `timeout` must be at least 0
        4:63 unknown_key `entry` is not a key of `executor.spec` (`executor.spec` has `entry_step`, `final_step`, `no_next_is_error`, `compat` and `timeout`)"#]],
    );
    check_around_a_step(
        "executor: {requires: {tools: [http, pythn]}}",
        expect!["4:37 unknown_kind there is no tool of kind `pythn` (did you mean `python`?)"],
    );
    check_around_a_step(
        "executor: {spec: {no_next_is_error: 'yes', policy: {limits: {}}}}",
        expect![[r#"
        4:37 wrong_type `no_next_is_error` must be a boolean, not text
        4:44 ignored_key `policy` of `executor.spec` has no effect (set policies on steps, loops and tasks)"#]],
    );
}

#[test]
fn the_first_step_cannot_be_the_final_one_of_several() {
    check_document(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: a}\nexecutor: {spec: {final_step: start}}\nworkflow:\n  - step: start\n    next: {arcs: [{step: b}]}\n  - step: b\n",
        expect!["4:31 conflicting_settings the step `start` cannot be both the first and the last to run"],
    );
}

#[test]
fn the_final_step_and_what_follows_it_are_reachable() {
    check_document(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: a}\nexecutor: {spec: {final_step: report}}\nworkflow:\n  - step: start\n  - step: report\n    next: {arcs: [{step: mail}]}\n  - step: mail\n  - step: lost\n",
        expect![
            "10:11 unreachable_step the step `lost` never runs: no arc leads to it from `start` (add an arc to `lost`, or remove the step)"
        ],
    );
}

#[test]
fn workbook_tasks_are_named_used_and_free_of_cycles() {
    check_around_a_step(
        "workbook: [{name: ping, tool: {kind: noop}}]",
        expect!["4:19 unused_workbook_task no step uses the workbook task `ping`"],
    );
    check_around_a_step(
        "workbook: [{tool: {kind: noop}}]",
        expect!["4:13 missing_key a workbook task needs `name`"],
    );
    check_around_a_step(
        "workbook: [{name: a, tool: {kind: noop}}, {name: a, tool: {kind: noop}}]",
        expect![[r#"
        4:19 unused_workbook_task no step uses the workbook task `a`
        4:50 duplicate_name the workbook has the task `a` twice"#]],
    );
    check_around_a_step(
        "workbook: [{name: a, tool: [{kind: noop}]}]",
        expect![[r#"
        4:19 unused_workbook_task no step uses the workbook task `a`
        4:28 wrong_type the workbook task `a` must be one tool, not a list (write a pipeline as `kind: task_sequence` with `tasks`)"#]],
    );
    check_around_a_step(
        "workbook:\n  - {name: a, tool: {kind: workbook, name: b}}\n  - {name: b, tool: {kind: workbook, name: a}}",
        expect![[r#"
        5:12 unused_workbook_task no step uses the workbook task `a`
        5:44 workbook_cycle the workbook task `a` leads back to itself: `a` → `b` → `a`
        6:12 unused_workbook_task no step uses the workbook task `b`"#]],
    );
    check_around_a_step(
        "workbook: {a: {tool: {kind: teleport}, sink: {}}}",
        expect![[r#"
        4:12 unused_workbook_task no step uses the workbook task `a`
        4:29 unknown_kind there is no tool of kind `teleport` (the kinds are `noop`, `workbook`, `task_sequence`, `playbook`, `wait`, `http`, `mcp`, `agent`, `provider`, `gcs`, `gateway`, `secrets`, `artifact`, `result_fetch`, `wasm`, `postgres`, `duckdb`, `ducklake`, `snowflake`, `transfer`, `snowflake_transfer`, `python`, `shell`, `rhai`, `container`, `script`, `nats` and `subscription`)
        4:40 ignored_key `sink` of a workbook task has no effect (save results with a further task in the step's pipeline)"#]],
    );
}

#[test]
fn keychain_entries_have_names_of_their_own() {
    check_around_a_step(
        "keychain: [{name: a, kind: credential}, {name: a, kind: bearer, token: t}]",
        expect!["4:48 duplicate_name the keychain has the entry `a` twice"],
    );
    check_around_a_step(
        "keychain: [{kind: bearr, token: t, secret: x}]",
        expect![[r#"
        4:13 missing_key a keychain entry needs `name`
        4:19 unknown_option `bearr` is not a known value of `kind` (did you mean `bearer`?)
        4:36 unknown_key `secret` is not a key of a keychain entry (a keychain entry has `name`, `kind`, `provider`, `auth`, `credential`, `scope`, `map`, `auto_renew`, `endpoint`, `method`, `headers`, `data`, `token`, `region`, `residency`, `allowed_regions`, `no_broker_fallback` and `timeout`)"#]],
    );
    check_around_a_step(
        "keychain: {a: {kind: bearer}}",
        expect!["4:12 wrong_type `keychain` must be a list, not a map"],
    );
}

#[test]
fn names_in_the_workload_may_come_from_the_payload_but_filters_must_exist() {
    check_around_a_step(
        "workload: {a: '{{ who }}', b: '{{ who | uper }}'}",
        expect!["4:41 unknown_filter there is no filter `uper` (did you mean `upper`?)"],
    );
}

#[test]
fn five_different_mistakes_are_reported_together() {
    check_document(
        "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: five}
workload: {count: 3}
workflow:
  - step: start
    tool: {kind: htp, url: 'http://127.0.0.1:1/'}
    next:
      arcs:
        - step: fnish
  - step: finish
    lopo: {in: [1], iterator: x}
    tool:
      - name: same
        kind: noop
        result: '{{ cuont }}'
      - name: same
        kind: noop
",
        expect![[r#"
            7:18 unknown_kind there is no tool of kind `htp` (did you mean `http`?)
            10:17 unknown_step an arc leads to the step `fnish`, which does not exist (did you mean `finish`?)
            12:5 unknown_key `lopo` is not a key of a step (did you mean `loop`?)
            16:21 unknown_name nothing in the playbook defines `cuont` (did you mean `count`?)
            17:15 duplicate_label the pipeline has the task `same` twice"#]],
    );
}
