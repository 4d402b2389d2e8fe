//! What answers for tools.

use expect_test::expect;

use crate::support::{check, check_all};

const FETCH: &str = "
workload: {city: Oslo}
workflow:
  - step: fetch
    tool:
      kind: http
      url: 'http://example.org/{{ workload.city }}'
    next:
      arcs:
        - step: end
  - step: end
    tool: {kind: noop, result: '{{ fetch.data }}'}
";

#[test]
fn a_value_stands_for_the_call() {
    check(
        FETCH,
        "
cases:
  - name: warm
    mocks: {fetch: {value: {data: warm}}}
    expect: {result: warm}
  - name: an answer over http
    mocks: {fetch: {http: {body: {t: 21}}}}
    expect:
      result: {t: 21}
      results: {fetch: {$contains: {status_code: 200, url: 'http://example.org/Oslo'}}}
",
        expect![[r#"
            ok warm: completed after 0 s, 2 calls
            ok an answer over http: completed after 0 s, 2 calls
        "#]],
    );
}

#[test]
fn a_call_that_nothing_answers_names_the_step_and_what_to_write() {
    check(
        FETCH,
        "
cases:
  - name: forgotten
    expect: {result: 1, steps: [end]}
",
        expect![[r#"
            FAIL forgotten: waiting after 0 s, 1 calls
              mocks: `fetch` calls http, and nothing answers for it
                line 2:11, flow.yaml:8 (step fetch)
                help: add `mocks: {fetch: {value: …}}` to the case, or `allow: [http]` to call it for real
        "#]],
    );
}

#[test]
fn a_kind_that_is_allowed_is_called_for_real() {
    check(
        FETCH,
        "
allow: [http]
credentials: {api: {type: bearer, data: {token: t}}}
cases:
  - name: for real
    expect:
      results: {fetch: {real: http, input: {}, credentials: {api: {type: bearer, data: {token: t}}}}}
",
        expect![[r#"
            ok for real: completed after 0 s, 2 calls
        "#]],
    );
}

#[test]
fn the_first_mock_that_applies_answers() {
    check(
        "
workflow:
  - step: start
    loop: {in: [a, b, c, d], iterator: letter}
    tool:
      kind: python
      input: {letter: '{{ iter.letter }}'}
      code: pass
",
        "
mocks:
  start: {value: of the file}
cases:
  - name: by item, condition and template
    mocks:
      start:
        - {item: 1, value: second}
        - {when: \"{{ input.letter == 'c' }}\", error: {kind: exception, message: no c}}
        - {when: \"{{ index == 3 }}\", render: '{{ item }}{{ attempt }}'}
    expect:
      status: failed
      results: {start: {$contains: {results: [of the file, second, {$contains: {status: error}}, d1]}}}
  - name: what the case has no answer for
    mocks:
      start:
        - {item: 1, value: second}
    expect:
      results: {start: {$contains: {results: [of the file, second, of the file, of the file]}}}
",
        expect![[r#"
            ok by item, condition and template: failed after 0 s, 4 calls
            ok what the case has no answer for: completed after 0 s, 4 calls
        "#]],
    );
}

#[test]
fn a_call_that_no_mock_applies_to_is_shown_with_its_input() {
    check(
        "
workflow:
  - step: start
    tool: {kind: python, input: {letter: a}, code: pass}
",
        "
cases:
  - name: only for b
    mocks:
      start:
        - {when: \"{{ input.letter == 'b' }}\", value: b}
",
        expect![[r#"
            FAIL only for b: waiting after 0 s, 1 calls
              mocks: none of the mocks of `start` applies to its call with the input {"letter":"a"}
                line 5:11, flow.yaml:6 (step start)
                help: add one without `when` and `item`, or one that applies
        "#]],
    );
}

#[test]
fn tasks_of_a_pipeline_are_mocked_one_by_one() {
    check(
        "
workflow:
  - step: start
    tool:
      - {name: read, kind: http, url: 'http://example.org/'}
      - name: write
        kind: postgres
        auth: db
        loop: {in: '{{ read.rows }}', iterator: row}
        query: 'insert {{ iter.row }}'
      - {name: both, kind: noop, result: '{{ write.results }}'}
",
        "
cases:
  - name: a task with a loop of its own
    mocks:
      start.read: {value: {rows: [1, 2]}}
      start.write:
        - {item: 0, value: first}
        - {render: '{{ settings.query }}'}
    expect:
      results: {start: {$contains: {both: [first, insert 2]}}}
      calls:
        - {step: start.write, times: 2}
        - {step: start, times: 4}
",
        expect![[r#"
            ok a task with a loop of its own: completed after 0 s, 4 calls
        "#]],
    );
}

#[test]
fn answers_that_are_used_up_are_missed() {
    check(
        "
workflow:
  - step: start
    tool:
      kind: http
      url: http://example.org/
      spec: {policy: {rules: [{when: '{{ output.error }}', then: {do: retry, attempts: 3, delay: 1}}]}}
",
        "
cases:
  - name: too few
    mocks: {start: {attempts: [{error: {kind: timeout}}]}}
  - name: enough
    mocks: {start: {attempts: [{http: {status: 500}}, {error: {kind: timeout}}, {value: 3}]}}
    expect: {result: 3}
",
        expect![[r#"
            FAIL too few: waiting after 0 s, 2 calls
              mocks: `start` has 1 answers, and this is attempt 2
                line 3:13, flow.yaml:7 (step start)
            ok enough: completed after 0 s, 3 calls
        "#]],
    );
}

const CALLER: &str = "
workflow:
  - step: start
    tool: {kind: playbook, path: other/child, input: {n: 4}, return_step: double}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: noop, result: '{{ start.value }}'}
";

const CHILD: &str = "
workload: {n: 0}
workflow:
  - step: double
    tool: {kind: python, input: {n: '{{ workload.n }}'}, code: pass}
";

#[test]
fn a_playbook_that_is_called_runs_too_or_is_mocked_where_it_is_called() {
    check_all(
        &[("flow", CALLER), ("other/child", CHILD)],
        "
cases:
  - name: it runs
    mocks: {other/child/double: {render: {value: '{{ input.n * 2 }}'}}}
    expect:
      result: 8
      ran: [other/child/double]
      calls:
        - {step: start, input: {n: 4}, settings: {path: other/child}}
        - {step: other/child/double, times: 1, input: {n: 4}}
  - name: it is mocked
    mocks: {start: {value: {value: 5}, delay: 2}}
    expect:
      result: 5
      not_run: [other/child/double]
      elapsed: 2
      results: {start: {$contains: {status: COMPLETED, path: other/child}}}
  - name: it fails
    mocks: {other/child/double: {error: {kind: exception, message: no such number}}}
    expect:
      error: {kind: child, message: no such number, step: start}
  - name: its call fails
    mocks: {start: {error: {kind: not_found, message: gone}}}
    expect:
      error: {kind: not_found, message: gone}
",
        expect![[r#"
            ok it runs: completed after 0 s, 3 calls
            ok it is mocked: completed after 2 s, 2 calls
            ok it fails: failed after 0 s, 2 calls
            ok its call fails: failed after 0 s, 1 calls
        "#]],
    );
}

#[test]
fn a_playbook_that_is_not_there_must_be_mocked() {
    check(
        CALLER,
        "cases: [{name: alone}]",
        expect![[r#"
        FAIL alone: waiting after 0 s, 1 calls
          mocks: `start` calls the playbook `other/child`, which is not among the files beside this one
            line 1:16, flow.yaml:6 (step start)
            help: add `mocks: {start: {value: …}}` to the case
    "#]],
    );
}

#[test]
fn secrets_come_from_the_case_and_a_missing_one_is_named() {
    check(
        "
keychain:
  - {name: api, kind: credential, credential: prod}
workflow:
  - step: start
    tool: {kind: http, url: http://example.org/, headers: {Authorization: 'Bearer {{ keychain.api.token }}'}}
",
        "
mocks: {start: {value: 1}}
cases:
  - name: given
    keychain: {api: {token: secret}}
    expect:
      calls: [{step: start, settings: {$contains: {headers: {Authorization: Bearer secret}}}}]
  - name: forgotten
",
        expect![[r#"
            ok given: completed after 0 s, 1 calls
            FAIL forgotten: waiting after 0 s, 0 calls
              keychain: a template reads `keychain.api`, which the case does not give
                line 7:11, flow.yaml:8 (step start)
                help: add `keychain: {api: {…}}` to the case or to the file
        "#]],
    );
}

#[test]
fn results_of_a_long_loop_are_all_there() {
    check(
        "
workflow:
  - step: start
    loop: {in: '{{ range(3000) | list }}', iterator: n, spec: {mode: parallel, max_in_flight: 100}}
    tool: {kind: python, code: pass}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: noop, result: '{{ start.results | length }} {{ start.results[2999].n }}'}
",
        "
cases:
  - name: three thousand
    mocks: {start: {render: {n: '{{ item }}', filler: a text that makes the results of all items long enough}}}
    expect: {result: 3000 2999}
",
        expect![[r#"
            ok three thousand: completed after 0 s, 3001 calls
        "#]],
    );
}

#[test]
fn a_run_without_an_end_is_stopped() {
    check(
        "
workflow:
  - step: start
    tool: {kind: noop}
    next: {arcs: [{step: start}]}
",
        "cases: [{name: round and round}]",
        expect![[r#"
            FAIL round and round: waiting after 0 s, 24250 calls
              end: the run had more than 100000 events; it looks endless
                line 1:16
        "#]],
    );
}
