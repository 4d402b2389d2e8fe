//! Filters that change how data is written: JSON and Base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minijinja::Error;
use minijinja::value::Value as Jinja;
use noetl_types::Value;

use super::{Call, Filter};
use crate::limits;
use crate::object::{from_jinja, to_jinja};
use crate::operators::failed;
use crate::print::{indented_json, json, text_of};

pub(super) const FILTERS: &[Filter] = &[
    ("b64decode", 0, b64decode),
    ("b64encode", 0, |call| {
        let text = text_of(call.input)?;
        limits::spend_text(text.len() / 3 * 4 + 4)?;
        Ok(Jinja::from(STANDARD.encode(text.as_bytes())))
    }),
    ("fromjson", 0, fromjson),
    ("tojson", 1, tojson),
];

fn b64decode(call: &Call) -> Result<Jinja, Error> {
    let encoded = text_of(call.input)?;
    let bytes =
        STANDARD.decode(encoded.trim()).map_err(|error| failed(format!("this is not Base64: {error}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Jinja::from(text)),
        Err(_) => Err(failed("the decoded bytes are not text in UTF-8")),
    }
}

fn tojson(call: &Call) -> Result<Jinja, Error> {
    let value = from_jinja(call.input)?;
    let Some(indent) = call.optional(0, "indent")? else {
        return json(&value).map(Jinja::from);
    };
    let width = match indent.as_usize() {
        Some(width) if indent.is_integer() => width.min(64),
        _ if indent.is_true() => 2,
        _ => return json(&value).map(Jinja::from),
    };
    indented_json(&value, " ".repeat(width).as_bytes()).map(Jinja::from)
}

fn fromjson(call: &Call) -> Result<Jinja, Error> {
    let Some(text) = call.input.as_str() else {
        // What is data already stays as it is, so that a result which is sometimes parsed can always be filtered.
        return Ok(call.input.clone());
    };
    // What is parsed can need much more memory than its text.
    limits::spend_work(text.len())?;
    match serde_json::from_str::<Value>(text) {
        Ok(value) => Ok(to_jinja(&value)),
        Err(error) => Err(failed(format!("this is not JSON: {error}"))),
    }
}
