//! What a diagnostic looks like to those who read it as JSON.

use expect_test::expect;
use noetl_dsl::{FieldSpec, KindSpec, Options, Types, check};

#[test]
fn a_diagnostic_says_where_it_is_in_several_ways() {
    let source = "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: sample}
workflow:
  - step: start
    next:
      arcs:
        - step: finish
          when: \"{{ strat.n > 3 }}\"
  - step: finish
";
    let checked = check(source, &Options::default());
    let json = serde_json::to_string_pretty(&checked.diagnostics).expect("diagnostics are JSON");
    expect![[r#"
        [
          {
            "severity": "warning",
            "code": "unknown_name",
            "message": "nothing in the playbook defines `strat`",
            "help": "did you mean `start`?",
            "line": 9,
            "column": 21,
            "end_line": 9,
            "end_column": 26,
            "step": "start",
            "path": "workflow[0].next.arcs[0].when"
          }
        ]"#]]
    .assert_eq(&json);
}

#[test]
fn keys_with_dots_are_quoted_in_paths() {
    let source = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: a}\nworkflow:\n  - step: start\n    set: {ctx.a: '{{ nowhere }}'}\n";
    let checked = check(source, &Options::default());
    assert_eq!(checked.diagnostics[0].path, "workflow[0].set[\"ctx.a\"]");
    assert_eq!(checked.diagnostics[0].step.as_deref(), Some("start"));
}

#[test]
fn tools_of_other_kinds_can_be_taught() {
    let source = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: a}\nworkflow:\n  - step: start\n    tool: {kind: beam, to: mars}\n";
    assert_eq!(check(source, &Options::default()).diagnostics[0].code, "unknown_kind");
    let teleport = KindSpec::new("teleport", "Moves things.", "where they are")
        .alias("beam")
        .field(FieldSpec::new("destination", Types::TEXT, "Where to.").older("to").required());
    let mut options = Options::default();
    options.kinds = options.kinds.with(teleport);
    let checked = check(source, &options);
    assert_eq!(checked.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>(), ["old_spelling"]);
    let plan = checked.plan.expect("it registers");
    let task = &plan.steps[0].tasks[0];
    assert_eq!(
        (&*task.kind, task.config.source().to_string().as_str()),
        ("teleport", r#"{"destination":"mars"}"#)
    );
}
