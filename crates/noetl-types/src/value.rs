//! The value that playbooks compute with: JSON's types, with integers kept exact and every container shared.
//!
//! Cloning a value never copies its content, so a large result can sit in many scopes at once.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A map in document order.
pub type Map = IndexMap<Arc<str>, Value>;

/// A piece of data.
#[derive(Clone, Default)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    /// Only for integers above `i64::MAX`.
    UInt(u64),
    Float(f64),
    Text(Arc<str>),
    List(Arc<Vec<Value>>),
    Map(Arc<Map>),
}

impl Value {
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Text(text.into())
    }

    pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List(Arc::new(items.into_iter().collect()))
    }

    pub fn map<K: Into<Arc<str>>>(entries: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::Map(Arc::new(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            Value::UInt(number) => i64::try_from(*number).ok(),
            Value::Float(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => Some(*number as i64),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Int(number) => Some(*number as f64),
            Value::UInt(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&Vec<Value>> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The entry of a map; nothing for other values.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map().and_then(|map| map.get(key))
    }

    /// The name of the type as playbook authors know it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) | Value::UInt(_) | Value::Float(_) => "number",
            Value::Text(_) => "text",
            Value::List(_) => "list",
            Value::Map(_) => "map",
        }
    }

    /// Whether a condition takes this value for true. Text that reads like a false value is false.
    pub fn is_truthy(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(flag) => *flag,
            Value::Int(number) => *number != 0,
            Value::UInt(number) => *number != 0,
            Value::Float(number) => *number != 0.0,
            Value::Text(text) => !text_is_false(text),
            Value::List(items) => !items.is_empty(),
            Value::Map(map) => !map.is_empty(),
        }
    }

    /// An estimate of the length as JSON text. It stops counting above `limit`, so it is cheap for large values.
    pub fn json_size_up_to(&self, limit: usize) -> usize {
        let mut size = 0;
        self.add_json_size(limit, &mut size);
        size
    }

    fn add_json_size(&self, limit: usize, size: &mut usize) {
        if *size > limit {
            return;
        }
        match self {
            Value::Null => *size += 4,
            Value::Bool(_) => *size += 5,
            Value::Int(_) | Value::UInt(_) | Value::Float(_) => *size += 8,
            Value::Text(text) => *size += text.len() + 2,
            Value::List(items) => {
                *size += 2;
                for item in items.iter() {
                    item.add_json_size(limit, size);
                    *size += 1;
                    if *size > limit {
                        return;
                    }
                }
            }
            Value::Map(map) => {
                *size += 2;
                for (key, value) in map.iter() {
                    *size += key.len() + 4;
                    value.add_json_size(limit, size);
                    if *size > limit {
                        return;
                    }
                }
            }
        }
    }

    /// Lays `over` on top of `self`: maps merge key by key, everything else (lists and null too) replaces.
    pub fn merged_deeply(&self, over: &Value) -> Value {
        match (self, over) {
            (Value::Map(below), Value::Map(above)) => {
                let mut merged = (**below).clone();
                for (key, value) in above.iter() {
                    let value = match merged.get(key) {
                        Some(existing) => existing.merged_deeply(value),
                        None => value.clone(),
                    };
                    merged.insert(key.clone(), value);
                }
                Value::Map(Arc::new(merged))
            }
            (_, over) => over.clone(),
        }
    }

    /// Puts `value` at a path of keys, making maps on the way. What is not a map on the way is replaced.
    pub fn with_path(&self, path: &[&str], value: Value) -> Value {
        let Some((first, rest)) = path.split_first() else {
            return value;
        };
        let mut map = self.as_map().cloned().unwrap_or_default();
        let below = map.get(*first).cloned().unwrap_or_default();
        map.insert(Arc::from(*first), below.with_path(rest, value));
        Value::Map(Arc::new(map))
    }

    pub fn from_json(json: &serde_json::Value) -> Value {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(flag) => Value::Bool(*flag),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(number), _) => Value::Int(number),
                (None, Some(number)) => Value::UInt(number),
                _ => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(text) => Value::text(text.as_str()),
            serde_json::Value::Array(items) => Value::list(items.iter().map(Value::from_json)),
            serde_json::Value::Object(map) => {
                Value::map(map.iter().map(|(key, value)| (key.as_str(), Value::from_json(value))))
            }
        }
    }

    /// As JSON. Numbers that JSON cannot say (NaN, infinities) become null.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(flag) => serde_json::Value::Bool(*flag),
            Value::Int(number) => (*number).into(),
            Value::UInt(number) => (*number).into(),
            Value::Float(number) => serde_json::Number::from_f64(*number)
                .map_or(serde_json::Value::Null, serde_json::Value::Number),
            Value::Text(text) => serde_json::Value::String(text.to_string()),
            Value::List(items) => serde_json::Value::Array(items.iter().map(Value::to_json).collect()),
            Value::Map(map) => serde_json::Value::Object(
                map.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect(),
            ),
        }
    }
}

/// Text that a condition takes for false, as a rendered template would print it.
pub fn text_is_false(text: &str) -> bool {
    let text = text.trim();
    text.len() <= 5
        && ["", "false", "0", "no", "none", "null", "off", "{}", "[]"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word))
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::UInt(a), Value::UInt(b)) => a == b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => Arc::ptr_eq(a, b) || a == b,
            (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b) || a == b,
            (a, b) => match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Prints compact JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::UInt(number) => serializer.serialize_u64(*number),
            Value::Float(number) if number.is_finite() => serializer.serialize_f64(*number),
            Value::Float(_) => serializer.serialize_unit(),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items.iter() {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Value::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries.iter() {
                    map.serialize_entry(&**key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::UInt(number), Value::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::with_capacity(seq.size_hint().unwrap_or(0).min(4096));
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(Arc::new(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Map::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            entries.insert(Arc::from(key), value);
        }
        Ok(Value::Map(Arc::new(entries)))
    }
}

macro_rules! value_from {
    ($($from:ty => |$name:ident| $into:expr),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from($name: $from) -> Value {
                $into
            }
        })*
    };
}

value_from! {
    bool => |flag| Value::Bool(flag),
    i32 => |number| Value::Int(number.into()),
    i64 => |number| Value::Int(number),
    u16 => |number| Value::Int(number.into()),
    u32 => |number| Value::Int(number.into()),
    u64 => |number| i64::try_from(number).map_or(Value::UInt(number), Value::Int),
    usize => |number| Value::from(number as u64),
    f64 => |number| Value::Float(number),
    &str => |text| Value::text(text),
    String => |text| Value::text(text),
    Arc<str> => |text| Value::Text(text),
    Vec<Value> => |items| Value::List(Arc::new(items)),
    Map => |map| Value::Map(Arc::new(map)),
    serde_json::Value => |json| Value::from_json(&json),
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// Builds a [`Value`] from JSON syntax.
#[macro_export]
macro_rules! value {
    ($($json:tt)+) => { $crate::Value::from(::serde_json::json!($($json)+)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Value {
        serde_json::from_str(text).expect("valid JSON")
    }

    #[test]
    fn json_survives_a_round_trip_with_exact_integers_and_key_order() {
        let text = r#"{"z":9007199254740993,"a":[null,true,-1,2.5,"x"],"big":18446744073709551615}"#;
        assert_eq!(parse(text).to_string(), text);
        assert_eq!(Value::from_json(&parse(text).to_json()), parse(text));
    }

    #[test]
    fn deep_merge_joins_maps_and_replaces_lists_and_null() {
        let below = parse(r#"{"db":{"host":"a","port":1},"tags":[1,2],"gone":"here"}"#);
        let above = parse(r#"{"db":{"host":"b"},"tags":[3],"gone":null,"new":1}"#);
        let merged = parse(r#"{"db":{"host":"b","port":1},"tags":[3],"gone":null,"new":1}"#);
        assert_eq!(below.merged_deeply(&above), merged);
    }

    #[test]
    fn paths_build_maps_and_keep_what_is_beside_them() {
        let value = parse(r#"{"cfg":{"a":1}}"#).with_path(&["cfg", "limits", "max"], Value::Int(5));
        assert_eq!(value, parse(r#"{"cfg":{"a":1,"limits":{"max":5}}}"#));
        assert_eq!(Value::Int(3).with_path(&["x"], Value::Int(1)), parse(r#"{"x":1}"#));
    }

    #[test]
    fn text_that_reads_false_is_false() {
        for text in ["", " ", "False", "0", "NO", "none", "null", "Off", "{}", "[]"] {
            assert!(!Value::text(text).is_truthy(), "{text:?}");
        }
        for text in ["sure", "00", "falsehood", "[0]"] {
            assert!(Value::text(text).is_truthy(), "{text:?}");
        }
    }

    #[test]
    fn counting_stops_soon_above_the_limit() {
        let large = Value::list((0..100_000).map(Value::from));
        assert!(large.json_size_up_to(100) < 200);
        assert!(large.json_size_up_to(usize::MAX) > 800_000);
    }
}
