//! What the behaviours start from: small rows and writes with plausible content.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use noetl_store::{
    Batch, CommandClose, CommandRow, CommandStatus, ExecutionRow, ExecutionWrite, Lease, NewCatalogEntry,
    OutboxRow, ResultRef, ResultRow, Store, TimerRow,
};
use noetl_types::{
    CommandKey, Event, EventBody, EventId, ExecutionId, Item, Outcome, Report, RunStatus, Started, TimerKey,
    Timestamp, Value, VisitId,
};

/// An instant, in seconds after the beginning of the behaviour.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp(1_790_000_000_000_000 + seconds * 1_000_000)
}

pub fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub fn row(path: &str) -> ExecutionRow {
    ExecutionRow {
        path: path.into(),
        catalog_id: 0,
        version: 1,
        parent: None,
        pool: "shared".into(),
        labels: BTreeMap::new(),
        started_at: at(0),
        status: RunStatus::Running,
        ended_at: None,
        error: None,
        result: None,
        meta: Value::Null,
    }
}

pub fn event(id: i64, seq: u64, body: EventBody) -> Event {
    Event { id: EventId(id), seq, at: at(seq as i64), body }
}

pub fn started(execution: i64) -> EventBody {
    EventBody::PlaybookStarted(Started {
        execution: ExecutionId(execution),
        path: "flows/one".into(),
        ..Started::default()
    })
}

pub fn entered(step: &str) -> EventBody {
    body(serde_json::json!({"type": "step.enter", "step": step, "visit": 1}))
}

/// A body from its stored form, with the defaults of what is left out.
pub fn body(json: serde_json::Value) -> EventBody {
    serde_json::from_value(json).expect("it has the form of an event")
}

pub fn item(visit: u32, index: u32) -> CommandKey {
    CommandKey { visit: VisitId(visit), item: Item::At(index), part: 0 }
}

pub fn call_done(command: CommandKey, data: impl Into<Value>) -> EventBody {
    let outcome = Outcome::finished(Report::success(data.into()));
    EventBody::CallDone { command, step: "work".into(), attempt: 1, outcome }
}

/// The first write of an execution with one event, whose id is ten times the execution's plus one.
pub fn begin(execution: i64) -> ExecutionWrite {
    begin_at(execution, row("flows/one"))
}

pub fn begin_at(execution: i64, row: ExecutionRow) -> ExecutionWrite {
    let mut write = ExecutionWrite::new(ExecutionId(execution), 0, row);
    write.events = vec![event(execution * 10 + 1, 1, started(execution))];
    write
}

/// A later write without events.
pub fn go_on(execution: i64, expected_seq: u64) -> ExecutionWrite {
    ExecutionWrite::new(ExecutionId(execution), expected_seq, row("flows/one"))
}

/// A later write with one event, whose id is ten times the execution's plus the seq.
pub fn step(execution: i64, expected_seq: u64) -> ExecutionWrite {
    let mut write = go_on(execution, expected_seq);
    let seq = expected_seq + 1;
    write.events = vec![event(execution * 10 + seq as i64, seq, entered("work"))];
    write
}

pub fn command(visit: u32, event: i64) -> CommandRow {
    CommandRow {
        key: CommandKey::whole(VisitId(visit)),
        attempt: 1,
        event: EventId(event),
        step: "work".into(),
        tool: "python".into(),
        pool: "shared".into(),
        priority: 0,
        issued_at: at(0),
        lease: None,
        body: Arc::from(&b"{\"work\":1}"[..]),
    }
}

pub fn close(command: &CommandRow, status: CommandStatus) -> CommandClose {
    CommandClose { key: command.key, attempt: command.attempt, status, at: at(50) }
}

pub fn lease(worker: &str, until: i64) -> Lease {
    Lease { worker: worker.into(), until: at(until) }
}

/// The timeout of a visit.
pub fn timer(visit: u32, due: i64) -> TimerRow {
    TimerRow { key: TimerKey::Step(VisitId(visit)), due: at(due) }
}

pub fn message(event: i64) -> OutboxRow {
    OutboxRow {
        event: EventId(event),
        subject: "noetl.commands.shared".into(),
        payload: Value::map([("event_id", Value::Int(event))]),
        available_at: at(0),
    }
}

pub fn result(execution: i64, id: i64, content: &str) -> ResultRow {
    let reference = ResultRef { execution: ExecutionId(execution), name: "big".into(), id };
    ResultRow::json(reference, content.as_bytes(), at(0))
}

pub fn playbook(id: i64, path: &str) -> NewCatalogEntry {
    NewCatalogEntry {
        id,
        path: path.into(),
        kind: "playbook".into(),
        content: format!("kind: Playbook # {id}").into(),
        layout: Value::list([]),
        payload: Value::map([("n", Value::Int(id))]),
        meta: Value::Null,
        created_at: at(id),
    }
}

/// Commits one write that is not lost.
pub async fn commit(store: &dyn Store, write: ExecutionWrite) {
    commit_all(store, vec![write]).await;
}

/// Commits writes of which none is lost.
pub async fn commit_all(store: &dyn Store, executions: Vec<ExecutionWrite>) {
    let committed = store.commit(&Batch { executions }).await.expect("the commit succeeds");
    assert_eq!(committed.lost, [], "nothing is lost");
}
