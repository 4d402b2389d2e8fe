//! What steps mean when they run through real tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use noetl_types::{ErrorKind, EventBody, Report, RunStatus, ToolError, Value, value};
use noetl_worker::WorkerConfig;

use crate::support::{Cluster, Probe, playbook};

/// Fails so many times, then says at which call it worked.
fn flaky(failures: usize) -> Probe {
    let calls = Arc::new(AtomicUsize::new(0));
    Probe::new(move |_| {
        let call = calls.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            if call <= failures {
                Report::failure(ToolError::new(ErrorKind::Connection, "not yet"))
            } else {
                Report::success(value!({"call": call}))
            }
        }
    })
}

const RETRY: &str = r#"
workflow:
  - step: start
    tool:
      kind: shell
      command: "true"
      spec:
        policy:
          rules:
            - {when: "{{ output.status == 'error' }}", then: {do: retry, attempts: 5, backoff: fixed, delay: 0.02}}
"#;

fn suspensions(cluster: &Cluster, run: &noetl_engine::Run) -> usize {
    let events = cluster.server.events(run.execution());
    events.iter().filter(|event| matches!(event.body, EventBody::CallSuspended { .. })).count()
}

#[tokio::test]
async fn tasks_of_a_pipeline_pass_data_on_and_obey_their_rules() {
    let cluster = Cluster::start();
    let run = cluster
        .run(
            r#"
workflow:
  - step: start
    tool:
      - {name: seed, kind: noop, result: {n: 1}, set: {iter.n: "{{ output.data.n }}"}}
      - name: grow
        kind: python
        input: {n: "{{ iter.n }}"}
        code: |
          result = {"n": n * 2}
        set: {iter.n: "{{ output.data.n }}"}
        spec:
          policy:
            rules:
              - {when: "{{ output.data.n < 20 }}", then: {do: jump, to: grow}}
              - {else: {then: {do: continue, set: {ctx.seen: "{{ output.data.n }}"}}}}
      - {name: show, kind: noop, result: {n: "{{ grow.n }}", first: "{{ seed.n }}", seen: "{{ ctx.seen }}"}}
"#,
            Value::Null,
        )
        .await;
    let result = cluster.result(&run);
    assert_eq!(result.get("n"), Some(&Value::Int(32)), "{result}");
    assert_eq!(result.get("first"), Some(&Value::Int(1)));
    assert_eq!(result.get("seen"), Some(&Value::Int(32)));
}

#[tokio::test]
async fn a_long_delay_before_a_retry_puts_the_command_down_and_takes_it_up_again() {
    let config = WorkerConfig { longest_wait: Duration::from_millis(5), ..WorkerConfig::default() };
    let cluster = Cluster::start_with(config, Some(flaky(3)));
    let run = cluster.run(RETRY, Value::Null).await;
    assert_eq!(cluster.result(&run), value!({"call": 4}));
    assert_eq!(suspensions(&cluster, &run), 3);
}

#[tokio::test]
async fn a_short_delay_before_a_retry_is_waited_out_in_place() {
    let cluster = Cluster::with_probe(flaky(3));
    let run = cluster.run(RETRY, Value::Null).await;
    assert_eq!(cluster.result(&run), value!({"call": 4}));
    assert_eq!(suspensions(&cluster, &run), 0);
}

#[tokio::test]
async fn loops_of_tasks_run_inside_loops_of_steps() {
    let cluster = Cluster::start();
    let run = cluster
        .run(
            r#"
workflow:
  - step: start
    loop: {in: [1, 2, 3], iterator: outer, spec: {mode: parallel}}
    tool:
      - name: inner
        kind: noop
        loop: {in: "{{ [10, 20] }}", iterator: tens, spec: {mode: parallel}}
        result: "{{ iter.parent.outer * iter.tens }}"
      - {name: sum, kind: noop, result: {sum: "{{ inner.results | sum }}"}}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: noop, result: "{{ start.results | map(attribute='sum') | list }}"}
"#,
            Value::Null,
        )
        .await;
    assert_eq!(cluster.result(&run), value!([30, 60, 90]));
}

#[tokio::test]
async fn retries_with_long_delays_inside_a_task_loop_keep_their_items() {
    let config = WorkerConfig { longest_wait: Duration::from_millis(5), ..WorkerConfig::default() };
    let probe = Probe::new({
        let calls = Arc::new(AtomicUsize::new(0));
        move |call| {
            let fails = calls.fetch_add(1, Ordering::SeqCst) == 1;
            async move {
                if fails {
                    Report::failure(ToolError::new(ErrorKind::Connection, "not yet"))
                } else {
                    Report::success(call.config.get("command").cloned().unwrap_or_default())
                }
            }
        }
    });
    let cluster = Cluster::start_with(config, Some(probe));
    let run = cluster
        .run(
            r#"
workflow:
  - step: start
    tool:
      - name: each
        kind: shell
        loop: {in: ["a", "b", "c"], iterator: word}
        command: "{{ iter.word }}"
        spec:
          policy:
            rules:
              - {when: "{{ output.status == 'error' }}", then: {do: retry, attempts: 2, backoff: fixed, delay: 0.02}}
      - {name: show, kind: noop, result: {words: "{{ each.results }}"}}
"#,
            Value::Null,
        )
        .await;
    assert_eq!(cluster.result(&run).get("words"), Some(&value!(["a", "b", "c"])));
}

#[tokio::test]
async fn child_playbooks_run_and_give_their_result_back() {
    let cluster = Cluster::start();
    let child = playbook(
        "child",
        r#"
workload: {n: 0}
workflow:
  - step: start
    tool: {kind: noop, result: {square: "{{ workload.n * workload.n }}"}}
"#,
    );
    cluster.server.register(&child).expect("the child is valid");
    let run = cluster
        .run(
            r#"
workflow:
  - step: start
    loop: {in: [2, 3], iterator: n, spec: {mode: parallel}}
    tool: {kind: playbook, path: child, input: {n: "{{ iter.n }}"}}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: noop, result: "{{ start.results | map(attribute='square') | list }}"}
"#,
            Value::Null,
        )
        .await;
    assert_eq!(cluster.result(&run), value!([4, 9]));
    assert_eq!(cluster.server.children(run.execution(), "child").len(), 2);
}

#[tokio::test]
async fn a_thousand_items_run_with_no_more_in_flight_than_allowed() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let probe = Probe::new({
        let most = most.clone();
        move |call| {
            let (now, most) = (now.clone(), most.clone());
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                Report::success(call.config.get("command").cloned().unwrap_or_default())
            }
        }
    });
    let cluster = Cluster::with_probe(probe);
    let run = cluster
        .run(
            r#"
workflow:
  - step: start
    loop: {in: "{{ range(1000) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: 7}}
    tool: {kind: shell, command: "{{ iter.n }}"}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: noop, result: {n: "{{ start.results | length }}", last: "{{ start.results[999] }}"}}
"#,
            Value::Null,
        )
        .await;
    assert_eq!(cluster.result(&run), value!({"n": 1000, "last": 999}));
    assert_eq!(most.load(Ordering::SeqCst), 7);
}

#[tokio::test]
async fn a_kind_of_tool_has_a_limit_of_its_own() {
    let most = Arc::new(AtomicUsize::new(0));
    let probe = Probe::new({
        let (now, most) = (Arc::new(AtomicUsize::new(0)), most.clone());
        move |_| {
            let (now, most) = (now.clone(), most.clone());
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                Report::success(Value::Null)
            }
        }
    });
    let config = WorkerConfig { kind_limits: [("shell".into(), 2)].into(), ..WorkerConfig::default() };
    let cluster = Cluster::start_with(config, Some(probe));
    let loops = r#"
workflow:
  - step: start
    loop: {in: "{{ range(50) | list }}", iterator: n, spec: {mode: parallel}}
    tool: {kind: shell, command: "x"}
"#;
    assert_eq!(cluster.run(loops, Value::Null).await.status, RunStatus::Completed);
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_tool_that_crashes_is_an_error_that_rules_can_handle() {
    let probe = Probe::new(|call| async move {
        assert!(call.config.get("command") != Some(&Value::text("crash")), "the canary died");
        Report::success(Value::text("alive"))
    });
    let cluster = Cluster::with_probe(probe);
    let run =
        cluster.run("workflow: [{step: start, tool: {kind: shell, command: crash}}]", Value::Null).await;
    assert_eq!(run.status, RunStatus::Failed);
    let error = run.error.expect("a failed run has an error");
    assert!(error.message.contains("the shell tool crashed: the canary died"), "{error}");

    let handled = r#"
workflow:
  - step: start
    tool:
      - name: risky
        kind: shell
        command: crash
        spec: {policy: {rules: [{when: "{{ output.error.code == 'CRASH' }}", then: {do: continue}}]}}
      - {name: next, kind: shell, command: fine}
"#;
    let run = cluster.run(handled, Value::Null).await;
    assert_eq!(run.status, RunStatus::Completed, "{:?}", run.error);
}

#[tokio::test]
async fn a_kind_that_the_worker_lacks_is_named_with_those_it_has() {
    let cluster = Cluster::start();
    let run =
        cluster.run("workflow: [{step: start, tool: {kind: duckdb, query: 'select 1'}}]", Value::Null).await;
    let error = run.error.expect("the step fails");
    assert!(error.message.contains("duckdb") && error.message.contains("noop"), "{error}");
}

#[tokio::test]
async fn templates_can_name_the_worker() {
    let config = WorkerConfig { name: "worker-7".into(), ..WorkerConfig::default() };
    let cluster = Cluster::start_with(config, None);
    let flow = r#"workflow: [{step: start, tool: {kind: noop, result: "{{ worker_id }}"}}]"#;
    let run = cluster.run(flow, Value::Null).await;
    assert_eq!(cluster.result(&run), Value::text("worker-7"));
}
