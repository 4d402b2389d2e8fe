//! The value of a step, put together from what its tasks came to.

use noetl_dsl::plan::{Step, Task};
use noetl_types::{Map, Report, Slot, Value};

use super::state::PipelineState;

/// What is kept of a task: its data, or a note of the error when there is none.
pub fn kept(report: &Report) -> Value {
    match (&report.data, &report.error) {
        (Slot::Inline(Value::Null), Some(error)) => {
            Value::map([("status", Value::from("error")), ("error", error.to_value())])
        }
        (Slot::Inline(value), _) => value.clone(),
        (Slot::Stored(stored), _) => {
            let mut map = stored.extract.as_map().cloned().unwrap_or_default();
            map.insert("_ref".into(), stored.uri.as_str().into());
            map.insert("_store".into(), stored.store.as_str().into());
            map.into()
        }
    }
}

/// The result of a step: a single tool's own, or all tasks by label with the fields of the last one on top.
pub fn result(step: &Step, state: &PipelineState) -> Value {
    if step.single {
        return state.results.last().map(|(_, value)| value.clone()).unwrap_or_default();
    }
    let labelled: Map = state.results.iter().map(|(label, value)| (label.clone(), value.clone())).collect();
    let mut map = labelled.clone();
    map.insert("results".into(), labelled.into());
    if let Some((_, Value::Map(last))) = state.results.last() {
        for (key, value) in last.iter() {
            map.insert(key.clone(), value.clone());
        }
    }
    map.into()
}

/// The data of a step that failed: what a single tool gave, or what the tasks before the failed one did.
pub fn failed(step: &Step, state: &PipelineState, report: &Report, task: &Task) -> Value {
    if step.single {
        return match &report.data {
            Slot::Inline(value) => value.clone(),
            Slot::Stored(_) => kept(report),
        };
    }
    let mut map = result(step, state).as_map().cloned().unwrap_or_default();
    map.insert("failed_task".into(), Value::Text(task.label.clone()));
    map.into()
}

/// The rows of a claim as `{rows, row_count}`, whatever the tool calls them.
pub fn claimed(data: &Value) -> Value {
    let rows = match data {
        Value::List(_) => data.clone(),
        _ => ["rows", "data", "result", "messages"]
            .iter()
            .find_map(|key| data.get(key).filter(|rows| rows.as_list().is_some()))
            .cloned()
            .unwrap_or_else(|| Value::list([])),
    };
    let count = rows.as_list().map_or(0, |rows| rows.len());
    Value::map([("rows", rows), ("row_count", Value::from(count))])
}
