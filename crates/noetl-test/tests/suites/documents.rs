//! Test files with mistakes: all are found, with line and column.

use expect_test::expect;

use crate::support::check;

const FLOW: &str = "
workflow:
  - step: fetch
    tool: {kind: http, url: http://example.org/}
    next: {arcs: [{step: store}]}
  - step: store
    tool:
      - {name: clean, kind: python, code: pass}
      - {name: insert, kind: postgres, auth: db, query: select 1}
    next: {arcs: [{step: ask}]}
  - step: ask
    tool: {kind: wait, signal: go}
";

#[test]
fn unknown_keys_are_errors_at_every_level() {
    check(
        FLOW,
        "
casez: []
cases:
  - name: a
    payloads: {}
    mocks:
      fetch: {valeu: 1}
    expect:
      statuss: failed
      calls: [{step: fetch, tims: 1}]
",
        expect![[r#"
            1:1 error[unknown_test_key]: `casez` is not a key of a test file (did you mean `cases`?)
            4:5 error[unknown_test_key]: `payloads` is not a key of a case (did you mean `payload`?)
            6:7 error[one_answer]: there is no answer (give one of `value`, `render`, `error`, `http`, `attempts`, `sequence`)
            6:15 error[unknown_test_key]: `valeu` is not a key of a mock (did you mean `value`?)
            8:7 error[unknown_test_key]: `statuss` is not a key of `expect` (did you mean `status`?)
            9:29 error[unknown_test_key]: `tims` is not a key of an expected call (did you mean `times`?)
        "#]],
    );
}

#[test]
fn what_names_nothing_is_said_to_with_the_nearest_name() {
    check(
        FLOW,
        "
allow: [pyhton]
clock: tomorrow
cases:
  - name: a
    entry: ftech
    mocks:
      fetsh: {value: 1}
      store: {value: 1}
      store.insrt: {value: 1}
      ask: {value: 1}
    expect:
      status: done
      steps: [fetch, stor]
      arcs: [fetch -> ask, fetch]
      ran: [store.clean]
      error: {kind: slow}
  - name: a
",
        expect![[r#"
            1:9 error[unknown_kind]: there is no tool of kind `pyhton` (did you mean `python`?)
            2:8 error[unknown_value]: `clock` is no instant (write an instant such as `2026-01-31T12:00:00Z`)
            5:12 error[unknown_address]: playbook `flow` has no step `ftech` (did you mean `fetch`?)
            7:7 error[unknown_address]: playbook `flow` has no step `fetsh` (did you mean `fetch`?)
            8:7 error[unknown_address]: step `store` has several tasks, and a mock answers for one (name the task after a dot: `store.<task>`, with one of `clean`, `insert`)
            9:7 error[unknown_address]: step `store` has no task `insrt` (did you mean `insert`?)
            10:7 error[unknown_address]: `ask` waits, which is not mocked (time passes by itself, and what it waits for is sent with `signals`)
            12:15 error[unknown_value]: `status` cannot be `done` (it takes `completed`, `failed`, `cancelled` or `waiting`)
            13:22 error[unknown_address]: playbook `flow` has no step `stor` (did you mean `store`?)
            14:14 error[unknown_address]: no arc of step `fetch` leads to `ask` (its arcs lead to `store`)
            14:28 error[unknown_address]: `fetch` is no arc (write it as `from -> to`)
            15:13 error[unknown_address]: `store.clean` is a task; name its step
            16:21 error[unknown_value]: `kind` cannot be `slow` (it takes `connection`, `timeout`, `rate_limit`, `auth`, `not_found`, `client_error`, `server_error`, `schema`, `parse`, `transform`, `db_connection`, `db_constraint`, `db_deadlock`, `db_timeout`, `db`, `storage_quota`, `storage_access`, `exit`, `exception`, `config`, `template`, `policy`, `loop`, `child`, `cancelled`, `worker_lost` or `unknown`)
            17:11 error[duplicate_case]: there is another case `a`
        "#]],
    );
}

#[test]
fn a_mock_has_exactly_one_answer() {
    check(
        FLOW,
        "
cases:
  - name: a
    mocks:
      fetch: {delay: 1}
      store.clean: {value: 1, error: {kind: timeout}}
      store.insert:
        attempts:
          - {value: 1, render: 2}
          - {}
  - name: b
    mocks:
      fetch: {when: '{{ input.', value: 1}
      store.clean: {render: '{{ nope( }}'}
    recorded: nowhere.yaml
    expect:
      result: {$where: '{{ value >'}
      ctx: {a: {$nearly: 1}}
",
        expect![[r#"
            4:7 error[one_answer]: there is no answer (give one of `value`, `render`, `error`, `http`, `attempts`, `sequence`)
            5:31 error[one_answer]: `value` and `error` are two answers; give one
            8:24 error[one_answer]: `value` and `render` are two answers; give one
            9:13 error[one_answer]: there is no answer (give one of `value`, `render`, `error`, `http`)
            12:21 error[template_syntax]: unexpected end of input, expected identifier or integer
            13:29 error[template_syntax]: unexpected `}`
            14:15 error[recording]: the recording `nowhere.yaml` cannot be used: nowhere.yaml: no such file
            16:15 error[unknown_value]: the condition of `$where` does not parse: unexpected end of input, expected expression
            17:16 error[unknown_value]: there is no `$nearly`; a value is matched with `$contains`, `$type` or `$where`
        "#]],
    );
}

#[test]
fn a_file_needs_cases() {
    check(
        FLOW,
        "cases: []",
        expect![[r#"
        1:1 error[missing_key]: a test file needs at least one case
    "#]],
    );
    check(
        FLOW,
        "cases: {name: a}",
        expect![[r#"
        1:1 error[missing_key]: a test file needs at least one case
        1:9 error[wrong_type]: `cases` must be a list, not a map
    "#]],
    );
    check(
        FLOW,
        "cases:\n  - name: a\n   bad",
        expect![[r#"
        3:4 error[yaml_syntax]: this line does not fit the indentation of the lines above it (keys of one map, and the dashes of one list, must start in the same column)
    "#]],
    );
}
