//! Traces of runs: what is told of them, and what becomes of those that nobody takes.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::http::Method;
use noetl_server::drive::DriveConfig;
use noetl_server::telemetry::{self, Ending, SinkError, Span, SpanSink};
use noetl_types::{ExecutionId, SpanId};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::support::{Server, request, with};
use crate::worker::{CHAIN, execution, run, start, work, work_until_over};

/// Hands on what it gets, when it is allowed to; refuses when it is told to.
#[derive(Debug)]
struct Sink {
    told: mpsc::UnboundedSender<Vec<Span>>,
    allowed: Arc<Semaphore>,
    refuses: bool,
}

impl SpanSink for Sink {
    fn send(&self, spans: Vec<Span>) -> Pin<Box<dyn Future<Output = Result<(), SinkError>> + Send + '_>> {
        Box::pin(async move {
            self.allowed.acquire().await.expect("nobody closes it").forget();
            if self.refuses {
                return Err(SinkError("no".to_owned()));
            }
            self.told.send(spans).map_err(|_| SinkError("nobody listens".to_owned()))
        })
    }
}

struct Traced {
    server: Server,
    told: mpsc::UnboundedReceiver<Vec<Span>>,
    allowed: Arc<Semaphore>,
}

const PLENTY: usize = 1_000_000;

fn traced(allowed: usize, queue: usize, refuses: bool) -> Traced {
    let server = Server::driven(DriveConfig { traces: true, ..DriveConfig::default() });
    let (tell, told) = mpsc::unbounded_channel();
    let allowed = Arc::new(Semaphore::new(allowed));
    let sink = Sink { told: tell, allowed: allowed.clone(), refuses };
    telemetry::start(server.app.clone(), Arc::new(sink), queue, CancellationToken::new());
    Traced { server, told, allowed }
}

/// The value of a metric.
async fn metric(server: &Server, name: &str) -> u64 {
    let text = server.get("/metrics").await.text;
    let line =
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    line.trim().parse().expect("a number")
}

async fn next(told: &mut mpsc::UnboundedReceiver<Vec<Span>>) -> Vec<Span> {
    told.recv().await.expect("spans come")
}

#[tokio::test]
async fn a_run_is_told_of_when_it_has_ended_with_ids_that_follow_from_it() {
    let mut traced = traced(PLENTY, 10, false);
    traced.server.register("chain", CHAIN).await;
    let id = execution(&run(&traced.server, "chain", json!({})).await);
    let spans = next(&mut traced.told).await;
    let by_name: BTreeMap<&str, &Span> = spans.iter().map(|span| (&*span.name, span)).collect();
    assert_eq!(by_name.len(), 5, "{:?}", by_name.keys());
    let whole = by_name["playbook chain"];
    assert_eq!((whole.id, whole.parent), (SpanId::of_execution(id), None));
    assert_eq!(whole.ending, Ending::Well);
    for step in ["start", "double"] {
        let visit = by_name[&*format!("step {step}")];
        assert_eq!(visit.parent, Some(whole.id));
        assert_eq!(by_name[&*format!("attempt {step}")].parent, Some(visit.id));
    }
    assert!(spans.iter().all(|span| span.trace == whole.trace && span.start <= span.end));
}

#[tokio::test]
async fn what_a_cancelled_run_was_doing_ends_with_it() {
    let mut traced = traced(PLENTY, 10, false);
    traced.server.register("chain", CHAIN).await;
    let id = start(&traced.server, "chain", json!({})).await;
    work(&traced.server, 1).await;
    traced.server.post(&format!("/api/executions/{id}/cancel"), json!({})).await.ok();
    let spans = next(&mut traced.told).await;
    let ending = |name: &str| spans.iter().find(|span| span.name == name).map(|span| span.ending.clone());
    assert_eq!(ending("step start"), Some(Ending::Well));
    for name in ["step double", "attempt double", "playbook chain"] {
        assert_eq!(ending(name), Some(Ending::Stopped), "{name}");
    }
}

#[tokio::test]
async fn the_request_says_which_trace_an_execution_belongs_to() {
    let mut traced = traced(PLENTY, 10, false);
    traced.server.register("chain", CHAIN).await;
    let execute = async |headers: &[(&str, &str)], body: serde_json::Value| {
        let request = with(request(Method::POST, "/api/execute", Some(body)), headers);
        traced.server.send(request).await.ok()["execution_id"].as_str().expect("an id").to_owned()
    };
    let of_request = "00-11111111111111111111111111111111-2222222222222222-01";
    let of_body = "00-33333333333333333333333333333333-4444444444444444-01";
    let unwanted = "00-55555555555555555555555555555555-6666666666666666-00";
    let mut told = Vec::new();
    for (headers, body) in [
        (vec![("traceparent", unwanted)], json!({"path": "chain"})),
        (vec![("traceparent", of_request), ("tracestate", "a=1")], json!({"path": "chain"})),
        (vec![("traceparent", of_request)], json!({"path": "chain", "trace": {"traceparent": of_body}})),
        (vec![("traceparent", "nonsense")], json!({"path": "chain"})),
    ] {
        let id = execute(&headers, body).await;
        work_until_over(&traced.server, &id).await;
        if headers[0].1 == unwanted {
            continue;
        }
        let spans = next(&mut traced.told).await;
        let whole = spans.last().expect("the execution comes last").clone();
        told.push((id, whole));
    }
    let seen: Vec<(String, Option<String>, Option<&str>)> = told
        .iter()
        .map(|(_, span)| {
            (span.trace.to_string(), span.parent.map(|id| id.to_string()), span.state.as_deref())
        })
        .collect();
    assert_eq!(seen[0], ("1".repeat(32), Some("2".repeat(16)), Some("a=1")));
    assert_eq!(seen[1], ("3".repeat(32), Some("4".repeat(16)), None));
    assert_eq!(seen[2].1, None, "what is no context begins a trace of its own");
}

#[tokio::test]
async fn what_hangs_from_an_execution_goes_on_in_its_trace() {
    let mut traced = traced(PLENTY, 10, false);
    traced.server.register("chain", CHAIN).await;
    let parent = run(&traced.server, "chain", json!({})).await;
    let above = next(&mut traced.told).await.pop().expect("a span");
    let body = json!({"path": "chain", "parent_execution_id": parent});
    let child = traced.server.post("/api/execute", body).await.ok()["execution_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    work_until_over(&traced.server, &child).await;
    let below = next(&mut traced.told).await.pop().expect("a span");
    assert_eq!((below.trace, below.parent), (above.trace, Some(above.id)));
    assert_eq!(above.id, SpanId::of_execution(ExecutionId(parent.parse().expect("an id"))));
}

#[tokio::test]
async fn runs_that_nobody_takes_are_counted_and_cost_the_runs_nothing() {
    let traced = traced(PLENTY, 10, true);
    traced.server.register("chain", CHAIN).await;
    for _ in 0..3 {
        run(&traced.server, "chain", json!({})).await;
    }
    let refused = r#"noetl_telemetry_executions_dropped_total{reason="refused"}"#;
    while metric(&traced.server, refused).await < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(metric(&traced.server, "noetl_telemetry_executions_exported_total").await, 0);
}

#[tokio::test]
async fn when_too_many_wait_further_ones_are_passed_over_and_counted() {
    let mut traced = traced(0, 1, false);
    traced.server.register("chain", CHAIN).await;
    let full = r#"noetl_telemetry_executions_dropped_total{reason="queue_full"}"#;
    let mut runs = 0;
    // One is on its way and one waits; what comes then has no place.
    while metric(&traced.server, full).await == 0 {
        run(&traced.server, "chain", json!({})).await;
        runs += 1;
    }
    traced.allowed.add_permits(PLENTY);
    let dropped = metric(&traced.server, full).await;
    for _ in dropped..runs {
        next(&mut traced.told).await;
    }
    assert_eq!(metric(&traced.server, full).await, dropped, "those that had a place are told of");
    assert!(metric(&traced.server, "noetl_telemetry_spans_exported_total").await > 0);
}
