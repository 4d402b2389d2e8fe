//! The body of a request, in all the forms that playbooks write it.

use noetl_types::{Map, ToolError, Value};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderValue};

use super::Outgoing;
use crate::Fields;
use crate::fields::scalar_text;

pub enum Body {
    Json(Value),
    Form(Vec<(String, String)>),
    Text(String),
}

impl Body {
    /// The body, and query parameters that came along with it under `data`.
    pub fn read(fields: Fields<'_>, method: &Method) -> Result<(Option<Body>, Option<Value>), ToolError> {
        if let Some(json) = fields.value("json") {
            return Ok((Some(Body::Json(json.clone())), None));
        }
        if let Some(form) = fields.map("form")? {
            return Ok((Some(Body::Form(pairs(form))), None));
        }
        if let Some(body) = fields.value("body") {
            return Ok((Some(Body::text_or_json(body)), None));
        }
        if let Some(payload) = fields.value("payload") {
            return Ok((Some(Body::Json(payload.clone())), None));
        }
        let Some(data) = fields.value("data") else {
            return Ok((None, None));
        };
        let is_split = data.as_map().is_some_and(|map| {
            !map.is_empty() && map.keys().all(|key| matches!(&**key, "query" | "params" | "body"))
        });
        if is_split {
            let body = data.get("body").filter(|body| !body.is_null()).map(Body::text_or_json);
            return Ok((body, data.get("query").or_else(|| data.get("params")).cloned()));
        }
        let has_no_body = matches!(*method, Method::GET | Method::HEAD);
        match data {
            Value::Map(_) if has_no_body => Ok((None, Some(data.clone()))),
            _ => Ok((Some(Body::text_or_json(data)), None)),
        }
    }

    fn text_or_json(value: &Value) -> Body {
        match value {
            Value::Text(text) => Body::Text(text.to_string()),
            other => Body::Json(other.clone()),
        }
    }

    /// Sets the body, and its content type unless the step has set one.
    pub fn put_into(&self, outgoing: &mut Outgoing) {
        let (body, content_type) = match self {
            Body::Json(value) => {
                let body = serde_json::to_vec(value).expect("a value is plain data");
                (body, Some("application/json"))
            }
            Body::Form(pairs) => {
                let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
                (form.into_bytes(), Some("application/x-www-form-urlencoded"))
            }
            Body::Text(text) => (text.clone().into_bytes(), None),
        };
        outgoing.body = Some(body.into());
        if let Some(content_type) = content_type {
            outgoing.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(content_type));
        }
    }
}

/// The entries as text: null is left out, a list repeats its key, and a map is written as JSON.
pub fn pairs(map: &Map) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for (key, value) in map {
        let values = match value {
            Value::List(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        for value in values.iter().filter(|value| !value.is_null()) {
            pairs.push((key.to_string(), scalar_text(value).unwrap_or_else(|| value.to_string())));
        }
    }
    pairs
}
