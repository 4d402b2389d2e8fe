//! The ledger refuses what must not happen. Each test breaks one rule in a short log.

use std::sync::Arc;

use noetl_dsl::{Options, check};
use noetl_types::{
    CommandKey, Event, EventBody, EventId, ExecutionId, Item, LoopEntry, LoopItems, Outcome, Report, Started,
    StepStatus, TakenArc, Timestamp, Value, VisitId,
};

use super::Ledger;
use crate::tally::Tally;

const FAN: &str = "
workflow:
- step: start
  next: {spec: {mode: inclusive}, arcs: [{step: a}, {step: b}]}
- {step: a, tool: {kind: python, code: x}, next: {arcs: [{step: join}]}}
- {step: b, tool: {kind: python, code: x}, next: {arcs: [{step: join}]}}
- {step: join, tool: {kind: python, code: x}}
";

const LOOP: &str = "
workflow:
- step: start
  loop: {in: [1, 2, 3], iterator: n, spec: {mode: parallel, max_in_flight: 2}}
  tool: {kind: python, code: x}
";

/// Folds the events, and gives what is said against the first that must not be there.
fn refusal(workflow: &str, bodies: Vec<EventBody>) -> Option<String> {
    let source = format!("apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: test}}\n{workflow}");
    let plan = check(&source, &Options::default()).plan.expect("the playbook is accepted");
    let mut ledger = Ledger::new(plan);
    let begin = EventBody::PlaybookStarted(Started { execution: ExecutionId(1), ..Started::default() });
    let load = |_: &noetl_types::StoredValue| Err("nothing is stored aside".to_owned());
    for (at, body) in std::iter::once(begin).chain(bodies).enumerate() {
        let event = Event { id: EventId(at as i64), seq: at as u64 + 1, at: Timestamp::default(), body };
        if let Err(refusal) = ledger.record(&event, &load, &mut Tally::default()) {
            return Some(refusal);
        }
    }
    None
}

fn enter(step: &str, visit: u32) -> EventBody {
    EventBody::StepEntered {
        step: step.into(),
        visit: VisitId(visit),
        from: None,
        looping: None,
        is_final: false,
        deadline: None,
    }
}

fn enter_loop() -> EventBody {
    let items = LoopItems::List(Value::list([1, 2, 3].map(Value::from)).into());
    let entry = LoopEntry { items, total: Some(3), max_in_flight: 2, failures_allowed: None, cursor: None };
    match enter("start", 1) {
        EventBody::StepEntered { step, visit, from, is_final, deadline, .. } => {
            EventBody::StepEntered { step, visit, from, looping: Some(entry), is_final, deadline }
        }
        other => other,
    }
}

fn command(visit: u32, item: Item) -> CommandKey {
    CommandKey { visit: VisitId(visit), item, part: 0 }
}

fn issue(step: &str, command: CommandKey) -> EventBody {
    EventBody::CommandIssued { command, step: step.into(), attempt: 1, tool: "python".into() }
}

fn done(step: &str, command: CommandKey, attempt: u16) -> EventBody {
    let outcome = Outcome::finished(Report::default());
    EventBody::CallDone { command, step: step.into(), attempt, outcome }
}

fn exit(step: &str, visit: u32, to: &[&str]) -> EventBody {
    let taken = to.iter().enumerate().map(|(arc, &to)| TakenArc { arc: arc as u32, to: Some(Arc::from(to)) });
    EventBody::StepExited {
        step: step.into(),
        visit: VisitId(visit),
        status: StepStatus::Completed,
        taken: taken.collect(),
        result: None,
        error: None,
        handled: false,
    }
}

/// `start` has run, `a` is done, `b` is under way.
fn one_branch_done() -> Vec<EventBody> {
    let (start, a, b) = (command(1, Item::Whole), command(2, Item::Whole), command(3, Item::Whole));
    vec![
        enter("start", 1),
        done("start", start, 0),
        exit("start", 1, &["a", "b"]),
        enter("a", 2),
        issue("a", a),
        enter("b", 3),
        issue("b", b),
        done("a", a, 1),
        exit("a", 2, &["join"]),
    ]
}

fn refused(workflow: &str, mut events: Vec<EventBody>, last: EventBody, expected: &str) {
    assert_eq!(refusal(workflow, events.clone()), None, "all but the last event are in order");
    events.push(last);
    let refusal = refusal(workflow, events).unwrap_or_default();
    assert!(refusal.contains(expected), "{refusal:?} does not say {expected:?}");
}

#[test]
fn a_join_is_not_entered_while_a_branch_is_live() {
    refused(FAN, one_branch_done(), enter("join", 4), "while 'b' is live and can reach it");
}

#[test]
fn a_step_is_not_entered_without_an_arc_that_led_to_it() {
    refused(FAN, one_branch_done(), enter("a", 4), "no arc led to it");
}

#[test]
fn an_outcome_is_not_applied_twice() {
    let mut events = one_branch_done();
    events.push(done("b", command(3, Item::Whole), 1));
    refused(FAN, events, done("b", command(3, Item::Whole), 1), "applied twice");
}

#[test]
fn an_attempt_that_was_never_issued_has_no_outcome() {
    refused(FAN, one_branch_done(), done("b", command(3, Item::Whole), 2), "not under way");
}

#[test]
fn arcs_fire_as_their_router_says() {
    let mut events = one_branch_done();
    events.push(done("b", command(3, Item::Whole), 1));
    refused(FAN, events, exit("b", 3, &[]), "arcs [] of 'b' fire, and [0] should");
}

#[test]
fn a_run_does_not_end_while_a_step_is_under_way() {
    refused(FAN, one_branch_done(), EventBody::PlaybookCompleted { from: None }, "while 'b' is under way");
}

#[test]
fn nothing_happens_after_the_end() {
    let mut events = one_branch_done();
    events.push(EventBody::PlaybookCancelled { reason: "enough".into() });
    refused(FAN, events, done("b", command(3, Item::Whole), 1), "after the end");
}

#[test]
fn nothing_begins_in_a_paused_run() {
    let events = vec![EventBody::Paused { reason: "asked for".into() }];
    refused(FAN, events, enter("start", 1), "paused");
}

#[test]
fn no_more_items_are_under_way_than_may_be() {
    let item = |at| issue("start", command(1, Item::At(at)));
    refused(LOOP, vec![enter_loop(), item(0), item(1)], item(2), "3 items are under way, and 2 may be");
}

#[test]
fn items_are_issued_in_order() {
    refused(LOOP, vec![enter_loop()], issue("start", command(1, Item::At(1))), "it is the turn of 0");
}
