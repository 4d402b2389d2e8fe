//! A value where it is, or a note of where it is kept.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Value;

/// A value held inline when it is small, or stored aside and referenced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    Inline(Value),
    Stored(Arc<StoredValue>),
}

impl Slot {
    /// Values up to this many bytes of JSON stay inline.
    pub const INLINE_LIMIT: usize = 64 * 1024;

    pub fn as_inline(&self) -> Option<&Value> {
        match self {
            Slot::Inline(value) => Some(value),
            Slot::Stored(_) => None,
        }
    }
}

impl Default for Slot {
    fn default() -> Slot {
        Slot::Inline(Value::Null)
    }
}

impl From<Value> for Slot {
    fn from(value: Value) -> Slot {
        Slot::Inline(value)
    }
}

/// What is known of a value that is stored aside. Its content never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredValue {
    /// `noetl://execution/<execution>/result/<name>/<id>`, or `noetl://execution/<execution>/loop/<visit>` for the
    /// results of a loop that are put together from its items.
    pub uri: String,
    /// The tier: `kv` for the database, `disk` for object storage, `log` for loop results.
    pub store: String,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    #[serde(default = "json_media_type")]
    pub media_type: String,
    /// Small fields that can be read without loading the rest.
    #[serde(default)]
    pub extract: Value,
}

fn json_media_type() -> String {
    "application/json".to_owned()
}
