//! Reading events, snapshots and loop results back, unchanged.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_store::{EventFilter, ROUNDED_ID, Snapshot, Store};
use noetl_types::{
    Assignment, Await, CommandKey, ContextCause, ErrorKind, Event, EventBody, EventId, ExecutionId, Item,
    Kept, KeptStep, Outcome, ParentLink, PolicyDecision, Report, Resolution, RunStatus, Slot, Started,
    StepStatus, StoredValue, ToolError, Value, VisitId,
};
use serde_json::json;

use crate::given::*;

fn awkward_value() -> Value {
    Value::map([
        ("text", Value::text("ünïcode \u{0} \"quoted\" \\ \n 𝄞")),
        ("int", Value::Int(i64::MIN)),
        ("exact", Value::Int(9_007_199_254_740_993)),
        ("big", Value::UInt(u64::MAX)),
        ("whole float", Value::Float(1.0)),
        ("float", Value::Float(0.1 + 0.2)),
        ("tiny", Value::Float(5e-324)),
        ("huge", Value::Float(1.797_693_134_862_315_7e308)),
        ("picky", Value::Float(3_885.129_619_567_598_6)),
        ("list", Value::list([Value::Null, Value::Bool(true), Value::list([]), Value::map::<&str>([])])),
    ])
}

fn stored() -> Slot {
    Slot::Stored(Arc::new(StoredValue {
        uri: "noetl://execution/7/result/big/1".to_owned(),
        store: "kv".to_owned(),
        bytes: 100_000,
        sha256: Some("ab".repeat(32)),
        media_type: "application/json".to_owned(),
        extract: Value::map([("rows", Value::Int(3))]),
    }))
}

fn failure() -> ToolError {
    ToolError::new(ErrorKind::ServerError, "503 from upstream")
        .with_code("HTTP_503")
        .with_details(awkward_value())
        .as_answer()
}

/// One event of each type, with as much in it as there can be.
fn every_body() -> Vec<EventBody> {
    let command = CommandKey { visit: VisitId(2), item: Item::At(3), part: 1 };
    let step: Arc<str> = "wörk".into();
    let set = Assignment { path: "cfg.limits".into(), value: awkward_value().into() };
    let finished = Outcome::Finished {
        report: Report {
            data: awkward_value().into(),
            error: Some(failure()),
            facets: awkward_value(),
            duration_ms: 12.345,
        },
        sets: vec![set.clone(), Assignment { path: "big".into(), value: stored() }],
        attempts: 4,
        decisions: vec![PolicyDecision {
            task: "fetch".into(),
            attempt: 2,
            rule: Some(1),
            action: "retry".into(),
            at: Some(at(2)),
        }],
    };
    let signal = Await::Signal { name: "approval".into(), seconds: Some(0.5), prompt: awkward_value() };
    vec![
        EventBody::PlaybookStarted(Started {
            execution: ExecutionId(7),
            path: "flows/one".into(),
            version: 3,
            catalog_id: i64::MAX,
            workload: awkward_value(),
            payload: Some(awkward_value()),
            entry: Some("start".into()),
            also_at: vec!["wörk".into()],
            rerun_of: Some(ExecutionId(6)),
            kept: Kept::default(),
            parent: Some(ParentLink {
                execution: ExecutionId(1),
                command,
                detached: true,
                return_step: Some("end".into()),
            }),
            meta: awkward_value(),
        }),
        body(json!({
            "type": "step.enter", "step": "wörk", "visit": 2, "from": "start",
            "loop": {"items": {"list": {"inline": [1, 2.0]}}, "total": 2, "max_in_flight": 2},
        })),
        body(json!({
            "type": "step.skipped", "step": "wörk", "reason": "not_admitted", "taken": [{"arc": 2, "to": "end"}],
        })),
        EventBody::CommandIssued { command, step: step.clone(), attempt: 2, tool: "http".into() },
        EventBody::CommandStarted { command, step: step.clone(), attempt: 2, worker: "w-1".into() },
        EventBody::CallDone { command, step: step.clone(), attempt: 2, outcome: finished.clone() },
        EventBody::CallFailed { command, step: step.clone(), attempt: 2, outcome: finished },
        EventBody::CallSuspended {
            command,
            step: step.clone(),
            attempt: 2,
            pipeline: awkward_value(),
            on: signal,
            sets: vec![set.clone()],
        },
        EventBody::CallResumed {
            command,
            step: step.clone(),
            with: Resolution::Child {
                execution: ExecutionId(9),
                status: RunStatus::Failed,
                report: Report::failure(failure()),
            },
        },
        EventBody::CallIgnored { command, attempt: 1, reason: "closed".into() },
        EventBody::CommandLost { command, step: step.clone(), attempt: 2 },
        EventBody::StepKept {
            kept: KeptStep {
                step: step.clone(),
                status: StepStatus::Failed,
                result: Some(stored()),
                error: Some(failure()),
            },
            from: ExecutionId(6),
        },
        EventBody::ContextUpdated { step: step.clone(), cause: ContextCause::Arc, sets: vec![set] },
        EventBody::StepTimedOut { step: step.clone(), visit: VisitId(2), seconds: 0.25 },
        body(json!({
            "type": "step.exit", "step": "wörk", "visit": 2, "status": "failed", "taken": [{"arc": 1}],
            "result": {"stored": {"uri": "noetl://execution/7/loop/2", "store": "log", "bytes": 5}},
            "error": {"kind": "loop", "retryable": false, "message": "1 of 2 items failed"}, "handled": true,
        })),
        EventBody::ChildStarted { command, step, child: ExecutionId(9) },
        EventBody::SignalReceived { name: "approval".into(), payload: awkward_value().into() },
        EventBody::Paused { reason: "by hand".into() },
        EventBody::Resumed,
        EventBody::PlaybookCompleted { from: Some("end".into()) },
        EventBody::PlaybookFailed { error: failure(), failed_steps: vec!["a".into(), "b".into()] },
        EventBody::PlaybookCancelled { reason: "no longer needed".into() },
    ]
}

/// As JSON text, which tells whole floats from integers where `==` does not.
fn texts(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| serde_json::to_string(event).expect("events can be written as JSON")).collect()
}

pub async fn every_kind_of_event_survives_unchanged(store: Arc<dyn Store>) {
    let mut write = go_on(7, 0);
    write.events =
        every_body().into_iter().zip(1..).map(|(body, seq)| event(seq as i64, seq, body)).collect();
    commit(&*store, write.clone()).await;
    let loaded = store.load_events(ExecutionId(7), 0, 100).await.unwrap();
    assert_eq!(texts(&loaded), texts(&write.events));
}

pub async fn deeply_nested_values_survive(store: Arc<dyn Store>) {
    // As deep as JSON readers allow by themselves, before the event around it is counted.
    let nested = (0..126).fold(Value::Int(1), |value, _| Value::list([value]));
    let mut write = begin(7);
    write.events.push(event(72, 2, call_done(item(1, 0), nested.clone())));
    commit(&*store, write.clone()).await;
    assert_eq!(store.load_events(ExecutionId(7), 0, 10).await.unwrap(), write.events);
    assert_eq!(loop_values(&*store, 1, None, 10).await, [(0, nested)]);
}

pub async fn ids_and_instants_may_be_extreme(store: Arc<dyn Store>) {
    let mut write = go_on(i64::MAX, 0);
    write.events = vec![
        Event { id: EventId(i64::MIN), seq: 1, at: noetl_types::Timestamp(0), body: started(1) },
        Event { id: EventId(i64::MAX), seq: 2, at: noetl_types::Timestamp(i64::MAX), body: entered("x") },
    ];
    commit(&*store, write.clone()).await;
    assert_eq!(store.load_events(ExecutionId(i64::MAX), 0, 10).await.unwrap(), write.events);
}

async fn five_events(store: &dyn Store) {
    commit(store, begin(7)).await;
    for seq in 1..5 {
        commit(store, step(7, seq)).await;
    }
}

fn seqs(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}

pub async fn events_page_forward(store: Arc<dyn Store>) {
    five_events(&*store).await;
    let run = ExecutionId(7);
    assert_eq!(seqs(&store.load_events(run, 0, 2).await.unwrap()), [1, 2]);
    assert_eq!(seqs(&store.load_events(run, 2, 2).await.unwrap()), [3, 4]);
    assert_eq!(seqs(&store.load_events(run, 4, 2).await.unwrap()), [5]);
    assert_eq!(seqs(&store.load_events(run, 5, 2).await.unwrap()), [] as [u64; 0]);
}

pub async fn events_page_backward(store: Arc<dyn Store>) {
    five_events(&*store).await;
    let run = ExecutionId(7);
    assert_eq!(seqs(&store.load_events_back(run, u64::MAX, 2).await.unwrap()), [5, 4]);
    assert_eq!(seqs(&store.load_events_back(run, 4, 2).await.unwrap()), [3, 2]);
    assert_eq!(seqs(&store.load_events_back(run, 2, 2).await.unwrap()), [1]);
    assert_eq!(seqs(&store.load_events_back(run, 1, 2).await.unwrap()), [] as [u64; 0]);
}

pub async fn events_of_other_executions_stay_apart(store: Arc<dyn Store>) {
    commit_all(&*store, vec![begin(6), begin(7), begin(8)]).await;
    commit(&*store, step(8, 1)).await;
    assert_eq!(store.load_events(ExecutionId(7), 0, 10).await.unwrap().len(), 1);
    assert_eq!(store.load_events_back(ExecutionId(7), u64::MAX, 10).await.unwrap().len(), 1);
    assert_eq!(store.load_events(ExecutionId(404), 0, 10).await.unwrap(), []);
}

pub async fn recorded_event_ids_are_known(store: Arc<dyn Store>) {
    commit_all(&*store, vec![begin(7), begin(8)]).await;
    commit(&*store, step(7, 1)).await;
    let asked = [71, 72, 73, 81].map(EventId);
    let known = store.known_event_ids(ExecutionId(7), &asked).await.unwrap();
    assert_eq!(known, [EventId(71), EventId(72)].into());
    assert!(store.known_event_ids(ExecutionId(7), &[]).await.unwrap().is_empty());
    assert!(store.known_event_ids(ExecutionId(404), &asked).await.unwrap().is_empty());
}

pub async fn an_event_is_found_by_its_id(store: Arc<dyn Store>) {
    five_events(&*store).await;
    let found = store.find_event(ExecutionId(7), EventId(73)).await.unwrap().expect("it is recorded");
    assert_eq!(found, event(73, 3, entered("work")));
    assert_eq!(store.find_event(ExecutionId(7), EventId(79)).await.unwrap(), None);
    assert_eq!(store.find_event(ExecutionId(8), EventId(73)).await.unwrap(), None);
}

fn snapshot(seq: u64, state: &[u8]) -> Snapshot {
    Snapshot { seq, last_event: EventId(70 + seq as i64), state: state.into() }
}

pub async fn the_execution_of_an_event_is_found(store: Arc<dyn Store>) {
    commit_all(&*store, vec![begin(7), begin(8)]).await;
    assert_eq!(store.find_execution_of_event(EventId(81)).await.unwrap(), Some(ExecutionId(8)));
    assert_eq!(store.find_execution_of_event(EventId(82)).await.unwrap(), None);
}

/// An execution whose events have these ids, every third of them of another type than the others.
async fn with_events(store: &dyn Store, ids: &[i64]) {
    let mut write = begin(7);
    write.events = (1..).zip(ids).map(|(seq, id)| event(*id, seq, entered("work"))).collect();
    for event in write.events.iter_mut().step_by(3) {
        event.body = EventBody::Resumed;
    }
    commit(store, write).await;
}

async fn listed(store: &dyn Store, filter: EventFilter, limit: usize) -> Vec<u64> {
    let events = store.list_events(ExecutionId(7), &filter, limit).await.unwrap();
    events.iter().map(|event| event.seq).collect()
}

pub async fn events_are_listed_both_ways_and_by_type(store: Arc<dyn Store>) {
    with_events(&*store, &[10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000]).await;
    let all = EventFilter::default();
    assert_eq!(listed(&*store, all.clone(), 3).await, [1, 2, 3]);
    assert_eq!(listed(&*store, EventFilter { after_seq: Some(3), ..all.clone() }, 3).await, [4, 5, 6]);
    let back = EventFilter { newest_first: true, ..all.clone() };
    assert_eq!(listed(&*store, back.clone(), 3).await, [7, 6, 5]);
    assert_eq!(listed(&*store, EventFilter { before_seq: Some(5), ..back.clone() }, 3).await, [4, 3, 2]);
    let resumed = EventFilter { event_types: vec!["playbook.resumed".to_owned()], ..back };
    assert_eq!(listed(&*store, resumed.clone(), 10).await, [7, 4, 1]);
    let types = vec!["playbook.resumed".to_owned(), "step.enter".to_owned(), "step.exit".to_owned()];
    assert_eq!(listed(&*store, EventFilter { event_types: types, ..all.clone() }, 2).await, [1, 2]);
    let count = async |filter: &EventFilter| store.count_events(ExecutionId(7), filter).await.unwrap();
    assert_eq!(count(&all).await, 7);
    assert_eq!(
        count(&EventFilter { before_seq: Some(2), ..resumed }).await,
        3,
        "the page makes no difference"
    );
    assert_eq!(store.count_events(ExecutionId(8), &all).await.unwrap(), 0);
}

pub async fn events_are_listed_since_an_id_that_may_be_rounded(store: Arc<dyn Store>) {
    with_events(&*store, &[10_000, 40_000, 20_000, 30_000, 50_000]).await;
    let since = |id| EventFilter { since: Some(EventId(id)), ..EventFilter::default() };
    assert_eq!(
        listed(&*store, since(20_000), 10).await,
        [3, 4, 5],
        "it and what came later, whatever its id"
    );
    for rounded in [20_000 - ROUNDED_ID, 20_000 + ROUNDED_ID] {
        assert_eq!(listed(&*store, since(rounded), 10).await, [3, 4, 5]);
    }
    assert_eq!(listed(&*store, since(35_000), 10).await, [2, 5], "there is nothing near it");
    assert_eq!(store.count_events(ExecutionId(7), &since(20_000)).await.unwrap(), 3);
}

pub async fn a_snapshot_is_loaded_as_it_was_written(store: Arc<dyn Store>) {
    assert_eq!(store.load_snapshot(ExecutionId(7)).await.unwrap(), None);
    let mut write = begin(7);
    write.snapshot = Some(snapshot(1, &[0, 255, 128, 10]));
    commit(&*store, write).await;
    assert_eq!(store.load_snapshot(ExecutionId(7)).await.unwrap(), Some(snapshot(1, &[0, 255, 128, 10])));
}

pub async fn a_newer_snapshot_replaces_the_older(store: Arc<dyn Store>) {
    let mut write = begin(7);
    write.snapshot = Some(snapshot(1, b"{\"a\":1}"));
    commit(&*store, write).await;
    let mut write = step(7, 1);
    write.snapshot = Some(snapshot(2, b"{\"a\":2}"));
    commit(&*store, write).await;
    commit(&*store, step(7, 2)).await;
    assert_eq!(store.load_snapshot(ExecutionId(7)).await.unwrap(), Some(snapshot(2, b"{\"a\":2}")));
}

async fn commit_bodies(store: &dyn Store, expected_seq: u64, bodies: Vec<EventBody>) {
    let mut write = go_on(7, expected_seq);
    let numbered = bodies.into_iter().zip(expected_seq + 1..);
    write.events = numbered.map(|(body, seq)| event(seq as i64, seq, body)).collect();
    commit(store, write).await;
}

async fn loop_values(store: &dyn Store, visit: u32, after: Option<u32>, limit: usize) -> Vec<(u32, Value)> {
    let results = store.load_loop_results(ExecutionId(7), VisitId(visit), after, limit).await.unwrap();
    results
        .into_iter()
        .map(|result| match result.outcome {
            Outcome::Finished { report, .. } => {
                (result.index, report.data.as_inline().cloned().unwrap_or_default())
            }
            Outcome::Suspended { .. } => panic!("only finished items have results"),
        })
        .collect()
}

pub async fn loop_results_come_in_index_order(store: Arc<dyn Store>) {
    let order = [10, 2, 0, 9, 1];
    let bodies = order.iter().map(|index| call_done(item(3, *index), i64::from(*index)));
    commit_bodies(&*store, 0, std::iter::once(started(7)).chain(bodies).collect()).await;
    let expected: BTreeMap<u32, Value> = order.iter().map(|index| (*index, Value::from(*index))).collect();
    assert_eq!(loop_values(&*store, 3, None, 100).await, Vec::from_iter(expected));
}

pub async fn loop_results_page_by_index(store: Arc<dyn Store>) {
    let bodies = (0..25).rev().map(|index| call_done(item(3, index), i64::from(index)));
    commit_bodies(&*store, 0, std::iter::once(started(7)).chain(bodies).collect()).await;
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = loop_values(&*store, 3, after, 10).await;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        assert!(page.len() <= 10);
        seen.extend(page.into_iter().map(|(index, _)| index));
    }
    assert_eq!(seen, Vec::from_iter(0..25));
}

pub async fn loop_results_are_those_of_one_visit_and_execution(store: Arc<dyn Store>) {
    let claim = CommandKey { visit: VisitId(3), item: Item::Claim(0), part: 0 };
    let bodies = vec![
        started(7),
        call_done(item(2, 0), "visit 2"),
        call_done(item(3, 0), "visit 3"),
        call_done(item(4, 0), "visit 4"),
        call_done(CommandKey::whole(VisitId(3)), "no item"),
        call_done(claim, "rows"),
        EventBody::CommandStarted {
            command: item(3, 1),
            step: "work".into(),
            attempt: 1,
            worker: "w".into(),
        },
    ];
    commit_bodies(&*store, 0, bodies).await;
    let mut other = begin(8);
    other.events.push(event(2, 2, call_done(item(3, 5), "other execution")));
    commit(&*store, other).await;
    assert_eq!(loop_values(&*store, 3, None, 100).await, [(0, Value::text("visit 3"))]);
}

pub async fn failed_items_have_loop_results_too(store: Arc<dyn Store>) {
    let failed = EventBody::CallFailed {
        command: item(3, 1),
        step: "work".into(),
        attempt: 1,
        outcome: Outcome::finished(Report::failure(failure())),
    };
    commit_bodies(&*store, 0, vec![started(7), failed, call_done(item(3, 0), 1i64)]).await;
    let results = store.load_loop_results(ExecutionId(7), VisitId(3), None, 10).await.unwrap();
    assert_eq!(results.iter().map(|result| (result.index, result.seq)).collect::<Vec<_>>(), [(0, 3), (1, 2)]);
    assert!(matches!(&results[1].outcome, Outcome::Finished { report, .. } if report.is_error()));
}

pub async fn the_last_outcome_of_an_item_counts(store: Arc<dyn Store>) {
    let second_part = CommandKey { part: 1, ..item(3, 0) };
    let bodies = vec![
        started(7),
        call_done(item(3, 0), "first"),
        call_done(item(3, 1), "one"),
        call_done(second_part, "last"),
    ];
    commit_bodies(&*store, 0, bodies).await;
    let values = [(0, Value::text("last")), (1, Value::text("one"))];
    assert_eq!(loop_values(&*store, 3, None, 10).await, values);
    assert_eq!(loop_values(&*store, 3, None, 1).await, values[..1]);
    assert_eq!(loop_values(&*store, 3, Some(0), 10).await, values[1..]);
}
