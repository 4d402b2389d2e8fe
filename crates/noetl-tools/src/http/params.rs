//! The settings of an http step, and the request they make.

use std::time::Duration;

use noetl_types::{ToolError, Value};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};

use super::auth::Access;
use super::body::{Body, pairs};
use super::{Outgoing, ResponseType};
use crate::auth::AuthSetting;
use crate::fields::scalar_text;
use crate::{Call, Fields};

pub struct HttpParams {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Body>,
    auth: Option<AuthSetting>,
    pub timeout: Option<Duration>,
    pub follow_redirects: bool,
    verify_tls: bool,
    pub response_type: ResponseType,
}

impl HttpParams {
    pub fn read(fields: Fields<'_>) -> Result<HttpParams, ToolError> {
        let method = read_method(fields)?;
        let mut url = parse_url(&fields.required_text("url")?, fields)?;
        let (body, query_of_data) = Body::read(fields, &method)?;
        let params = fields.map("params")?;
        for query in params.into_iter().chain(query_of_data.as_ref().and_then(Value::as_map)) {
            add_query(&mut url, &pairs(query));
        }
        Ok(HttpParams {
            method,
            url,
            headers: read_headers(fields)?,
            body,
            auth: fields.value("auth").and_then(AuthSetting::read),
            timeout: fields.seconds("timeout_seconds")?,
            follow_redirects: fields.flag("follow_redirects")?.unwrap_or(true),
            verify_tls: fields.flag("verify_ssl")?.unwrap_or(true),
            response_type: ResponseType::read(fields)?,
        })
    }

    /// The request, with access granted by credentials where the step asks for it.
    pub async fn outgoing(&self, call: &Call) -> Result<Outgoing, ToolError> {
        let mut outgoing = Outgoing::new(self.method.clone(), self.url.clone());
        outgoing.headers = self.headers.clone();
        outgoing.follow_redirects = self.follow_redirects;
        outgoing.verify_tls = self.verify_tls;
        outgoing.keep_to_origin =
            self.headers.values().any(|value| value.to_str().is_ok_and(|text| call.secrets.occur_in(text)));
        if let Some(body) = &self.body {
            body.put_into(&mut outgoing);
        }
        if let Some(auth) = &self.auth
            && let Some(access) = Access::granted_by(auth, call).await?
        {
            access.put_into(&mut outgoing)?;
        }
        add_trace(&mut outgoing.headers, call.trace.as_ref());
        Ok(outgoing)
    }
}

fn read_method(fields: Fields<'_>) -> Result<Method, ToolError> {
    let name = fields.text("method")?.unwrap_or_default().trim().to_ascii_uppercase();
    if name.is_empty() {
        return Ok(Method::GET);
    }
    Method::from_bytes(name.as_bytes()).map_err(|_| fields.fault("`method` is not an HTTP method".to_owned()))
}

pub fn parse_url(text: &str, fields: Fields<'_>) -> Result<Url, ToolError> {
    // The text is not repeated: it may hold a secret.
    let fault = |reason: String| fields.fault(format!("`url` {reason}; it must look like https://host/path"));
    let url = Url::parse(text.trim()).map_err(|error| fault(format!("is not a URL ({error})")))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(fault(format!("has the scheme '{other}'"))),
    }
}

fn add_query(url: &mut Url, pairs: &[(String, String)]) {
    if !pairs.is_empty() {
        url.query_pairs_mut().extend_pairs(pairs);
    }
}

/// Says which trace the request is a part of, unless the step says so itself.
fn add_trace(headers: &mut HeaderMap, trace: Option<&Value>) {
    let parent = HeaderName::from_static("traceparent");
    if headers.contains_key(&parent) {
        return;
    }
    for name in [parent, HeaderName::from_static("tracestate")] {
        let given = trace.and_then(|trace| trace.get(name.as_str())).and_then(Value::as_str);
        if let Some(value) = given.and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert(name, value);
        }
    }
}

fn read_headers(fields: Fields<'_>) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for (name, value) in fields.map("headers")?.into_iter().flatten() {
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            fields.fault(format!("`headers` has an entry '{name}', which is not a header name"))
        })?;
        let values = match value {
            Value::Null => continue,
            Value::List(values) => values.iter().map(scalar_text).collect(),
            other => vec![scalar_text(other)],
        };
        for value in values {
            let value = value.and_then(|text| HeaderValue::from_str(text.trim()).ok()).ok_or_else(|| {
                fields.fault(format!("the value of header '{name}' must be text without line breaks"))
            })?;
            headers.append(header.clone(), value);
        }
    }
    Ok(headers)
}
