//! Puts values that are too large for their events aside.

use std::sync::Arc;

use noetl_dsl::Plan;
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
    let name: Arc<str> = body.step().cloned().unwrap_or_else(|| "run".into());
    let select =
        plan.find_step(&name).map(|index| plan.steps[index].output.select.clone()).unwrap_or_default();
    let mut rows = Vec::new();
    for slot in body.slots_mut() {
        let Slot::Inline(value) = slot else {
            continue;
        };
        if value.json_size_up_to(Slot::INLINE_LIMIT) <= Slot::INLINE_LIMIT {
            continue;
        }
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
