//! Values on their way into scripts and back.

use ::rhai::{Blob, Dynamic, ImmutableString};
use base64::Engine;
use noetl_types::{ErrorKind, ToolError, Value};

pub fn to_rhai(value: &Value) -> Dynamic {
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Bool(flag) => (*flag).into(),
        Value::Int(number) => (*number).into(),
        Value::UInt(number) => (*number as f64).into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) => ImmutableString::from(&**text).into(),
        Value::List(items) => items.iter().map(to_rhai).collect::<::rhai::Array>().into(),
        Value::Map(map) => {
            let entries = map.iter().map(|(key, value)| ((&**key).into(), to_rhai(value)));
            entries.collect::<::rhai::Map>().into()
        }
    }
}

/// The path names a value that has no JSON form.
pub fn from_rhai(value: &Dynamic, path: &str) -> Result<Value, ToolError> {
    if value.is_unit() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = value.as_bool() {
        return Ok(flag.into());
    }
    if let Ok(number) = value.as_int() {
        return Ok(number.into());
    }
    if let Ok(number) = value.as_float() {
        return Ok(number.into());
    }
    if let Ok(letter) = value.as_char() {
        return Ok(letter.to_string().into());
    }
    if let Ok(text) = value.as_immutable_string_ref() {
        return Ok(text.as_str().into());
    }
    if let Ok(items) = value.as_array_ref() {
        let items =
            items.iter().enumerate().map(|(index, item)| from_rhai(item, &format!("{path}[{index}]")));
        return Ok(items.collect::<Result<Vec<_>, _>>()?.into());
    }
    if let Ok(map) = value.as_map_ref() {
        let mut entries = noetl_types::Map::new();
        for (key, value) in map.iter() {
            entries.insert(key.as_str().into(), from_rhai(value, &format!("{path}.{key}"))?);
        }
        return Ok(entries.into());
    }
    if let Some(blob) = value.read_lock::<Blob>() {
        return Ok(base64::engine::general_purpose::STANDARD.encode(&*blob).into());
    }
    let message = format!("{path} is a {}, which has no JSON form", value.type_name());
    Err(ToolError::new(ErrorKind::Transform, message))
}
