//! Keeps answers bounded: values are shown whole while there is room for them.

use noetl_types::{Map, Slot, Value, extract_of};

/// Values of an answer take this many bytes together.
pub const USUAL: usize = 4 << 20;

/// As much, when stored values are asked for.
pub const RESOLVED: usize = 32 << 20;

/// What is left for values.
#[derive(Debug)]
pub struct Room {
    left: usize,
    /// What there is no room for is left out altogether.
    is_closed: bool,
}

impl Room {
    pub fn new(resolve: bool) -> Room {
        Room { left: if resolve { RESOLVED } else { USUAL }, is_closed: false }
    }

    /// For answers without values.
    pub fn none() -> Room {
        Room { left: 0, is_closed: true }
    }

    /// The whole value if there is room, else its small fields with its size.
    pub fn value(&mut self, value: &Value) -> Value {
        if self.is_closed {
            return Value::Null;
        }
        let size = value.json_size_up_to(self.left);
        match self.left.checked_sub(size) {
            Some(left) => {
                self.left = left;
                value.clone()
            }
            None => {
                let mut fields = small_fields(&extract_of(value, &[]));
                fields.insert("_truncated".into(), true.into());
                fields.into()
            }
        }
    }

    pub fn slot(&mut self, slot: &Slot) -> Value {
        match slot {
            _ if self.is_closed => Value::Null,
            Slot::Inline(value) => self.value(value),
            Slot::Stored(stored) => {
                let mut fields = small_fields(&stored.extract);
                fields.insert("_ref".into(), stored.uri.as_str().into());
                fields.insert("_store".into(), stored.store.as_str().into());
                fields.insert("_bytes".into(), stored.bytes.into());
                fields.into()
            }
        }
    }
}

fn small_fields(value: &Value) -> Map {
    value.as_map().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_the_room_are_reduced_to_their_small_fields() {
        let mut room = Room { left: 100, is_closed: false };
        let small = Value::map([("n", Value::from(1))]);
        assert_eq!(room.value(&small), small);
        let large = Value::map([("n", Value::from(2)), ("text", Value::text("x".repeat(1000)))]);
        let reduced = Value::map([("n", Value::from(2)), ("_truncated", Value::from(true))]);
        assert_eq!(room.value(&large), reduced);
        assert_eq!(room.value(&small), small);
    }

    #[test]
    fn answers_without_values_have_none() {
        let value = Value::map([("n", Value::from(1))]);
        assert_eq!(Room::none().value(&value), Value::Null);
        assert_eq!(Room::none().slot(&Slot::Inline(value)), Value::Null);
    }
}
