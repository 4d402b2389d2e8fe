//! Tells workers elsewhere of a command: the message that a bus carries, written with the command itself.

use noetl_store::{CommandRow, OutboxRow};
use noetl_types::{ExecutionId, Item, Map, Value};

/// The message about a command. Its subject is made for subscribing by pool.
pub fn announcement(
    execution: ExecutionId,
    command: &CommandRow,
    server_url: &str,
    trace: Option<Value>,
) -> OutboxRow {
    let mut payload = Map::new();
    payload.insert("execution_id".into(), Value::Int(execution.0));
    payload.insert("event_id".into(), Value::Int(command.event.0));
    payload.insert("command_id".into(), Value::text(command_id(execution, command)));
    payload.insert("step".into(), Value::Text(command.step.clone()));
    payload.insert("server_url".into(), Value::text(server_url));
    payload.insert("execution_pool".into(), Value::Text(command.pool.clone()));
    if let Some(trace) = trace {
        payload.insert("trace".into(), trace);
    }
    OutboxRow {
        event: command.event,
        subject: format!("noetl.commands.{}.{execution}", command.pool).into(),
        payload: payload.into(),
        available_at: command.issued_at,
    }
}

/// How workers name a command: by execution, step and event, and the item of a loop.
fn command_id(execution: ExecutionId, command: &CommandRow) -> String {
    let id = format!("{execution}:{}:{}", command.step, command.event);
    match command.key.item {
        Item::At(index) => format!("{id}:i{index}"),
        Item::Whole | Item::Claim(_) => id,
    }
}
