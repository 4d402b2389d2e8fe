//! Executions with a long past, written straight into the store.

use std::collections::BTreeMap;

use noetl_store::{Batch, ExecutionRow, ExecutionWrite, Store};
use noetl_types::{Event, EventBody, EventId, ExecutionId, RunStatus, Slot, Started, Timestamp, Value};

use crate::support::{START, Server};

/// An execution that is over and has so many events, each with a payload of so many bytes.
pub async fn long(server: &Server, events: u64, bytes: usize) -> ExecutionId {
    let execution = ExecutionId(7);
    let body = |seq: u64| match seq {
        1 => EventBody::PlaybookStarted(Started { execution, path: "long".into(), ..Started::default() }),
        seq if seq == events => EventBody::PlaybookCompleted { from: None },
        _ => EventBody::SignalReceived {
            name: "ping".into(),
            payload: Slot::Inline(Value::text("x".repeat(bytes))),
        },
    };
    let row = ExecutionRow {
        path: "long".into(),
        catalog_id: 0,
        version: 1,
        parent: None,
        pool: "shared".into(),
        labels: BTreeMap::new(),
        started_at: START,
        status: RunStatus::Completed,
        ended_at: Some(START),
        error: None,
        result: None,
        meta: Value::Null,
    };
    let mut write = ExecutionWrite::new(execution, 0, row);
    let event = |seq: u64| Event { id: EventId(seq as i64), seq, at: Timestamp(START.0), body: body(seq) };
    write.events = (1..=events).map(event).collect();
    server.store.commit(&Batch { executions: vec![write] }).await.expect("a store");
    execution
}
