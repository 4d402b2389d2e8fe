//! What is said when a case does not come to what it expects.

use expect_test::expect;

use crate::support::{check, outcome, playbooks};

const FLOW: &str = "
workload: {n: 5}
workflow:
  - step: start
    tool:
      kind: noop
      result: {n: '{{ workload.n }}'}
    set:
      ctx.seen: '{{ workload.n }}'
    next:
      arcs:
        - step: large
          when: '{{ start.n > 3 }}'
        - step: small
  - step: large
    tool: {kind: noop, result: {size: large, n: '{{ start.n }}'}}
  - step: small
    tool:
      kind: noop
      result: {size: small}
      spec:
        policy:
          rules:
            - when: '{{ output.error }}'
              then: {do: fail}
            - else: {then: {do: continue}}
";

#[test]
fn every_difference_names_its_line_and_that_of_the_playbook() {
    check(
        FLOW,
        "
cases:
  - name: all wrong
    expect:
      status: failed
      result: {size: small, n: 5, extra: 1}
      results:
        start: {n: 6}
        small: 1
      steps: [start, small]
      ran: [small]
      not_run: [large]
      arcs: [start -> small]
      not_taken: [start -> large]
      calls:
        - {step: start, times: 2}
        - {step: small}
        - {step: large, settings: {$contains: {result: {$contains: {n: 7}}}}}
      ctx: {seen: 6, unseen: 1}
      elapsed: {$where: '{{ value > 1 }}'}
",
        expect![[r#"
            FAIL all wrong: completed after 0 s, 2 calls
              status: the run completed, and should have failed
                line 4:7, flow.yaml:17 (step large)
              result: the result is not as expected
                line 5:7, flow.yaml:17 (step large)
                expected {"size":"small","n":5,"extra":1}
                actual   {"size":"large","n":5}
              results: the result of step `start` is not as expected
                line 7:9, flow.yaml:6 (step start)
                expected {"n":6}
                actual   {"n":5}
              results: step `small` has no result
                line 8:9, flow.yaml:19 (step small)
              steps: the steps are not as expected, from number 2 on
                line 9:7, flow.yaml:17 (step large)
                expected ["start","small"]
                actual   ["start","large"]
              ran: step `small` did not run, and should have
                line 10:13, flow.yaml:19 (step small)
              not_run: step `large` ran, and should not have
                line 11:17, flow.yaml:17 (step large)
              arcs: the arc `start -> small` was not followed, and should have been
                line 12:14, flow.yaml:16 (arc start -> small)
                help: followed instead: `start -> large` (line 14)
              not_taken: the arc `start -> large` was followed, and should not have been
                line 13:19, flow.yaml:14 (arc start -> large)
              calls: `start` was called 1 times, and should have been 2
                line 15:11, flow.yaml:6 (step start)
              calls: no call of `small` was made, and there should be at least one
                line 16:11, flow.yaml:19 (step small)
              calls: no call of `large` is as expected, of 1 that were made
                line 17:11, flow.yaml:17 (step large)
                expected {"settings":{"result":{"size":"large","n":7}}}
                actual   {"settings":{"result":{"size":"large","n":5}}}
              ctx: `ctx.seen` is not as expected
                line 18:13, flow.yaml:6 (step start)
                expected 6
                actual   5
              ctx: nothing was set under `ctx.unseen`
                line 18:22
              elapsed: the time that passed is not as expected
                line 19:7, flow.yaml:17 (step large)
                expected {"$where":"{{ value > 1 }}"}
                actual   0.0
        "#]],
    );
}

#[test]
fn an_error_that_is_not_the_expected_one_is_shown() {
    check(
        "
workflow:
  - step: start
    tool: {kind: http, url: http://example.org/}
",
        "
mocks: {start: {error: {kind: auth, message: who are you?, code: 401, data: {a: 1}}}}
cases:
  - name: expected
    expect: {error: {kind: auth, message: who, code: '401', retryable: false, step: start}}
  - name: not expected
  - name: another one
    expect: {error: {kind: timeout, message: too slow}}
",
        expect![[r#"
            ok expected: failed after 0 s, 1 calls
            FAIL not expected: failed after 0 s, 1 calls
              status: the run failed: step 'start' failed: who are you?, and should have completed
                line 5:5, flow.yaml:5 (step start)
            FAIL another one: failed after 0 s, 1 calls
              error: the error is not as expected
                line 7:14, flow.yaml:5 (step start)
                expected {"kind":"timeout","message":{"$contains":"too slow"},"code":"401","retryable":false}
                actual   {"kind":"auth","message":"step 'start' failed: who are you?","code":"401","retryable":false}
        "#]],
    );
}

#[test]
fn parts_that_no_case_reached_are_listed_with_their_lines() {
    let playbooks = playbooks(&[("flow", FLOW)]);
    let (_, coverage) = outcome(&playbooks, "cases: [{name: five}]");
    let covered = coverage.hold_against(&playbooks.main().plan);
    let missed: Vec<String> =
        covered.missed.iter().map(|part| format!("{} {} {}", part.line, part.kind, part.what)).collect();
    expect![[r#"
        steps Share { reached: 2, of: 3 }, arcs Share { reached: 1, of: 2 }, rules Share { reached: 0, of: 2 }, all 42.9 %
        16 arc start -> small
        19 step small
        26 rule 1 of small
        28 rule 2 of small (else)
    "#]].assert_eq(&format!(
        "steps {:?}, arcs {:?}, rules {:?}, all {:.1} %\n{}\n",
        covered.steps,
        covered.arcs,
        covered.rules,
        covered.all().percent(),
        missed.join("\n")
    ));
    let (_, both) = outcome(&playbooks, "cases: [{name: five}, {name: one, payload: {n: 1}}]");
    let covered = both.hold_against(&playbooks.main().plan);
    expect![[r#"
        [Missed { kind: "rule", what: "1 of small", line: 26 }]
    "#]]
    .assert_eq(&format!("{:?}\n", covered.missed));
}
