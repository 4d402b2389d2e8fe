//! Traces, as a collector gets them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::collector::{Collector, Heard};
use crate::service::Service;
use crate::support::Folder;

const PARENT: &str = "apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: parent, path: traced/parent}
workflow:
  - step: fan
    loop: {in: [1, 2, 3], iterator: n, spec: {mode: parallel}}
    tool: {kind: noop, result: \"{{ iter.n }}\"}
    next: {arcs: [{step: flaky}]}
  - step: flaky
    tool:
      kind: shell
      command: 'test -f tried || { touch tried; exit 1; }'
      spec:
        policy:
          rules:
            - when: \"{{ output.status == 'error' }}\"
              then: {do: retry, attempts: 3, delay: 0.01}
    next: {arcs: [{step: call}]}
  - step: call
    tool: {kind: http, url: \"{{ workload.service }}/hello\"}
    next: {arcs: [{step: sub}]}
  - step: sub
    tool: {kind: playbook, path: traced/child}
";

const CHILD: &str = "apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: child, path: traced/child}
workflow:
  - step: only
    tool: {kind: noop}
";

/// All spans of a trace by their ids, with the calls that were made meanwhile.
struct Trace {
    spans: BTreeMap<String, Value>,
    calls: Vec<(String, Option<String>)>,
}

impl Trace {
    /// Listens until the spans of so many executions are there. The span of an execution comes last of its own.
    fn hear(collector: &Collector, executions: usize) -> Trace {
        let mut trace = Trace { spans: BTreeMap::new(), calls: Vec::new() };
        while trace.named("playbook ").len() < executions {
            match collector.next() {
                Heard::Spans(spans) => {
                    for span in spans {
                        let id = span["spanId"].as_str().expect("an id").to_owned();
                        assert!(trace.spans.insert(id, span).is_none(), "a span comes once");
                    }
                }
                Heard::Call { path, traceparent } => trace.calls.push((path, traceparent)),
            }
        }
        trace
    }

    fn named(&self, beginning: &str) -> Vec<&Value> {
        let is_meant = |span: &&Value| span["name"].as_str().is_some_and(|name| name.starts_with(beginning));
        self.spans.values().filter(is_meant).collect()
    }

    fn one(&self, name: &str) -> &Value {
        let mut found = self.spans.values().filter(|span| span["name"] == name);
        let one =
            found.next().unwrap_or_else(|| panic!("no span is called {name}: {:?}", self.spans.values()));
        assert!(found.next().is_none(), "one span is called {name}");
        one
    }

    /// How many spans of a name hang from another.
    fn below(&self, parent: &Value, name: &str) -> Vec<&Value> {
        let named = self.named(name).into_iter();
        named.filter(|span| span["parentSpanId"] == parent["spanId"]).collect()
    }
}

#[test]
fn a_loop_a_retry_and_a_sub_playbook_arrive_whole_with_their_parents() {
    let collector = Collector::start();
    let folder = Folder::new();
    let mut command = folder.command(&["dev", "--listen", "127.0.0.1:0", "--data", "data", "--no-examples"]);
    let server = Service::start(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url));
    for content in [CHILD, PARENT] {
        let (status, answer) = server.post("/api/catalog/register", json!({ "content": content }));
        assert_eq!(status, 200, "{answer}");
    }
    let outside = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let request = json!({"path": "traced/parent", "payload": {"service": collector.url}, "trace": {"traceparent": outside}});
    let (status, started) = server.post("/api/execute", request);
    assert_eq!(status, 200, "{started}");

    let trace = Trace::hear(&collector, 2);
    assert!(trace.spans.values().all(|span| span["traceId"] == "0af7651916cd43dd8448eb211c80319c"));
    let parent = trace.one("playbook traced/parent");
    assert_eq!(parent["parentSpanId"], "b7ad6b7169203331", "it hangs from who started it");
    assert_eq!(parent["status"]["code"], 1, "{parent}");
    for span in trace.spans.values().filter(|span| *span != parent) {
        let above = span["parentSpanId"].as_str().and_then(|id| trace.spans.get(id));
        assert!(above.is_some(), "the parent of {span} is there");
    }

    let fan = trace.one("step fan");
    let items = trace.below(fan, "item fan");
    assert_eq!(items.len(), 3);
    for item in items {
        assert_eq!(trace.below(item, "attempt fan").len(), 1, "{item}");
    }

    let attempts = trace.below(trace.one("step flaky"), "attempt flaky");
    assert_eq!(attempts.len(), 1, "both tries are of one attempt of the worker");
    let tries = trace.below(attempts[0], "try ");
    let endings: Vec<&Value> = tries.iter().map(|one| &one["status"]["code"]).collect();
    assert_eq!(tries.len(), 2);
    assert!(
        endings.contains(&&json!(1)) && endings.contains(&&json!(2)),
        "one failed, one did not: {tries:?}"
    );

    let child = trace.one("playbook traced/child");
    assert_eq!(
        child["parentSpanId"],
        trace.one("step sub")["spanId"],
        "the child hangs from the step that called it"
    );
    assert_eq!(trace.below(child, "step only").len(), 1);
    for step in ["fan", "flaky", "call", "sub"] {
        assert_eq!(trace.below(parent, &format!("step {step}")).len(), 1, "{step}");
    }

    let call = trace.below(trace.one("step call"), "attempt call")[0];
    let id = call["spanId"].as_str().expect("an id");
    let expected = format!("00-0af7651916cd43dd8448eb211c80319c-{id}-01");
    assert_eq!(
        trace.calls,
        [("/hello".to_owned(), Some(expected))],
        "the service hears where the call comes from"
    );
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_worker_elsewhere_passes_the_trace_on_and_a_run_begins_one_of_its_own() {
    let collector = Collector::start();
    let folder = Folder::new();
    let mut command = folder.command(&["server", "--listen", "127.0.0.1:0", "--data", "data"]);
    let server = Service::start(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url));
    let content = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: a, path: traced/call}\nworkflow:\n  \
                   - step: call\n    tool: {kind: http, url: \"{{ workload.service }}/hello\"}\n";
    assert_eq!(server.post("/api/catalog/register", json!({ "content": content })).0, 200);
    let request = json!({"path": "traced/call", "payload": {"service": collector.url}});
    assert_eq!(server.post("/api/execute", request).0, 200);
    let mut worker = folder.command(&["worker", "--server", &server.url]).spawn().expect("a worker");
    let trace = Trace::hear(&collector, 1);
    worker.kill().expect("the process is ours");
    worker.wait().expect("the process ends");
    let run = trace.one("playbook traced/call");
    assert_eq!(run.get("parentSpanId"), None, "the trace begins with the run");
    let (of, attempt) = (run["traceId"].as_str().expect("an id"), trace.one("attempt call"));
    let expected = format!("00-{of}-{}-01", attempt["spanId"].as_str().expect("an id"));
    assert_eq!(trace.calls, [("/hello".to_owned(), Some(expected))]);
}

#[test]
fn an_address_that_is_none_is_said_in_a_sentence() {
    let folder = Folder::new();
    let mut command = folder.command(&["dev", "--listen", "127.0.0.1:0", "--data", "data"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost");
    let seen = crate::support::see(command, "");
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{}", seen.text());
    assert!(
        seen.stderr.contains("telemetry.endpoint") && seen.stderr.lines().count() == 1,
        "{}",
        seen.stderr
    );
}
