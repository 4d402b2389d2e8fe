//! How values look inside text.
//!
//! Text is printed as it is and numbers as in JSON. Booleans print as `true` and `false`. Lists and maps print as compact JSON.
//! Undefined and null print nothing, so that optional data leaves a gap and not a word.

use std::borrow::Cow;
use std::io;

use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{Error, ErrorKind};
use noetl_types::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use crate::limits;
use crate::object::{forced, from_jinja, is_lazy};

/// The value as text.
pub(crate) fn text_of(value: &Jinja) -> Result<Cow<'_, str>, Error> {
    match value.kind() {
        ValueKind::String => Ok(Cow::Borrowed(value.as_str().unwrap_or_default())),
        ValueKind::Undefined | ValueKind::None => Ok(Cow::Borrowed("")),
        ValueKind::Bool => Ok(Cow::Borrowed(if value.is_true() { "true" } else { "false" })),
        _ if is_lazy(value) => Ok(Cow::Owned(text_of(&forced(value))?.into_owned())),
        _ => text_of_value(&from_jinja(value)?).map(|text| Cow::Owned(text.into_owned())),
    }
}

/// The same for our own values.
pub(crate) fn text_of_value(value: &Value) -> Result<Cow<'_, str>, Error> {
    match value {
        Value::Null => Ok(Cow::Borrowed("")),
        Value::Bool(flag) => Ok(Cow::Borrowed(if *flag { "true" } else { "false" })),
        Value::Int(number) => Ok(Cow::Owned(number.to_string())),
        Value::UInt(number) => Ok(Cow::Owned(number.to_string())),
        Value::Text(text) => Ok(Cow::Borrowed(text)),
        Value::Float(number) if !number.is_finite() => Ok(Cow::Owned(number.to_string())),
        value => json(value).map(Cow::Owned),
    }
}

/// Compact JSON.
pub(crate) fn json(value: &Value) -> Result<String, Error> {
    json_with(value, CompactFormatter)
}

/// JSON over several lines.
pub(crate) fn indented_json(value: &Value, indent: &[u8]) -> Result<String, Error> {
    json_with(value, PrettyFormatter::with_indent(indent))
}

fn json_with(value: &Value, formatter: impl Formatter) -> Result<String, Error> {
    let mut out = BoundedText::default();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    serde::Serialize::serialize(value, &mut serializer).map_err(|error| {
        if error.is_io() {
            return limits::exceeded(format!("it makes a text longer than {} MiB", limits::TEXT >> 20));
        }
        Error::new(ErrorKind::BadSerialization, error.to_string())
    })?;
    limits::spend_text(out.bytes.len())?;
    Ok(String::from_utf8(out.bytes).expect("JSON is UTF-8"))
}

/// Collects output up to the limit on text, because shared data can print far larger than it is.
#[derive(Default)]
struct BoundedText {
    bytes: Vec<u8>,
}

impl io::Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > limits::TEXT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
