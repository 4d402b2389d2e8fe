//! The clock of a case: it passes at once, and exactly.

use expect_test::expect;

use crate::support::check;

#[test]
fn delays_between_tries_pass_exactly() {
    check(
        "
workflow:
  - step: start
    tool:
      kind: http
      url: http://example.org/
      spec:
        policy:
          rules:
            - when: '{{ output.error.retryable }}'
              then: {do: retry, attempts: 4, backoff: exponential, delay: 900}
",
        "
mocks: {start: {http: {status: 429}, delay: 0.25}}
cases:
  - name: 900, 1800 and 3600 seconds between four calls
    expect: {error: {kind: rate_limit, code: HTTP_429}, elapsed: 6301}
",
        expect![[r#"
            ok 900, 1800 and 3600 seconds between four calls: failed after 6301 s, 4 calls
        "#]],
    );
}

const WAITS: &str = "
workflow:
  - step: ask
    tool: {kind: wait, signal: answer, prompt: well?, timeout_seconds: 3600}
    next:
      arcs:
        - {step: late, when: \"{{ event.name == 'step.failed' }}\"}
        - {step: nap}
  - step: late
    tool: {kind: noop, result: late}
  - step: nap
    tool: {kind: wait, seconds: 86400}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: noop, result: '{{ ask.said }} at {{ now() }}'}
";

#[test]
fn signals_come_when_they_are_waited_for_and_waits_pass() {
    check(
        WAITS,
        "
clock: 2026-03-01T00:00:00Z
cases:
  - name: an answer
    signals: {answer: {said: yes}}
    expect:
      elapsed: 86400
      result: {$contains: '2026-03-02'}
  - name: an answer after ten minutes
    signals: [{name: answer, payload: {said: hm}, after: 600}]
    expect: {elapsed: 87000}
  - name: an answer that comes too late
    signals: [{name: answer, after: 3601}]
    expect: {result: late, elapsed: 3600}
  - name: no answer
    expect: {result: late}
",
        expect![[r#"
            ok an answer: completed after 86400 s, 3 calls
            ok an answer after ten minutes: completed after 87000 s, 3 calls
            ok an answer that comes too late: completed after 3600 s, 2 calls
            ok no answer: completed after 3600 s, 2 calls
        "#]],
    );
}

#[test]
fn a_signal_that_the_case_does_not_send_is_said_to_be_missing() {
    check(
        "
workflow:
  - step: ask
    tool: {kind: wait, signal: answer}
",
        "
cases:
  - name: no answer
  - name: no answer, as expected
    expect: {status: waiting}
",
        expect![[r#"
            FAIL no answer: waiting after 0 s, 1 calls
              status: the run waits: step 'ask' waits for the signal 'answer', and should have completed
                line 2:5, flow.yaml:5 (step ask)
            ok no answer, as expected: waiting after 0 s, 1 calls
        "#]],
    );
}

#[test]
fn time_limits_of_calls_steps_and_runs_are_kept() {
    check(
        "
executor: {spec: {timeout: 100}}
workload: {how: call}
workflow:
  - step: start
    next:
      spec: {mode: exclusive}
      arcs:
        - {step: call, when: \"{{ workload.how == 'call' }}\"}
        - {step: step, when: \"{{ workload.how == 'step' }}\"}
        - {step: run}
  - step: call
    tool: {kind: http, url: http://example.org/, timeout: 10}
  - step: step
    spec: {timeout: 20}
    tool: {kind: http, url: http://example.org/}
  - step: run
    tool: {kind: http, url: http://example.org/}
",
        "
mocks:
  call: {value: 1, delay: 11}
  step: {value: 1, delay: 21}
  run: {value: 1, delay: 101}
cases:
  - name: of the call
    expect: {error: {kind: timeout, code: TIMEOUT}, elapsed: 10}
  - name: of the step
    payload: {how: step}
    expect: {error: {kind: timeout, step: step}, elapsed: 20}
  - name: of the run
    payload: {how: run}
    expect: {error: {kind: timeout, message: 'timeout of 100 s'}, elapsed: 100}
",
        expect![[r#"
            ok of the call: failed after 10 s, 1 calls
            ok of the step: failed after 20 s, 1 calls
            ok of the run: failed after 100 s, 1 calls
        "#]],
    );
}
