//! What stays visible of a value that is stored aside, and where such values go.

use std::sync::Arc;

use crate::{Map, Value};

/// From this size on a value goes to object storage instead of the database.
const DISK_FROM: u64 = 1024 * 1024;

/// Fields that the author selects stay visible up to this many bytes all told.
const SELECTED_LIMIT: usize = 32 * 1024;

/// A scalar of at most this many bytes stays visible without being selected.
const SCALAR_LIMIT: usize = 512;

/// Scalars that were not selected stay visible up to this many bytes all told.
const SCALARS_LIMIT: usize = 4 * 1024;

/// The storage tier of a value of this many bytes: `kv` is the database, `disk` object storage.
pub fn tier_of(bytes: u64) -> &'static str {
    if bytes < DISK_FROM { "kv" } else { "disk" }
}

/// The part of a value that can be read without loading the rest: the selected fields, then small scalars. Fields are
/// taken whole or not at all, so that what is found here never differs from what loading would give.
pub fn extract_of(value: &Value, select: &[Arc<str>]) -> Value {
    let Value::Map(fields) = value else {
        return Value::Null;
    };
    let mut visible = Map::new();
    let mut room = SELECTED_LIMIT;
    for name in select {
        if let Some(field) = fields.get(name) {
            take(&mut visible, &mut room, name, field);
        }
    }
    let mut room = SCALARS_LIMIT;
    for (name, field) in fields.iter() {
        let is_small = !matches!(field, Value::List(_) | Value::Map(_))
            && field.json_size_up_to(SCALAR_LIMIT) <= SCALAR_LIMIT;
        if is_small && !visible.contains_key(name) {
            take(&mut visible, &mut room, name, field);
        }
    }
    visible.into()
}

fn take(visible: &mut Map, room: &mut usize, name: &Arc<str>, field: &Value) {
    let size = name.len() + field.json_size_up_to(*room);
    if size <= *room {
        *room -= size;
        visible.insert(name.clone(), field.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value;

    #[test]
    fn selected_fields_and_small_scalars_stay_visible() {
        let rows: Vec<Value> = (0..50_000).map(Value::from).collect();
        let value =
            value!({"rows": 0, "meta": {"pages": 3}, "total": 9, "note": "n".repeat(600), "ok": null});
        let value = value.with_path(&["rows"], Value::from(rows));
        let select: Vec<Arc<str>> = vec!["meta".into(), "rows".into(), "missing".into()];
        assert_eq!(extract_of(&value, &select), value!({"meta": {"pages": 3}, "total": 9, "ok": null}));
        assert_eq!(extract_of(&value, &[]), value!({"total": 9, "ok": null}));
    }

    #[test]
    fn scalars_are_bounded_all_told() {
        let value = Value::map((0..1000).map(|at| (format!("key_{at}"), Value::text("x".repeat(100)))));
        let visible = extract_of(&value, &[]);
        assert!(visible.json_size_up_to(usize::MAX) < 5 * 1024, "{visible}");
        assert!(visible.as_map().is_some_and(|map| map.len() > 20));
    }

    #[test]
    fn nothing_stays_visible_of_lists_and_texts() {
        assert_eq!(extract_of(&Value::list([Value::Int(1)]), &[]), Value::Null);
        assert_eq!(extract_of(&Value::text("long"), &[]), Value::Null);
    }

    #[test]
    fn a_mebibyte_goes_to_disk() {
        assert_eq!(tier_of(1024 * 1024 - 1), "kv");
        assert_eq!(tier_of(1024 * 1024), "disk");
    }
}
