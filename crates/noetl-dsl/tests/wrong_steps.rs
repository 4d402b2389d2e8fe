//! What the checker says about mistakes: small wrong playbooks, and for each the place, the code and the words.
//!
//! Lines and columns are those of the snippet; it stands under `workflow:`.

use expect_test::{Expect, expect};
use noetl_dsl::{Options, check};

const HEADER: &str = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: sample}\nworkflow:\n";

fn check_steps(steps: &str, expected: Expect) {
    let checked = check(&format!("{HEADER}{steps}\n"), &Options::default());
    let header_lines = HEADER.lines().count() as u32;
    let lines: Vec<String> = checked
        .diagnostics
        .iter()
        .map(|found| {
            let help = found.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{}:{} {} {}{help}", found.line - header_lines, found.column, found.code, found.message)
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn misspelt_keys_are_found_with_a_suggestion() {
    check_steps(
        r"- step: start
  tool: {kind: noop}
  nxet: {arcs: [{step: end}]}",
        expect!["3:3 unknown_key `nxet` is not a key of a step (did you mean `next`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop}
  banana: 1",
        expect![
            "3:3 unknown_key `banana` is not a key of a step (a step has `step`, `desc`, `when`, `tool`, `input`, `set`, `loop`, `next`, `spec`, `timeout`, `output` and `output_select`)"
        ],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iteratr: x}
  tool: {kind: noop}",
        expect![[r#"
            2:3 missing_key a loop needs `iterator` (is `iteratr` meant to be `iterator`?)
            2:19 unknown_key `iteratr` is not a key of a loop (did you mean `iterator`?)"#]],
    );
    check_steps(
        r"- step: start
  next:
    acrs: [{step: end}]",
        expect![[r#"
            2:3 missing_key `next` needs `arcs`
            3:5 unknown_key `acrs` is not a key of `next` (did you mean `arcs`?)"#]],
    );
    check_steps(
        r"- step: start
  next:
    arcs: [{step: end, cond: true}]",
        expect![
            "3:24 unknown_arc_key `cond` is not a key of an arc (an arc has `step`, `when`, `set`, `desc` and `spec`)"
        ],
    );
    check_steps(
        r"- step: start
  next:
    arcs: [{step: end, wen: true}]",
        expect!["3:24 unknown_arc_key `wen` is not a key of an arc (did you mean `when`?)"],
    );
    check_steps(
        r"- step: start
  tool:
    kind: noop
    spec:
      policy:
        rules: [{when: true, then: {do: retry, attemps: 2}}]",
        expect!["6:48 unknown_key `attemps` is not a key of a rule's `then` (did you mean `attempts`?)"],
    );
    check_steps(
        r"- step: start
  tool:
    kind: noop
    spec: {policy: {rule: []}}",
        expect!["4:21 unknown_key `rule` is not a key of a tool's `spec.policy` (did you mean `rules`?)"],
    );
    check_steps(
        r"- step: start
  output: {stroe: {kind: auto}}",
        expect!["2:12 unknown_key `stroe` is not a key of `output` (did you mean `store`?)"],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: x, spec: {mode: parallel, max_inflight: 3}}",
        expect![
            "2:55 unknown_key `max_inflight` is not a key of a loop's `spec` (did you mean `max_in_flight`?)"
        ],
    );
}

#[test]
fn older_spellings_work_and_are_named() {
    check_steps(
        r"- step: start
  args: {a: 1}
  tool: {kind: python, args: {b: 2}, code: 'result = 1'}",
        expect![[r#"
            2:3 old_spelling `args` is an older spelling of `input` (write `input`)
            3:24 old_spelling `args` is an older spelling of `input` (write `input`)"#]],
    );
    check_steps(
        r"- step: start
  vars: {a: 1}
  set_ctx: {b: 2}
  next: {arcs: [{step: end, set_iter: {c: 3}}]}",
        expect![[r#"
            2:3 old_spelling `vars` is an older spelling of `set` (write `set: {ctx.<name>: …}`)
            3:3 old_spelling `set_ctx` is an older spelling of `set` (write `set: {ctx.<name>: …}`)
            4:29 old_spelling `set_iter` is an older spelling of `set` (write `set: {iter.<name>: …}`)"#]],
    );
    check_steps(
        r"- step: start
  next: finish
- step: finish",
        expect![
            "2:3 old_spelling a step's name in `next` is an older spelling of `next.arcs` (write `next: {arcs: [{step: …}]}`)"
        ],
    );
    check_steps(
        r"- step: start
  next: [a, b]
- step: a
- step: b",
        expect![
            "2:3 old_spelling a list in `next` is an older spelling of `next.arcs` (write `next: {spec: {mode: inclusive}, arcs: […]}`)"
        ],
    );
    check_steps(
        r"- step: start
  next: [{step: a, when: true}]
- step: a",
        expect![
            "2:3 old_spelling a list in `next` is an older spelling of `next.arcs` (write `next: {spec: {mode: inclusive}, arcs: […]}`)"
        ],
    );
    check_steps(
        r"- step: start
  next: {step: a}
- step: a",
        expect!["2:10 old_spelling `step` is an older spelling of `arcs` (write `arcs`)"],
    );
    check_steps(
        r"- step: start
  spec: {next_mode: inclusive}
  next: {arcs: [{step: a}, {step: b}]}
- step: a
- step: b",
        expect![
            "2:10 old_spelling `next_mode` is an older spelling of `next.spec.mode` (write `next.spec.mode`)"
        ],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: x, mode: async, concurrency: 2}",
        expect![[r#"
            2:32 old_spelling `mode` is an older spelling of `spec.mode` (write `spec.mode`)
            2:38 old_spelling `async` is an older spelling of `parallel` (write `parallel`)
            2:45 old_spelling `concurrency` is an older spelling of `spec.max_in_flight` (write `spec.max_in_flight`)"#]],
    );
    check_steps(
        r"- step: start
  tool: {kind: http, endpoint: 'http://x', payload: {a: 1}}",
        expect![[r#"
            2:22 old_spelling `endpoint` is an older spelling of `url` (write `url`)
            2:44 old_spelling `payload` is an older spelling of `json` (write `json`)"#]],
    );
    check_steps(
        r"- step: start
  tool:
    kind: noop
    spec: {policy: {rules: [{else: {do: continue}}]}}",
        expect!["4:37 old_spelling `do` is an older spelling of `else.then.do` (write `else.then.do`)"],
    );
    check_steps(
        r"- step: start
  tool:
    kind: noop
    spec: {policy: {rules: [{else: , then: {do: continue}}]}}",
        expect![
            "4:30 old_spelling `else` beside `then` is an older spelling of `else: {then: …}` (move `then` into `else`)"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, result: '{{ outcome.result }}'}",
        expect!["2:34 old_name `outcome.result` is the older name of `output.data` (write `output.data`)"],
    );
}

#[test]
fn keys_without_effect_are_named() {
    check_steps(
        r"- step: start
  retry: {max_attempts: 3}",
        expect![
            "2:3 ignored_key `retry` of a step has no effect (write a rule with `do: retry` in the tool's `spec.policy.rules`)"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, retry: {max_attempts: 3}, sink: {}}",
        expect![[r#"
            2:22 ignored_key `retry` of a tool has no effect (write a rule with `do: retry` in `spec.policy.rules`)
            2:48 ignored_key `sink` of a tool has no effect (save results with a further task in the pipeline)"#]],
    );
    check_steps(
        r"- step: start
  next: {arcs: [{step: end, args: {a: 1}}]}",
        expect![
            "2:29 ignored_key `args` of an arc has no effect (assign what the next step needs with `set`)"
        ],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: x, pagination: {}}",
        expect![
            "2:32 ignored_key `pagination` of a loop has no effect (write the pages as a pipeline with `do: jump`, or as an arc back to the step)"
        ],
    );
    check_steps(
        r"- step: start
  case: [{when: true, then: []}]",
        expect![
            "2:3 removed_key `case` is no longer a key of a step (write the branches as `next.arcs`, each with `step` and `when`)"
        ],
    );
    check_steps(
        r"- step: start
  spec: {on_error: x, policy: {lifecycle: {}}}",
        expect![[r#"
            2:10 ignored_key `on_error` of a step's `spec` has no effect (write an arc whose `when` looks at `event.name` or `error`)
            2:32 ignored_key `lifecycle` of a step's `spec.policy` has no effect (use `spec.timeout` and arcs)"#]],
    );
}

#[test]
fn wrong_types_say_what_was_expected() {
    check_steps(r"- step: 5", expect!["1:9 wrong_type `step` must be text, not a number"]);
    check_steps(
        r"- step: start
  tool: python",
        expect!["2:9 wrong_type `tool` must be a map with `kind`, or a list of such maps, not text"],
    );
    check_steps(
        r"- step: start
  tool: [noop]",
        expect!["2:10 wrong_type a task must be a map with `kind`, not text"],
    );
    check_steps(
        r"- step: start
  loop: [1, 2]",
        expect!["2:9 wrong_type a loop must be a map, not a list"],
    );
    check_steps(
        r"- step: start
  next: 5",
        expect!["2:9 wrong_type `next` must be text, a list or a map, not a number"],
    );
    check_steps(
        r"- step: start
  next: {arcs: {step: end}}",
        expect!["2:17 wrong_type `arcs` must be a list, not a map"],
    );
    check_steps(
        r"- step: start
  set: [a]",
        expect!["2:8 wrong_type `set` must be a map, not a list"],
    );
    check_steps(
        r"- step: start
  when: [1]",
        expect!["2:9 wrong_type `when` must be text or a boolean, not a list"],
    );
    check_steps(
        r"- step: start
  spec: {timeout: soon}",
        expect!["2:19 wrong_type `timeout` must be a number or a template, not text"],
    );
    check_steps(
        r"- step: start
  tool: {kind: http, url: 'http://x', headers: [a]}",
        expect!["2:48 wrong_type `headers` must be a map or a template, not a list"],
    );
    check_steps(
        r"- step: start
  tool: {kind: http, url: {a: 1}}",
        expect!["2:28 wrong_type `url` must be text, not a map"],
    );
    check_steps(
        r"- step: start
  tool: {kind: python, code: [1]}",
        expect!["2:30 wrong_type `code` must be text, not a list"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, input: 5}",
        expect!["2:29 wrong_type `input` must be a map, not a number"],
    );
    check_steps(r"- start", expect!["1:3 wrong_type a step must be a map, not text"]);
}

#[test]
fn words_outside_their_list_are_refused() {
    check_steps(
        r"- step: start
  next:
    spec: {mode: inclusve}
    arcs: [{step: end}]",
        expect!["3:18 unknown_value `mode` cannot be `inclusve` (did you mean `inclusive`?)"],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: x, spec: {mode: paralel}}",
        expect!["2:45 unknown_value `mode` cannot be `paralel` (did you mean `parallel`?)"],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: x, spec: {policy: {on_error: ignore}}}",
        expect!["2:58 unknown_value `on_error` cannot be `ignore` (it takes `report`, `continue` or `fail`)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, spec: {policy: {rules: [{when: true, then: {do: explode}}]}}}",
        expect![
            "2:70 unknown_value `do` cannot be `explode` (it takes `continue`, `retry`, `break`, `jump` or `fail`)"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, spec: {policy: {rules: [{when: true, then: {do: retry, backoff: exponental}}]}}}",
        expect!["2:86 unknown_value `backoff` cannot be `exponental` (did you mean `exponential`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: http, url: 'http://x', method: GRAB}",
        expect![
            "2:47 unknown_option `GRAB` is not a known value of `method` (the known values are `GET`, `POST`, `PUT`, `PATCH`, `DELETE`, `HEAD` and `OPTIONS`)"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: nats, operation: kv_gt, bucket: b}",
        expect!["2:33 unknown_option `kv_gt` is not a known value of `operation` (did you mean `kv_get`?)"],
    );
    check_steps(
        r"- step: start
  output: {scope: forever}",
        expect![
            "2:19 unknown_value `scope` cannot be `forever` (it takes `step`, `execution`, `workflow` or `permanent`)"
        ],
    );
    check_steps(
        r"- step: start
  output: {store: {kind: tape}}",
        expect![
            "2:26 unknown_option `tape` is not a known value of `kind` (the known values are `auto`, `memory`, `kv`, `disk`, `object`, `s3`, `gcs`, `db`, `duckdb` and `eventlog`)"
        ],
    );
}

#[test]
fn numbers_have_bounds() {
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: x, spec: {mode: parallel, max_in_flight: 0}}",
        expect!["2:70 out_of_range `max_in_flight` must be at least 1"],
    );
    check_steps(
        r"- step: start
  spec: {timeout: -1}",
        expect!["2:19 out_of_range `timeout` must be at least 0"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, timeout_seconds: -5}",
        expect!["2:39 out_of_range `timeout_seconds` must be at least 0"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, spec: {policy: {rules: [{when: true, then: {do: retry, attempts: 0, delay: -1}}]}}}",
        expect![[r#"
            2:87 out_of_range `attempts` must be at least 1
            2:97 out_of_range `delay` must be at least 0"#]],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: x, spec: {policy: {on_error: {threshold: 10}}}}",
        expect![
            "2:70 out_of_range `threshold` must be at most 1 (it is a share of the iterations: 0.1 lets one in ten fail)"
        ],
    );
    check_steps(
        r"- step: start
  spec: {max_attempts: 0}",
        expect!["2:24 out_of_range `max_attempts` must be at least 1"],
    );
}

#[test]
fn steps_and_arcs_fit_together() {
    check_steps(
        r"- step: start
  next: {arcs: [{step: finsh}]}
- step: finish",
        expect![
            "2:24 unknown_step an arc leads to the step `finsh`, which does not exist (did you mean `finish`?)"
        ],
    );
    check_steps(
        r"- step: start
  next: {arcs: [{when: true}]}",
        expect!["2:18 missing_key an arc needs `step`"],
    );
    check_steps(
        r"- step: start
- step: start",
        expect!["2:9 duplicate_step there is another step `start` on line 5"],
    );
    check_steps(r"- tool: {kind: noop}", expect!["1:3 missing_key a step needs `step`"]);
    check_steps(
        r"- step: start
- step: lonely",
        expect![
            "2:9 unreachable_step the step `lonely` never runs: no arc leads to it from `start` (add an arc to `lonely`, or remove the step)"
        ],
    );
    check_steps(
        r"- step: start
  next: {arcs: [{step: a}, {step: b}]}
- step: a
- step: b",
        expect![
            "2:35 shadowed_arc this arc never fires, because the one on line 6 always does (move the arc without `when` to the end, or use `spec: {mode: inclusive}`)"
        ],
    );
    check_steps(
        r"- step: start
  next: {arcs: [{step: a, when: true}, {step: b, when: '{{ error }}'}]}
- step: a
- step: b",
        expect![""],
    );
    check_steps(
        r"- step: start
  next: {}",
        expect![""],
    );
    check_steps(
        r"- step: ctx",
        expect![
            "1:9 reserved_name the step `ctx` has the name of something that templates read (give it another name)"
        ],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: workload}",
        expect![
            "2:29 reserved_name the iterator `workload` has the name of something that templates read (give it another name)"
        ],
    );
}

#[test]
fn loops_make_sense() {
    check_steps(
        r"- step: start
  loop: {in: [1, 2]}",
        expect!["2:3 missing_key a loop needs `iterator`"],
    );
    check_steps(
        r"- step: start
  loop: {iterator: x}",
        expect!["2:3 loop_source a loop needs `in` or `cursor` to say what it goes over"],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], cursor: {claim: 'SELECT 1'}, iterator: x, spec: {mode: cursor}}",
        expect!["2:27 loop_source a loop has either `in` or `cursor`, not both"],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: x, spec: {mode: cursor}}",
        expect!["2:45 loop_source `mode: cursor` needs a `cursor` in the loop"],
    );
    check_steps(
        r"- step: start
  loop: {cursor: {claim: 'SELECT 1'}, iterator: x}",
        expect!["2:3 loop_source a loop with a `cursor` needs `spec: {mode: cursor}`"],
    );
    check_steps(
        r"- step: start
  loop: {cursor: {kind: postgrs, claim: 'SELECT 1'}, iterator: x, spec: {mode: cursor}}",
        expect!["2:25 unknown_kind there is no tool of kind `postgrs` (did you mean `postgres`?)"],
    );
    check_steps(
        r"- step: start
  loop: {cursor: {auth: a}, iterator: x, spec: {mode: cursor}}",
        expect!["2:10 missing_key a cursor needs `claim`"],
    );
    check_steps(
        r"- step: start
  loop: {cursor: {claim: x}, iterator: x, spec: {mode: cursor, frame: {process: table, max_attempts: '{{ workload }}'}}}",
        expect![[r#"
            2:81 unknown_value `process` cannot be `table` (it takes `row` or `frame`)
            2:102 ignored_key a template in `max_attempts` has no effect (write a number)"#]],
    );
    check_steps(
        r"- step: start
  loop: {in: [1], iterator: x, spec: {mode: parallel}}
  tool:
    - {kind: noop, set: {ctx.a: 1, iter.b: 2}}
    - {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set: {total: 1}}}}]}}}
  set: {ctx.fine: 1}",
        expect![[r#"
            4:26 parallel_write iterations that run at the same time all write `ctx.a`, and the last one wins (keep it under `iter`, or read the loop's `results` in the step's own `set`)
            5:79 parallel_write iterations that run at the same time all write `ctx.total`, and the last one wins (keep it under `iter`, or read the loop's `results` in the step's own `set`)"#]],
    );
}

#[test]
fn pipelines_and_rules_make_sense() {
    check_steps(
        r"- step: start
  tool: []",
        expect!["2:9 empty_pipeline a pipeline needs at least one task"],
    );
    check_steps(
        r"- step: start
  tool: [{name: a, kind: noop}, {name: a, kind: noop}]",
        expect!["2:40 duplicate_label the pipeline has the task `a` twice"],
    );
    check_steps(
        r"- step: start
  tool:
    - {name: fetch, kind: noop}
    - {name: b, kind: noop, spec: {policy: {rules: [{when: true, then: {do: jump, to: fetsh}}]}}}",
        expect!["4:87 unknown_label the pipeline has no task `fetsh` to jump to (did you mean `fetch`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, spec: {policy: {rules: [{when: true, then: {do: jump, to: previous}}]}}}",
        expect!["2:80 unknown_label the first task of a pipeline has none before it to jump to"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, spec: {policy: {rules: [{when: true, then: {do: jump}}]}}}",
        expect!["2:66 missing_key a rule with `do: jump` needs `to`"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, spec: {policy: {rules: [{when: '{{ output.error }}'}]}}}",
        expect!["2:47 missing_key a rule needs `then`"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, spec: {policy: {rules: [{when: '{{ output.error }}', then: {set: {a: 1}}}]}}}",
        expect![
            "2:82 missing_action a rule without `do` continues (add `do`: it takes `continue`, `retry`, `break`, `jump` or `fail`)"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: fail}}}, {when: '{{ output.error }}', then: {do: fail}}]}}}",
        expect!["2:75 shadowed_rule this rule never applies, because the one on line 6 always does"],
    );
    check_steps(
        r"- step: start
  tool: [{kind: task_sequence, tasks: [{kind: noop}]}]",
        expect![
            "2:11 nested_pipeline a task of a pipeline cannot be a pipeline itself (list its tasks in the outer pipeline, or give it a step of its own)"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: task_sequence}",
        expect!["2:10 missing_field a tool of kind `task_sequence` needs `tasks`"],
    );
    check_steps(
        r"- step: start
  spec: {policy: {admit: {rules: [{when: true, then: {}}]}}}",
        expect!["2:48 missing_key an admission rule's `then` needs `allow`"],
    );
    check_steps(
        r"- step: start
  set: {workload.a: 1, ctx.: 2}",
        expect![[r#"
            2:9 workload_write `workload.a` is kept as `ctx.a`: the workload itself is read only (write `ctx.a`)
            2:24 unknown_value `ctx.` is not a place to keep a value: a name is missing"#]],
    );
}

#[test]
fn tools_have_what_their_kind_needs() {
    check_steps(
        r"- step: start
  tool:
    code: 'result = 1'",
        expect!["2:3 missing_key a tool needs `kind`"],
    );
    check_steps(
        r"- step: start
  tool: {kind: pyton, code: 'result = 1'}",
        expect!["2:16 unknown_kind there is no tool of kind `pyton` (did you mean `python`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: iterator}",
        expect!["2:16 unknown_kind there is no tool of kind `iterator` (put a `loop` on the step instead)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: http}",
        expect!["2:16 missing_field a tool of kind `http` needs `url` (Where the request goes.)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: postgres, auth: pg}",
        expect![
            "2:16 missing_field a tool of kind `postgres` needs the SQL: `query`, `command`, `commands`, `queries`, `command_b64`, `commands_b64` or `script`"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: postgres, auth: pg, query: SELECT 1, command: SELECT 2}",
        expect!["2:53 exclusive_fields `query` and `command` say the SQL twice: keep one"],
    );
    check_steps(
        r"- step: start
  tool: {kind: http, url: 'http://x', json: {a: 1}, body: b}",
        expect!["2:53 exclusive_fields `json` and `body` say the body twice: keep one"],
    );
    check_steps(
        r"- step: start
  tool: {kind: http, url: 'http://x', heders: {a: b}}",
        expect!["2:39 unknown_field a tool of kind `http` does not read `heders` (did you mean `headers`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: playbook, input: {a: 1}}",
        expect!["2:16 missing_field a tool of kind `playbook` needs the playbook: `path` or `catalog_id`"],
    );
    check_steps(
        r"- step: start
  tool: {kind: transfer, source: {type: http}}",
        expect![
            "2:16 missing_field a tool of kind `transfer` needs `target` (Where rows go: `type`, `table` or `query`, `mapping`.)"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: wait, second: 5}",
        expect!["2:22 unknown_field a tool of kind `wait` does not read `second` (did you mean `seconds`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: workbook}",
        expect!["2:16 missing_field a tool of kind `workbook` needs `name`"],
    );
    check_steps(
        r"- step: start
  tool: {kind: workbook, name: nobody}",
        expect!["2:32 unknown_workbook_task there is no workbook task `nobody`"],
    );
}

#[test]
fn templates_name_things_that_exist() {
    check_steps(
        r"- step: start
  tool: {kind: noop, result: 'x {{ strat.n }}'}",
        expect!["2:36 unknown_name nothing in the playbook defines `strat` (did you mean `start`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, result: '{{ nowhere }}'}",
        expect![
            "2:34 unknown_name nothing in the playbook defines `nowhere` (if the payload brings it, give it a default in `workload: {nowhere: …}`)"
        ],
    );
    check_steps(
        r#"- step: start
  tool: {kind: noop, result: "{{ maybe | default(1) }} {{ maybe }}"}"#,
        expect![""],
    );
    check_steps(
        r#"- step: start
  tool: {kind: noop, result: "{{ 'a' | uper }}"}"#,
        expect!["2:40 unknown_filter there is no filter `uper` (did you mean `upper`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, result: '{{ start is defned }}'}",
        expect!["2:43 unknown_test there is no test `defned` (did you mean `defined`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, result: '{{ rang(3) }}'}",
        expect!["2:34 unknown_function there is no function `rang` (did you mean `range`?)"],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, result: '{{ keychain.svc.token }}'}",
        expect!["2:34 unknown_keychain_entry the keychain has no entry `svc`"],
    );
    check_steps(
        r"- step: start
  when: nowhere > 3",
        expect![
            "2:9 unknown_name nothing in the playbook defines `nowhere` (if the payload brings it, give it a default in `workload: {nowhere: …}`)"
        ],
    );
    check_steps(
        r"- step: start
  tool:
    kind: shell
    command: |
      echo one
      echo {{ nowhere }}",
        expect![
            "6:15 unknown_name nothing in the playbook defines `nowhere` (if the payload brings it, give it a default in `workload: {nowhere: …}`)"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, '{{ nowhere }}': 1}",
        expect![[r#"
            2:22 unknown_field a tool of kind `noop` does not read `{{ nowhere }}` (`noop` has `result` and `message`)
            2:22 unknown_name nothing in the playbook defines `nowhere` (if the payload brings it, give it a default in `workload: {nowhere: …}`)"#]],
    );
}

#[test]
fn templates_that_do_not_compile_are_shown_where_they_break() {
    check_steps(
        r#"- step: start
  tool: {kind: noop, result: "{{ workload.n | }}"}
  next: {arcs: [{step: end, when: "{{ workload.n > }}"}]}"#,
        expect![[r#"
            2:47 template_syntax the template cannot be compiled: unexpected end of variable block, expected identifier
            3:52 template_syntax the template cannot be compiled: unexpected end of variable block"#]],
    );
    check_steps(
        r"- step: start
  when: workload.n >
  set: {ctx.a: {b: ['fine', '{{ 1 + }}']}}",
        expect![[r#"
            2:21 template_syntax the template cannot be compiled: unexpected end of input, expected expression
            3:37 template_syntax the template cannot be compiled: unexpected end of variable block"#]],
    );
    check_steps(
        r"- step: start
  tool:
    kind: shell
    command: >
      echo one
      echo {{ workload.n }
      echo two",
        expect![
            "6:26 template_syntax the template cannot be compiled: unexpected `}`, expected end of variable block"
        ],
    );
    check_steps(
        r"- step: start
  tool: {kind: noop, result: '{% if x %}{{ [1].nosuch() }}{% endif %}', message: '{% for a in b %}'}",
        expect![[r#"
            2:48 template_syntax the template cannot be compiled: there is no method `nosuch`
            2:99 template_syntax the template cannot be compiled: unexpected end of input, expected end of block"#]],
    );
    check_steps(
        r"- step: start
  input: {good: 1, bad: '{{ }}'}
  loop: {in: '{{ [1, 2 }}', iterator: x}
  tool: {kind: python, code: 'print({{ not a template )'}",
        expect![[r#"
            2:29 template_syntax the template cannot be compiled: unexpected end of variable block
            3:24 template_syntax the template cannot be compiled: unexpected `}`, expected `,`"#]],
    );
}
