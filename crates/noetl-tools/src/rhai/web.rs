//! HTTP for scripts. An answer of any status is a value; only a call without an answer is an error.

use std::sync::Arc;

use ::rhai::{Dynamic, Engine, EvalAltResult, ImmutableString, Map};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use tokio::runtime::Handle;

use super::convert::{from_rhai, to_rhai};
use super::functions::{Fallible, stopped};
use crate::Deadline;
use crate::fields::scalar_text;
use crate::http::{Outgoing, ResponseType, Sender};

/// What scripts send requests with.
#[derive(Clone)]
struct Web {
    sender: Arc<Sender>,
    deadline: Deadline,
}

pub fn register(engine: &mut Engine, sender: &Arc<Sender>, deadline: &Deadline) {
    let web = Web { sender: sender.clone(), deadline: deadline.clone() };
    for (name, method) in [("http_get", Method::GET), ("http_delete", Method::DELETE)] {
        let (plain, with_headers, with_token) = (web.clone(), web.clone(), web.clone());
        let (first, second, third) = (method.clone(), method.clone(), method);
        engine
            .register_fn(name, move |url: ImmutableString| plain.send(&first, &url, None, HeaderMap::new()));
        engine.register_fn(name, move |url: ImmutableString, headers: Map| {
            with_headers.send(&second, &url, None, header_map(&headers)?)
        });
        engine.register_fn(format!("{name}_auth"), move |url: ImmutableString, token: ImmutableString| {
            with_token.send(&third, &url, None, bearer(&token)?)
        });
    }
    let (plain, with_headers, with_token) = (web.clone(), web.clone(), web);
    engine.register_fn("http_post", move |url: ImmutableString, body: Dynamic| {
        plain.send(&Method::POST, &url, Some(&body), HeaderMap::new())
    });
    engine.register_fn("http_post", move |url: ImmutableString, body: Dynamic, headers: Map| {
        with_headers.send(&Method::POST, &url, Some(&body), header_map(&headers)?)
    });
    engine.register_fn(
        "http_post_auth",
        move |url: ImmutableString, body: Dynamic, token: ImmutableString| {
            with_token.send(&Method::POST, &url, Some(&body), bearer(&token)?)
        },
    );
    engine.register_fn("get_gcp_token", || -> Fallible<String> {
        Err("get_gcp_token is not available here; fetch a token in the keychain and pass it as an input"
            .into())
    });
}

impl Web {
    /// A map of `status`, `status_code`, `headers`, `data` and `body`, as the http kind gives it.
    fn send(
        &self,
        method: &Method,
        url: &str,
        body: Option<&Dynamic>,
        headers: HeaderMap,
    ) -> Fallible<Dynamic> {
        let url = Url::parse(url).map_err(|error| format!("this is not a URL: {error}"))?;
        let mut outgoing = Outgoing::new(method.clone(), url);
        outgoing.keep_to_origin = !headers.is_empty();
        outgoing.headers = headers;
        if let Some(body) = body {
            put_body(&mut outgoing, body)?;
        }
        let target = outgoing.target();
        let answer = Handle::current().block_on(self.sender.send(outgoing, &self.deadline));
        let answer = match answer {
            Err(_) if self.deadline.has_passed().is_some() => return Err(stopped()),
            answer => answer.map_err(failed)?,
        };
        let report = answer.into_report(&target, ResponseType::Auto, false, &Default::default());
        let report = report.map_err(failed)?;
        Ok(report.data.as_inline().map_or(Dynamic::UNIT, to_rhai))
    }
}

fn failed(error: noetl_types::ToolError) -> Box<EvalAltResult> {
    error.message.into()
}

/// Text goes as it is, anything else as JSON.
fn put_body(outgoing: &mut Outgoing, body: &Dynamic) -> Fallible<()> {
    let value = from_rhai(body, "body").map_err(failed)?;
    if value.is_null() {
        return Ok(());
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let looks_like_json = value.as_str().is_none() || text.trim_start().starts_with(['{', '[']);
    if looks_like_json {
        outgoing.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    }
    outgoing.body = Some(text.into_bytes().into());
    Ok(())
}

fn header_map(headers: &Map) -> Fallible<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let value = from_rhai(value, "header").ok().and_then(|value| scalar_text(&value));
        let value = value.and_then(|text| HeaderValue::from_str(&text).ok());
        match (HeaderName::from_bytes(name.as_bytes()), value) {
            (Ok(name), Some(value)) => map.insert(name, value),
            _ => return Err(format!("'{name}' is not a header that can be sent").into()),
        };
    }
    Ok(map)
}

fn bearer(token: &str) -> Fallible<HeaderMap> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| "the token cannot be sent in a header")?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}
