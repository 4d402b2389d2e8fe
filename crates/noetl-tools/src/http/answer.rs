//! What came back, and how it is presented.

use std::time::Duration;

use base64::Engine;
use bytes::Bytes;
use noetl_types::{ErrorKind, Map, Report, ToolError, Value};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{StatusCode, Url};

use super::failure;
use crate::{Fields, Secrets};

/// How to read the body of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseType {
    /// By its content type.
    Auto,
    Json,
    Text,
    Binary,
}

impl ResponseType {
    pub fn read(fields: Fields<'_>) -> Result<ResponseType, ToolError> {
        match fields.text("response_type")?.unwrap_or_default().to_ascii_lowercase().as_str() {
            "" | "auto" => Ok(ResponseType::Auto),
            "json" => Ok(ResponseType::Json),
            "text" => Ok(ResponseType::Text),
            "binary" | "bytes" => Ok(ResponseType::Binary),
            _ => Err(fields.fault("`response_type` must be json, text, binary or auto".to_owned())),
        }
    }
}

/// A complete answer.
pub struct Answer {
    pub status: StatusCode,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub elapsed: Duration,
}

/// The body as a value, and whether it had to be put into base64.
struct Content {
    value: Value,
    is_base64: bool,
}

impl Answer {
    /// The report of a step. An answer outside 2xx is an error, with the data all the same.
    pub fn into_report(
        self,
        target: &str,
        response_type: ResponseType,
        follow_redirects: bool,
        secrets: &Secrets,
    ) -> Result<Report, ToolError> {
        let wanted_redirect = self.status.is_redirection() && !follow_redirects;
        let error = failure::of_status(&self, target).filter(|_| !wanted_redirect);
        let content = match self.content(response_type) {
            Ok(content) => content,
            // The body of an error need not have the form of a good answer.
            Err(_) if error.is_some() => Content { value: self.text().into(), is_base64: false },
            Err(reason) => return Err(unreadable(target, &reason)),
        };
        let headers = self.headers_value();
        let mut data = Map::new();
        data.insert("status".into(), if error.is_some() { "error" } else { "success" }.into());
        data.insert("status_code".into(), self.status.as_u16().into());
        data.insert("headers".into(), headers.clone());
        data.insert("data".into(), content.value.clone());
        data.insert("body".into(), content.value);
        if content.is_base64 {
            data.insert("encoding".into(), "base64".into());
        }
        data.insert("url".into(), secrets.redact(self.url.as_str()).as_ref().into());
        data.insert("elapsed".into(), self.elapsed.as_secs_f64().into());
        let http = Value::map([("status", Value::from(self.status.as_u16())), ("headers", headers)]);
        Ok(Report {
            data: Value::from(data).into(),
            error,
            facets: Value::map([("http", http)]),
            ..Report::default()
        })
    }

    /// The body as text, in the character set that the answer names.
    pub fn text(&self) -> String {
        let named = self.content_type().and_then(|content_type| {
            let (_, after) = content_type.split_once("charset=")?;
            encoding_rs::Encoding::for_label(after.split(';').next()?.trim_matches(['"', ' ']).as_bytes())
        });
        named.unwrap_or(encoding_rs::UTF_8).decode(&self.body).0.into_owned()
    }

    fn content(&self, response_type: ResponseType) -> Result<Content, serde_json::Error> {
        let plain = |value| Content { value, is_base64: false };
        match response_type {
            ResponseType::Json => self.json().map(plain),
            ResponseType::Text => Ok(plain(self.text().into())),
            ResponseType::Binary => Ok(self.base64()),
            ResponseType::Auto => Ok(match self.family() {
                // What calls itself JSON and is not is shown as the text that it is.
                Family::Json => self.json().map_or_else(|_| plain(self.text().into()), plain),
                Family::Text => plain(self.text().into()),
                Family::Other if self.body.is_empty() => plain(Value::Null),
                Family::Other if self.content_type().is_none() && std::str::from_utf8(&self.body).is_ok() => {
                    plain(self.text().into())
                }
                Family::Other => self.base64(),
            }),
        }
    }

    fn json(&self) -> Result<Value, serde_json::Error> {
        if self.body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&self.body)
    }

    fn base64(&self) -> Content {
        let text = base64::engine::general_purpose::STANDARD.encode(&self.body);
        Content { value: text.into(), is_base64: true }
    }

    fn content_type(&self) -> Option<String> {
        Some(self.headers.get(CONTENT_TYPE)?.to_str().ok()?.to_ascii_lowercase())
    }

    fn family(&self) -> Family {
        let Some(content_type) = self.content_type() else {
            return Family::Other;
        };
        let media = content_type.split(';').next().unwrap_or_default().trim();
        if media == "application/json" || media == "text/json" || media.ends_with("+json") {
            Family::Json
        } else if media.starts_with("text/")
            || media.ends_with("+xml")
            || content_type.contains("charset=")
            || TEXT_MEDIA.contains(&media)
        {
            Family::Text
        } else {
            Family::Other
        }
    }

    /// Headers by name in lower case. Several of one name are joined by commas, as HTTP allows.
    fn headers_value(&self) -> Value {
        let mut headers = Map::new();
        for name in self.headers.keys() {
            let values: Vec<_> =
                self.headers.get_all(name).iter().map(|v| String::from_utf8_lossy(v.as_bytes())).collect();
            headers.insert(name.as_str().into(), values.join(", ").into());
        }
        headers.into()
    }
}

enum Family {
    Json,
    Text,
    Other,
}

const TEXT_MEDIA: &[&str] = &[
    "application/javascript",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
];

fn unreadable(target: &str, reason: &serde_json::Error) -> ToolError {
    let message = format!(
        "the answer to {target} is not JSON ({reason}); set `response_type` to text if it need not be"
    );
    ToolError::new(ErrorKind::Parse, message)
}
