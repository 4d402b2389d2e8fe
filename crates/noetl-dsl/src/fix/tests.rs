//! Sources before and after.

use super::{AppliedFix, fix};
use crate::yaml::{Limits, parse};

/// Fixes a source, and the result a second time, which must change nothing.
#[track_caller]
fn check(before: &str, after: &str) {
    let fixed = fix(before);
    assert_eq!(fixed.text, after, "\n--- got ---\n{}\n--- wanted ---\n{after}", fixed.text);
    assert!(parse(after, &Limits::default()).is_ok_and(|document| document.problems.is_empty()));
    let again = fix(after);
    assert_eq!((again.text.as_str(), again.applied.len()), (after, 0));
    assert_eq!(fixed.applied.is_empty(), before == after);
}

/// For what must be left alone.
#[track_caller]
fn unchanged(source: &str) {
    check(source, source);
}

/// As [`check`], for the keys of a step.
#[track_caller]
fn check_step(before: &str, after: &str) {
    let playbook = |keys: &str| {
        let keys: Vec<String> =
            keys.trim_matches('\n').lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
        format!("kind: Playbook\nworkflow:\n  - step: a\n{}\n  - step: b\n", keys.join("\n"))
    };
    check(&playbook(before), &playbook(after));
}

#[test]
fn args_become_input_on_steps_and_tools() {
    check_step(
        r#"
args: {a: 1}   # for all
tool:
  kind: python
  "args":
    args: {args: 1}  # the author's own
  code: |
    args = {"args": 1}
"#,
        r#"
input: {a: 1}   # for all
tool:
  kind: python
  "input":
    args: {args: 1}  # the author's own
  code: |
    args = {"args": 1}
"#,
    );
    check_step(
        "tool:\n- {name: x, kind: playbook, path: p, args: {a: 1}}\n- {name: y, kind: noop, 'args': {}}",
        "tool:\n- {name: x, kind: playbook, path: p, input: {a: 1}}\n- {name: y, kind: noop, 'input': {}}",
    );
}

#[test]
fn args_that_are_something_else_stay() {
    unchanged(
        "kind: Playbook\nworkload: {args: {a: 1}}\nworkflow:\n- step: a\n  tool: {kind: noop, result: {args: {b: 1}}}\n",
    );
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  tool: {kind: container, image: x, args: [a]}\n");
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  args: {a: 1}\n  input: {b: 1}\n");
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  next: {arcs: [{step: a, args: {a: 1}}]}\n");
}

#[test]
fn settings_of_tools_get_their_current_names() {
    check_step(
        "tool: {kind: http, endpoint: 'http://x', payload: {endpoint: 1}}",
        "tool: {kind: http, url: 'http://x', json: {endpoint: 1}}",
    );
    unchanged(
        "kind: Playbook\nworkflow:\n- step: a\n  tool: {kind: http, endpoint: 'http://x', url: 'http://y'}\n",
    );
}

#[test]
fn old_assignments_become_set() {
    check_step(
        r#"
tool: {kind: noop}
set_ctx:            # kept
  # and this
  n: 1              # one
  "m": {a: 1}
  ctx.x: 2
"#,
        r#"
tool: {kind: noop}
set:            # kept
  # and this
  ctx.n: 1              # one
  "ctx.m": {a: 1}
  ctx.x: 2
"#,
    );
    check_step("vars: {a: 1, b.c: '{{ a }}'}", "set: {ctx.a: 1, ctx.b.c: '{{ a }}'}");
    check_step(
        "tool:\n- name: x\n  kind: noop\n  set_iter: {page: 1}\n  spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {a: 1}}}}]}}",
        "tool:\n- name: x\n  kind: noop\n  set: {iter.page: 1}\n  spec: {policy: {rules: [{else: {then: {do: continue, set: {ctx.a: 1}}}}]}}",
    );
    check_step(
        "next:\n  arcs:\n  - step: b\n    set_ctx: {a: 1}\n    vars: {}",
        "next:\n  arcs:\n  - step: b\n    set: {ctx.a: 1}\n    vars: {}",
    );
}

#[test]
fn several_blocks_of_assignments_become_one() {
    check_step(
        "set:\n  ctx.a: 1  # one\n  # two\n  b: 2\nset_ctx: {c: 3, 'd': 4}\nset_iter:\n  e: 5\ndesc: x",
        "set:\n  ctx.c: 3\n  'ctx.d': 4\n  iter.e: 5\n  ctx.a: 1  # one\n  # two\n  b: 2\ndesc: x",
    );
    check_step("set_iter: {e: 5}\nset_ctx: {c: 3}", "set: {ctx.c: 3, iter.e: 5}");
    check_step(
        "next: {arcs: [{step: b, set_ctx: {a: 1}, when: '{{ x }}', set: {b: 2}}]}",
        "next: {arcs: [{step: b, set: {ctx.a: 1, b: 2}, when: '{{ x }}'}]}",
    );
}

#[test]
fn assignments_that_cannot_be_merged_stay() {
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  set: {ctx.a: 1}\n  set_ctx: {a: 2}\n");
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  set: {ctx.a: 1}\n  set_ctx: {b: 2} # mine\n");
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  set_ctx: &x {b: 2}\n- step: b\n  set_ctx: *x\n");
    unchanged("kind: Playbook\nx: &x {b: 2}\nworkflow:\n- step: a\n  set_ctx: {<<: *x}\n");
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  set_ctx: text\n");
}

#[test]
fn a_name_in_next_becomes_an_arc() {
    check_step("next: b # then b", "next: {arcs: [{step: b}]} # then b");
    check_step("next: 'b'", "next: {arcs: [{step: 'b'}]}");
    check_step("next: b, c", "next: {arcs: [{step: \"b, c\"}]}");
    check(
        "{kind: Playbook, workflow: [{step: a, next: b}]}",
        "{kind: Playbook, workflow: [{step: a, next: {arcs: [{step: b}]}}]}",
    );
}

#[test]
fn lists_in_next_become_arcs_that_are_all_followed() {
    check_step(
        "next: [b, 'c']  # both",
        "next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: 'c'}]}  # both",
    );
    check_step("next: [b]", "next: {arcs: [{step: b}]}");
    check_step(
        "next:   # both\n  - b   # one\n  # two\n  - step: c\n    when: |\n      x\n\n      and y\ndesc: x",
        "next:   # both\n  spec: {mode: inclusive}\n  arcs:\n    - step: b   # one\n    # two\n    - step: c\n      when: |\n        x\n\n        and y\ndesc: x",
    );
    check_step("next:\n- b\n- c", "next:\n  spec: {mode: inclusive}\n  arcs:\n  - step: b\n  - step: c");
    check_step("next:\n- step: b\n  when: '{{ x }}'", "next:\n  arcs:\n  - step: b\n    when: '{{ x }}'");
    check_step(
        "spec: {next_mode: exclusive}\nnext: [b, c]",
        "next: {spec: {mode: exclusive}, arcs: [{step: b}, {step: c}]}",
    );
}

#[test]
fn routers_get_their_current_shape() {
    check_step("next: {step: b, when: '{{ x }}'}", "next: {arcs: [{step: b, when: '{{ x }}'}]}");
    check_step(
        "next:\n  step: b  # one\n  when: '{{ x }}'",
        "next:\n  arcs:\n    - step: b  # one\n      when: '{{ x }}'",
    );
    check_step("next: {arcs: [b, {step: c}]}", "next: {arcs: [{step: b}, {step: c}]}");
    check_step(
        "next:\n  arcs:\n    - b # one\n    - step: c",
        "next:\n  arcs:\n    - step: b # one\n    - step: c",
    );
    check_step(
        "next:\n  mode: inclusive # all\n  arcs: []",
        "next:\n  spec: {mode: inclusive} # all\n  arcs: []",
    );
}

#[test]
fn the_mode_of_a_step_moves_to_its_router() {
    check_step(
        "spec:\n  timeout: 5\n  next_mode: inclusive\nnext:  # both\n  arcs:\n  - step: b\n  - step: c",
        "spec:\n  timeout: 5\nnext:  # both\n  spec: {mode: inclusive}\n  arcs:\n  - step: b\n  - step: c",
    );
    check_step(
        "spec: {next_mode: inclusive, timeout: 5}\nnext: {arcs: []}",
        "spec: {timeout: 5}\nnext: {spec: {mode: inclusive}, arcs: []}",
    );
    unchanged(
        "kind: Playbook\nworkflow:\n- step: a\n  spec: {next_mode: inclusive} # all\n  next: {arcs: []}\n",
    );
}

#[test]
fn next_that_cannot_be_rewritten_stays() {
    unchanged(
        "kind: Playbook\nworkflow:\n- step: a\n  next: []\n- step: b\n  next: &n b\n- step: c\n  next: *n\n",
    );
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  next: [1, b]\n");
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  next: {arcs: [{step: b, cond: x}]}\n");
}

#[test]
fn loops_say_parallel_and_have_their_settings_in_spec() {
    check_step(
        "loop: {in: [1], iterator: i, spec: {mode: async}}",
        "loop: {in: [1], iterator: i, spec: {mode: parallel}}",
    );
    check_step(
        "loop:\n  in: [1]\n  iterator: i\n  spec:\n    mode: \"async\" # all at once",
        "loop:\n  in: [1]\n  iterator: i\n  spec:\n    mode: \"parallel\" # all at once",
    );
    check_step(
        "loop:\n  in: [1]\n  mode: async\n  iterator: i\n  concurrency: 5",
        "loop:\n  in: [1]\n  spec: {mode: parallel, max_in_flight: 5}\n  iterator: i",
    );
    check_step(
        "loop: {in: [1], iterator: i, max_in_flight: '{{ n }}', mode: sequential}",
        "loop: {in: [1], iterator: i, spec: {mode: sequential, max_in_flight: '{{ n }}'}}",
    );
}

#[test]
fn actions_go_under_then_in_else() {
    let rules = |rule: &str| {
        let lines: Vec<String> = rule.lines().map(|line| format!("        {line}")).collect();
        format!("tool:\n  kind: noop\n  spec:\n    policy:\n      rules:\n{}", lines.join("\n"))
    };
    for (before, after) in [
        ("- else: {do: fail} # else", "- else: {then: {do: fail}} # else"),
        (
            "- {when: x, then: {do: fail}}\n- {else: {do: continue}}",
            "- {when: x, then: {do: fail}}\n- {else: {then: {do: continue}}}",
        ),
        (
            "- else:  # else\n    do: continue  # on\n    # set\n    set_ctx:\n      a: 1",
            "- else:  # else\n    then:\n      do: continue  # on\n      # set\n      set:\n        ctx.a: 1",
        ),
        ("- else:\n  then: {do: continue}", "- else:\n    then: {do: continue}"),
        (
            "- else: null # nothing\n  then:\n    do: continue",
            "- else: # nothing\n    then:\n      do: continue",
        ),
        ("- {else: , then: {do: fail}}", "- {else: {then: {do: fail}}}"),
        ("- {else: ~, then: {do: fail}}", "- {else: {then: {do: fail}}}"),
    ] {
        check_step(&rules(before), &rules(after));
    }
}

#[test]
fn labels_become_names() {
    check_step(
        "tool:\n  - fetch:   # get it\n      kind: http\n      # where\n      url: x\n      code: |\n        a\n          b\n\n        c\n  - \"save it\": {kind: noop}\n  - 12: {kind: noop}",
        "tool:\n  - name: fetch   # get it\n    kind: http\n    # where\n    url: x\n    code: |\n      a\n        b\n\n      c\n  - {name: \"save it\", kind: noop}\n  - {name: \"12\", kind: noop}",
    );
    check_step("tool: [{fetch: {kind: noop}}]", "tool: [{name: fetch, kind: noop}]");
    check_step(
        "tool:\n- fetch:\n    kind: http\n    args:\n      a: 1\n    url: x",
        "tool:\n- name: fetch\n  kind: http\n  input:\n    a: 1\n  url: x",
    );
    unchanged("kind: Playbook\nworkflow:\n- step: a\n  tool:\n  - x: {kind: workbook, name: y}\n");
}

#[test]
fn outcome_is_output_in_templates_and_conditions() {
    check_step(
        r#"
when: outcome.status == 'outcome'
tool:
  - name: x
    kind: python
    input: {a: "{{ outcome.result.id }} outcome", b: "say \"{{ outcome.status }}\""}
    code: |
      outcome = "{{ outcome.result }}"
    spec:
      policy:
        rules:
          - when: >-
              {{ outcome.status == 'error'
              and outcome.result is defined }}
            then: {do: fail, set: {ctx.a: '{{ outcome["result"] }}'}}
next:
  arcs:
    - step: b
      when: "{{ outcome.error.kind == 'x' }}"
"#,
        r#"
when: output.status == 'outcome'
tool:
  - name: x
    kind: python
    input: {a: "{{ output.data.id }} outcome", b: "say \"{{ output.status }}\""}
    code: |
      outcome = "{{ outcome.result }}"
    spec:
      policy:
        rules:
          - when: >-
              {{ output.status == 'error'
              and output.data is defined }}
            then: {do: fail, set: {ctx.a: '{{ output["data"] }}'}}
next:
  arcs:
    - step: b
      when: "{{ output.error.kind == 'x' }}"
"#,
    );
}

#[test]
fn outcome_is_left_where_it_is_a_name_of_the_authors() {
    for source in [
        "kind: Playbook\nworkload: {outcome: 1}\nworkflow:\n- step: a\n  when: '{{ outcome }}'\n",
        "kind: Playbook\nworkflow:\n- step: outcome\n- step: b\n  when: outcome.ok\n",
        "kind: Playbook\nworkflow:\n- step: b\n  set: {ctx.outcome: 1}\n  when: outcome.ok\n",
        "kind: Playbook\nworkflow:\n- step: b\n  loop: {in: [1], iterator: outcome}\n  tool: {kind: noop, result: '{{ outcome }}'}\n",
    ] {
        unchanged(source);
    }
}

#[test]
fn the_api_version_is_brought_up_to_date() {
    check(
        "apiVersion: noetl.io/v10 # old\nkind: Playbook\n",
        "apiVersion: noetl.io/v2 # old\nkind: Playbook\n",
    );
    check("apiVersion: 'noetl.io/v10'\nkind: Playbook\n", "apiVersion: 'noetl.io/v2'\nkind: Playbook\n");
    unchanged("apiVersion: noetl.io/v1\nkind: Subscription\nspec: {args: {}}\n");
}

#[test]
fn workbook_tasks_are_fixed_too() {
    check(
        "kind: Playbook\nworkbook:\n- name: x\n  tool: {kind: python, args: {a: 1}}\n",
        "kind: Playbook\nworkbook:\n- name: x\n  tool: {kind: python, input: {a: 1}}\n",
    );
    check(
        "kind: Playbook\nworkbook: {x: {tool: {kind: python, args: {a: 1}}}}\n",
        "kind: Playbook\nworkbook: {x: {tool: {kind: python, input: {a: 1}}}}\n",
    );
}

#[test]
fn lines_are_those_of_the_given_source() {
    let source = "kind: Playbook\nworkflow:\n- step: a\n  next:\n  - b\n  - c\n- step: b\n  args: {a: 1}\n- step: c\n  tool:\n  - x:\n      kind: noop\n      set_ctx:\n        a: '{{ outcome }}'\n";
    let applied = fix(source).applied;
    let of = |line, from: &str, to: &str| AppliedFix { line, from: from.into(), to: to.into() };
    assert_eq!(
        applied,
        [
            of(4, "next: […]", "next.arcs"),
            of(8, "args", "input"),
            of(11, "x: {…}", "name: x"),
            of(13, "set_ctx", "set"),
            of(14, "outcome", "output"),
        ]
    );
}

#[test]
fn line_breaks_of_windows_are_kept() {
    let unix = [
        "kind: Playbook\nworkflow:\n- step: a\n  next:\n  - b\n  - c\n",
        "kind: Playbook\nworkflow:\n- step: a\n  next:\n    spec: {mode: inclusive}\n    arcs:\n    - step: b\n    - step: c\n",
    ];
    let [before, after] = unix.map(|text| text.replace('\n', "\r\n"));
    check(&before, &after);
}

#[test]
fn what_cannot_be_read_comes_back_as_it_is() {
    for source in
        ["", "a: b: c", "kind: Playbook\nkind: Playbook\nworkflow: [{step: a, next: b}]", "[", "- args: {}"]
    {
        let fixed = fix(source);
        assert_eq!((fixed.text.as_str(), fixed.applied.len()), (source, 0));
    }
}
