//! What each construct of the language becomes in the plan.

#[path = "support/printer.rs"]
mod printer;

use expect_test::{Expect, expect};
use noetl_dsl::{Options, check};

/// Lines are those of the whole document; steps start on line 5.
fn lowered(steps: &str, expected: Expect) {
    lowered_document(
        &format!("apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: sample}}\nworkflow:{steps}"),
        expected,
    );
}

fn lowered_document(source: &str, expected: Expect) {
    let checked = check(source, &Options::default());
    let Some(plan) = &checked.plan else {
        panic!("{:#?}", checked.diagnostics);
    };
    expected.assert_eq(&printer::print(plan));
}

#[test]
fn a_step_without_a_tool_does_nothing() {
    lowered(
        "
  - step: start
    desc: the first
",
        expect![[r#"
    5:start single
      5:start_task noop {}"#]],
    );
}

#[test]
fn a_single_tool_keeps_its_settings_apart_from_its_input() {
    lowered(
        "
  - step: start
    input: {a: 1, b: 2}
    tool:
      kind: http
      url: 'http://x/{{ workload.n }}'
      headers: {X: '1'}
      auth: svc
      timeout_seconds: 5
      input: {b: 20}
",
        expect![[r#"
    5:start single
      8:start_task http {"url":"http://x/{{ workload.n }}","headers":{"X":"1"},"auth":"svc","timeout_seconds":5} input {"a":1,"b":20} timeout 5"#]],
    );
}

#[test]
fn older_names_of_settings_are_gone() {
    lowered(
        "
  - step: start
    args: {a: 1}
    tool: {kind: http, endpoint: 'http://x', payload: {p: 1}, args: {a: 2}}
",
        expect![[r#"
    5:start single
      7:start_task http {"url":"http://x","json":{"p":1}} input {"a":2}"#]],
    );
}

#[test]
fn settings_under_spec_move_up_unless_the_tool_has_them() {
    lowered(
        "
  - step: start
    tool:
      kind: http
      method: PUT
      spec:
        method: POST
        url: http://x
        input: {a: 1}
        timeout: 3
        policy: {rules: [{when: '{{ output.error }}', then: {do: fail}}]}
",
        expect![[r#"
    5:start single
      7:start_task http {"method":"PUT","url":"http://x"} input {"a":1} timeout 3
        14: "{{ output.error }}" -> fail"#]],
    );
}

#[test]
fn code_is_a_template_only_when_it_reads_like_one() {
    lowered(
        r#"
  - step: start
    tool:
      kind: python
      code: |
        result = {{ workload.n }}
    next: {arcs: [{step: braces}]}
  - step: braces
    tool:
      kind: python
      code: |
        result = f"{{literal}}"
    next: {arcs: [{step: asked}]}
  - step: asked
    tool:
      kind: python
      code_template: false
      code: "result = '{{ workload.n }}'"
    next: {arcs: [{step: sql}]}
  - step: sql
    tool: {kind: postgres, query: "SELECT {{ workload.n }}"}
"#,
        expect![[r#"
    5:start single
      7:start_task python {}
        9: template code "result = {{ workload.n }}\n"
      10: -> braces
    11:braces single
      13:braces_task python {}
        15: literal code "result = f\"{{literal}}\"\n"
      16: -> asked
    17:asked single
      19:asked_task python {}
        21: literal code "result = '{{ workload.n }}'"
      22: -> sql
    23:sql single
      24:sql_task postgres {"query":"SELECT {{ workload.n }}"}"#]],
    );
}

#[test]
fn tasks_are_named_in_three_ways() {
    lowered(
        "
  - step: start
    tool:
      - kind: noop
      - {name: named, kind: noop}
      - keyed: {kind: noop, result: 1}
      - {kind: noop, result: '{{ keyed }}'}
",
        expect![[r#"
    5:start pipeline
      7:task_0 noop {}
      8:named noop {}
      9:keyed noop {"result":1}
      10:task_3 noop {"result":"{{ keyed }}"}"#]],
    );
}

#[test]
fn a_task_sequence_is_a_pipeline() {
    lowered(
        "
  - step: start
    input: {a: 1}
    tool:
      kind: task_sequence
      input: {b: 2}
      tasks:
        - {name: one, kind: noop}
        - {name: two, kind: noop, input: {b: 3}}
",
        expect![[r#"
    5:start pipeline
      11:one noop {} input {"a":1,"b":2}
      12:two noop {} input {"a":1,"b":3}"#]],
    );
}

#[test]
fn rules_have_actions_and_every_form_of_else() {
    lowered(
        "
  - step: start
    tool:
      - name: first
        kind: noop
        spec:
          policy:
            rules:
              - when: \"{{ output.status == 'error' }}\"
                then: {do: retry, attempts: 5, backoff: exponential, delay: '0.5'}
              - when: output.data.n > 3
                then: {do: break, set: {ctx.n: 1}}
              - else: {then: {do: continue, set: {iter.m: 2}}}
      - name: second
        kind: noop
        spec:
          policy:
            rules:
              - {when: '{{ output.error }}', then: {do: retry}}
              - {when: '{{ iter.more }}', then: {do: jump, to: first}}
              - {when: '{{ iter.back }}', then: {do: jump, to: previous}}
              - else: {do: fail, set_ctx: {why: x}}
      - name: third
        kind: noop
        spec:
          policy:
            rules:
              - when: '{{ output.error }}'
                then: {do: fail}
                else: {then: {do: break}}
      - name: fourth
        kind: noop
        spec: {policy: {rules: [{else: , then: {do: continue}}]}}
",
        expect![[r#"
    5:start pipeline
      7:first noop {}
        12: "{{ output.status == 'error' }}" -> retry 5 times, exponential backoff of "0.5"
        14: "output.data.n > 3" -> break
          set ctx.n = 1
        16: else -> continue
          set iter.m = 2
      17:second noop {}
        22: "{{ output.error }}" -> retry 3 times, none backoff of 1.0
        23: "{{ iter.more }}" -> jump to 0
        24: "{{ iter.back }}" -> jump to 0
        25: else -> fail
          set ctx.why = "x"
      26:third noop {}
        31: "{{ output.error }}" -> fail
        33: else -> break
      34:fourth noop {}
        36: else -> continue"#]],
    );
}

#[test]
fn assignments_have_scopes_and_paths() {
    lowered(
        "
  - step: start
    vars: {a: 1}
    set_ctx: {b: 2}
    set:
      ctx.cfg.limits.max: '{{ workload.n }}'
      iter.x: 1
      step.y: 2
      plain: 3
      dotted.name: 4
      workload.w: 5
      ctx: {inside: 6}
    tool:
      - {kind: noop, set: {ctx.task: 1}, set_iter: {i: 2}}
    next:
      arcs:
        - {step: end, set: {ctx.arc: 1}}
",
        expect![[r#"
    5:start pipeline
      17:task_0 noop {}
        set iter.i = 2
        set ctx.task = 1
      set ctx.a = 1
      set ctx.b = 2
      set ctx.cfg.limits.max = "{{ workload.n }}"
      set iter.x = 1
      set step.y = 2
      set ctx.plain = 3
      set ctx.dotted.name = 4
      set ctx.w = 5
      set ctx.inside = 6
      20: -> (end)
        set ctx.arc = 1"#]],
    );
}

#[test]
fn loops_go_over_items() {
    lowered(
        "
  - step: start
    loop:
      in: '{{ workload.rows }}'
      iterator: row
      spec: {mode: parallel, max_in_flight: '{{ workload.width }}', policy: {on_error: continue}}
    tool:
      - name: inner
        kind: noop
        loop: {in: '{{ iter.row.parts }}', iterator: part}
    next: {arcs: [{step: counted}]}
  - step: counted
    loop: {in: 3, iterator: i, mode: async, spec: {policy: {on_error: {threshold: 0.1}}}}
    next: {arcs: [{step: strict}]}
  - step: strict
    loop: {in: [1, 2], iterator: i, spec: {policy: {on_error: fail}}}
",
        expect![[r#"
    5:start pipeline
      loop row parallel up to "{{ workload.width }}", on error continue, in "{{ workload.rows }}"
      11:inner noop {}
        loop part sequential, on error report, in "{{ iter.row.parts }}"
      14: -> counted
    15:counted single
      loop i parallel, on error threshold 0.1, in 3
      15:counted_task noop {}
      17: -> strict
    18:strict single
      loop i sequential, on error fail, in [1,2]
      18:strict_task noop {}"#]],
    );
}

#[test]
fn cursors_claim_rows() {
    lowered(
        "
  - step: start
    loop:
      cursor: {auth: pg, claim: 'UPDATE t RETURNING id', options: {schema: s}}
      iterator: row
      spec:
        mode: cursor
        frame: {max_rows: 3, row_concurrency: 2, process: frame, max_attempts: 5, lease_seconds: 60}
    tool: {kind: noop}
",
        expect![[r#"
    5:start single
      loop row cursor, on error report, claim postgres {"auth":"pg","query":"UPDATE t RETURNING id","schema":"s"} rows 3 at once 2 whole true attempts 5 frame {"lease_seconds":60}
      12:start_task noop {}"#]],
    );
}

#[test]
fn routers_and_what_came_before_them() {
    lowered(
        "
  - step: start
    next:
      spec: {mode: inclusive}
      arcs:
        - {step: a, when: '{{ start.n > 3 }}'}
        - {step: b, when: \"{{ event.name == 'step.failed' }}\"}
        - {step: c, when: output.error.retryable}
        - {step: end}
  - step: a
    next: b
  - step: b
    next: [c, {step: a, when: true}]
  - step: c
    spec: {next_mode: inclusive}
    next: {arcs: [{step: a, when: false}, {step: b, when: '{{ a.x }}'}]}
",
        expect![[r#"
    5:start single
      5:start_task noop {}
      9: => a when "{{ start.n > 3 }}"
      10: => b when "{{ event.name == 'step.failed' }}" (sees failure)
      11: => c when "output.error.retryable" (sees failure)
      12: => (end)
    13:a single
      13:a_task noop {}
      14: -> b
    15:b single
      15:b_task noop {}
      16: => c
      16: => a when true
    17:c single
      17:c_task noop {}
      19: => a when false
      19: => b when "{{ a.x }}""#]],
    );
}

#[test]
fn admission_guards_and_limits_of_a_step() {
    lowered(
        "
  - step: start
    when: '{{ workload.on }}'
    spec:
      timeout: 30
      max_attempts: 7
      policy:
        admit:
          rules:
            - {when: '{{ workload.quota > 3 }}', then: {allow: true}}
            - else: {then: {allow: false}}
",
        expect![[r#"
    5:start single when "{{ workload.on }}" timeout 30 attempts 7
      admit "{{ workload.quota > 3 }}" -> true
      admit else -> false
      5:start_task noop {}"#]],
    );
}

#[test]
fn results_are_shaped_by_step_and_tool() {
    lowered("
  - step: start
    output: {store: {kind: auto}, output_select: [total]}
    output_select: [count, total]
    tool: {kind: noop, output: {select: [{path: a.b, as: b}], scope: step}, output_select: {strategy: size, threshold_kb: 5}}
", expect![[r#"
    5:start single
      8:start_task noop {}
        output ["a.b"] {"scope":"step","output_select":{"strategy":"size","threshold_kb":5}}
      output ["total", "count"] {"store":{"kind":"auto"}}"#]]);
}

#[test]
fn workbook_tasks_take_the_place_of_their_call() {
    lowered_document("\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: sample}
workbook:
  - name: area
    tool:
      kind: python
      input: {w: 1, h: null}
      code: result = w * h
  - name: shortcut
    tool: {kind: workbook, name: area, input: {w: 9}}
workflow:
  - step: start
    tool: {kind: workbook, name: shortcut, input: {h: 4}, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
    next: {arcs: [{step: many}]}
  - step: many
    tool:
      - {name: area, kind: workbook, input: {h: 2}}
      - other: {kind: workbook, name: area, input: {h: 3}}
", expect![[r#"
    13:start single
      14:start_task python {} input {"w":9,"h":4}
        9: literal code "result = w * h"
        14: else -> continue
      15: -> many
    16:many pipeline
      18:area python {} input {"w":1,"h":2}
        9: literal code "result = w * h"
      19:other python {} input {"w":1,"h":3}
        9: literal code "result = w * h""#]]);
}

#[test]
fn steps_that_templates_read_are_known() {
    lowered(
        "
  - step: start
    tool: {kind: noop, result: 1}
    next: {arcs: [{step: a}]}
  - step: a
    tool: {kind: noop, result: '{{ start.n }}'}
    next: {arcs: [{step: b}]}
  - step: b
    loop: {in: '{{ a.rows }}', iterator: row}
    tool: {kind: python, input: {n: '{{ steps.start.n }}'}, code: 'result = {{ n }}'}
    next: {arcs: [{step: c, when: '{{ start.x }}'}]}
  - step: c
    tool: {kind: noop, result: '{{ steps }}'}
    set: {ctx.x: '{{ a.n }}'}
",
        expect![[r#"
    5:start single
      6:start_task noop {"result":1}
      7: -> a
    8:a single reads start
      9:a_task noop {"result":"{{ start.n }}"}
      10: -> b
    11:b single reads start, a
      loop row sequential, on error report, in "{{ a.rows }}"
      13:b_task python {} input {"n":"{{ steps.start.n }}"}
        13: template code "result = {{ n }}"
      14: -> c when "{{ start.x }}"
    15:c single reads start, a, b, c
      16:c_task noop {"result":"{{ steps }}"}
      set ctx.x = "{{ a.n }}""#]],
    );
}

#[test]
fn the_executor_and_the_keychain() {
    lowered_document(
        "\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: sample, path: a/b, owner: me}
executor:
  profile: local
  requires: {tools: [http], features: [loop_v1]}
  spec: {entry_step: middle, final_step: report, no_next_is_error: true, compat: lenient, timeout: 90}
workload: {n: 1, who: '{{ name }}'}
keychain:
  - {name: svc, kind: credential, credential: 'vault_{{ workload.n }}'}
workflow:
  - step: middle
    tool: {kind: http, url: 'http://x', headers: {A: '{{ keychain.svc.token }}'}}
    next: {arcs: [{step: leaf}]}
  - step: leaf
  - step: report
",
        expect![[r#"
    finally report
    no_next_is_error true, lenient true, timeout Some(90.0)
    requires ["http"]
    workload {"n":1,"who":"{{ name }}"}
    keychain svc = {"kind":"credential","credential":"vault_{{ workload.n }}"}
    12:middle single
      13:middle_task http {"url":"http://x","headers":{"A":"{{ keychain.svc.token }}"}}
      14: -> leaf
    15:leaf single
      15:leaf_task noop {}
    16:report single
      16:report_task noop {}"#]],
    );
}

#[test]
fn the_entry_is_the_setting_then_start_then_the_first() {
    let steps = |executor: &str, second: &str| {
        format!(
            "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: a}}\n{executor}workflow: [{{step: first}}, {{step: {second}}}, {{step: third}}]\n"
        )
    };
    let entry = |source: String| {
        let plan = check(&source, &Options::default()).plan.expect("it registers");
        plan.steps[plan.executor.entry].name.to_string()
    };
    assert_eq!(entry(steps("", "second")), "first");
    assert_eq!(entry(steps("", "start")), "start");
    assert_eq!(entry(steps("executor: {spec: {entry_step: third}}\n", "start")), "third");
}

#[test]
fn a_path_stands_for_the_name_when_it_is_left_out() {
    let path = |metadata: &str| {
        let source = format!(
            "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {metadata}\nworkflow: [{{step: start}}]\n"
        );
        check(&source, &Options::default()).plan.expect("it registers").path.to_string()
    };
    assert_eq!(path("{name: a}"), "a");
    assert_eq!(path("{name: a, path: b/c}"), "b/c");
}
