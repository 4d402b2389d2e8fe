//! Large values and output.

use noetl_types::{Report, Slot, Value, value};
use noetl_worker::{LogConfig, WorkerConfig};

use crate::support::{Cluster, Probe, Server};

const LARGE: &str = r#"
workflow:
  - step: start
    tool: {kind: shell, command: make}
    output: {output_select: [meta]}
    next: {arcs: [{step: each}]}
  - step: each
    loop: {in: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], iterator: n, spec: {mode: parallel}}
    tool: {kind: shell, command: "{{ start.rows[iter.n].id }}"}
    next: {arcs: [{step: end}]}
  - step: end
    tool:
      kind: noop
      result: {ids: "{{ each.results }}", pages: "{{ start.meta.pages }}", ref: "{{ start._ref is defined }}", store: "{{ start._store }}"}
"#;

/// Makes a large value, or gives its command back.
fn maker() -> Probe {
    Probe::new(|call| async move {
        match call.config.get("command") {
            Some(Value::Text(text)) if &**text == "make" => {
                let row = |id: u32| value!({"id": id, "pad": "x".repeat(100)});
                let rows: Vec<Value> = (0..2000).map(row).collect();
                Report::success(Value::map([
                    ("meta", value!({"pages": 3})),
                    ("total", Value::Int(2000)),
                    ("rows", rows.into()),
                ]))
            }
            command => Report::success(command.cloned().unwrap_or_default()),
        }
    })
}

#[tokio::test]
async fn a_large_result_is_stored_aside_and_read_as_if_it_were_not() {
    for worker_stores in [false, true] {
        let server = Server::new(std::time::Duration::from_secs(30), worker_stores);
        let cluster = Cluster::start_on(server, WorkerConfig::default(), Some(maker()));
        let run = cluster.run(LARGE, Value::Null).await;
        let ids: Vec<u32> = (0..10).collect();
        assert_eq!(cluster.result(&run), value!({"ids": ids, "pages": 3, "ref": true, "store": "kv"}));
        assert_eq!(cluster.server.loads(), 1, "one load serves all ten items");
        let Some(Slot::Stored(stored)) = run.result_of("start") else {
            panic!("the result is stored aside");
        };
        assert_eq!(stored.extract, value!({"meta": {"pages": 3}, "total": 2000}));
        let inline = cluster.server.reports().iter().any(|report| format!("{report:?}").len() > 200_000);
        assert_eq!(inline, !worker_stores, "a worker that stores values reports a reference");
    }
}

#[tokio::test]
async fn values_are_read_even_when_none_fits_the_cache() {
    let server = Server::new(std::time::Duration::from_secs(30), true);
    let config = WorkerConfig { value_cache: 10, ..WorkerConfig::default() };
    let cluster = Cluster::start_on(server, config, Some(maker()));
    let run = cluster.run(LARGE, Value::Null).await;
    assert_eq!(cluster.result(&run).get("ids").and_then(Value::as_list).map(Vec::len), Some(10));
}

#[tokio::test]
async fn what_a_step_prints_is_kept_in_order() {
    let config =
        WorkerConfig { logs: LogConfig { chunk: 64, ..LogConfig::default() }, ..WorkerConfig::default() };
    let cluster = Cluster::start_with(config, None);
    let run = cluster
        .run(
            r#"
workflow:
  - step: start
    tool:
      kind: python
      code: |
        import sys
        for n in range(100):
            print("line", n)
        print("oops", file=sys.stderr)
        result = {"ok": True}
"#,
            Value::Null,
        )
        .await;
    assert_eq!(cluster.result(&run), value!({"ok": true}));
    let logs = cluster.shut_down().await.logs();
    let printed = |stream: noetl_tools::Stream| -> String {
        let mut chunks: Vec<_> = logs.iter().filter(|chunk| chunk.stream == stream).collect();
        chunks.sort_by_key(|chunk| chunk.chunk);
        chunks.iter().map(|chunk| chunk.text.as_str()).collect()
    };
    let expected: String = (0..100).map(|n| format!("line {n}\n")).collect();
    assert_eq!(printed(noetl_tools::Stream::Stdout), expected);
    assert_eq!(printed(noetl_tools::Stream::Stderr), "oops\n");
    assert!(logs.iter().all(|chunk| chunk.text.len() <= 64 && &*chunk.step == "start"));
}
