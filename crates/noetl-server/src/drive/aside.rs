//! Puts values that are too large for their events aside.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::Step;
use noetl_store::{ResultRef, ResultRow};
use noetl_types::{EventBody, ExecutionId, Slot, StoredValue, Timestamp, Value, extract_of, tier_of};

/// Replaces large values in an event by references. Returns what is to be stored, with the values themselves.
pub fn put_aside(
    body: &mut EventBody,
    plan: &Plan,
    execution: ExecutionId,
    now: Timestamp,
    next_id: &mut dyn FnMut() -> i64,
) -> Vec<(ResultRow, String, Value)> {
    let is_large = |slot: &Slot| match slot {
        Slot::Inline(value) => value.json_size_up_to(Slot::INLINE_LIMIT) > Slot::INLINE_LIMIT,
        Slot::Stored(_) => false,
    };
    if !body.slots_mut().into_iter().any(|slot| is_large(slot)) {
        return Vec::new();
    }
    let name: Arc<str> = body.step().cloned().unwrap_or_else(|| "run".into());
    let select = plan.find_step(&name).map_or(Vec::new(), |index| selected(&plan.steps[index]));
    let mut rows = Vec::new();
    for slot in body.slots_mut().into_iter().filter(|slot| is_large(slot)) {
        let Slot::Inline(value) = slot else {
            continue;
        };
        let content = value.to_string().into_bytes();
        let at = ResultRef { execution, name: name.clone(), id: next_id() };
        let uri = at.to_string();
        let bytes = content.len() as u64;
        let mut row = ResultRow::json(at, content, now);
        row.source_step = Some(name.clone());
        let stored = StoredValue {
            uri: uri.clone(),
            store: tier_of(bytes).to_owned(),
            bytes,
            sha256: Some(row.sha256.clone()),
            media_type: row.media_type.to_string(),
            extract: extract_of(value, &select),
        };
        let value = std::mem::take(value);
        *slot = Slot::Stored(Arc::new(stored));
        rows.push((row, uri, value));
    }
    rows
}

/// The fields that the step, or the task whose result is on top, wants to stay visible; the same as workers take when they
/// store a value themselves.
fn selected(step: &Step) -> Vec<Arc<str>> {
    let task = step.tasks.last().into_iter().flat_map(|task| &task.output.select);
    step.output.select.iter().chain(task).cloned().collect()
}
