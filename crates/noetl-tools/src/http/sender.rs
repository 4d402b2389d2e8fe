//! Sends requests over pooled connections: one client per way of connecting, shared by all calls.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use noetl_types::{ErrorKind, ToolError, Value};
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, Method, NoProxy, Proxy, Url};

use super::answer::Answer;
use super::auth::Access;
use super::failure;
use crate::auth::AuthSetting;
use crate::tls::{Trust, client_config};
use crate::{Call, Deadline, HttpConfig};

/// A request that is ready to go.
#[derive(Debug)]
pub struct Outgoing {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<Bytes>,
    pub follow_redirects: bool,
    pub verify_tls: bool,
    /// Whether a redirect may lead elsewhere. It must not when a header carries a secret, which would go along.
    pub keep_to_origin: bool,
}

impl Outgoing {
    pub fn new(method: Method, url: Url) -> Outgoing {
        Outgoing {
            method,
            url,
            headers: HeaderMap::new(),
            body: None,
            follow_redirects: true,
            verify_tls: true,
            keep_to_origin: false,
        }
    }

    /// The request as messages name it: without the query and the login, which may be secret.
    pub fn target(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        // Neither can fail on a URL with a host, and http URLs have one.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        format!("{} {url}", self.method)
    }
}

/// What distinguishes one client from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Way {
    follow_redirects: bool,
    keep_to_origin: bool,
    verify_tls: bool,
}

/// The way out to web services.
#[derive(Debug)]
pub struct Sender {
    config: HttpConfig,
    clients: Mutex<HashMap<Way, Client>>,
}

impl Sender {
    pub fn new(config: HttpConfig) -> Sender {
        Sender { config, clients: Mutex::default() }
    }

    pub fn config(&self) -> &HttpConfig {
        &self.config
    }

    /// Sends the request and takes the whole answer, whatever its status.
    pub async fn send(&self, outgoing: Outgoing, deadline: &Deadline) -> Result<Answer, ToolError> {
        let target = outgoing.target();
        let exchange = self.exchange(outgoing, &target);
        match deadline.guard(exchange).await {
            Ok(answer) => answer,
            Err(interrupt) => Err(interrupt.into_error(&format!("the request {target}"))),
        }
    }

    /// The text that a URL gives, for scripts that are kept on a web server.
    pub async fn fetch_text(
        &self,
        url: &str,
        auth: Option<&Value>,
        call: &Call,
    ) -> Result<String, ToolError> {
        let url = Url::parse(url).map_err(|error| {
            ToolError::new(ErrorKind::Config, format!("the script's URL is not valid: {error}"))
        })?;
        let mut outgoing = Outgoing::new(Method::GET, url);
        if let Some(auth) = auth.and_then(AuthSetting::read)
            && let Some(access) = Access::granted_by(&auth, call).await?
        {
            access.put_into(&mut outgoing)?;
        }
        let target = outgoing.target();
        let answer = self.send(outgoing, &call.deadline(Some(self.config.timeout))).await?;
        match failure::of_status(&answer, &target) {
            None => Ok(answer.text()),
            Some(error) => Err(error),
        }
    }

    async fn exchange(&self, outgoing: Outgoing, target: &str) -> Result<Answer, ToolError> {
        let start = Instant::now();
        let client = self.client(&outgoing)?;
        let mut request = client.request(outgoing.method, outgoing.url).headers(outgoing.headers);
        if let Some(body) = outgoing.body {
            request = request.body(body);
        }
        let mut response = request.send().await.map_err(|error| failure::of_transport(error, target))?;
        let limit = self.config.response_limit;
        let too_large = || {
            let message = format!("the answer to {target} is larger than the {limit} bytes that are allowed");
            ToolError::new(ErrorKind::StorageQuota, message)
        };
        if response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_large());
        }
        let mut body = BytesMut::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| failure::of_transport(error, target))?
        {
            if body.len() + chunk.len() > limit {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer {
            status: response.status(),
            url: response.url().clone(),
            headers: std::mem::take(response.headers_mut()),
            body: body.freeze(),
            elapsed: start.elapsed(),
        })
    }

    fn client(&self, outgoing: &Outgoing) -> Result<Client, ToolError> {
        let way = Way {
            follow_redirects: outgoing.follow_redirects,
            keep_to_origin: outgoing.follow_redirects && outgoing.keep_to_origin,
            verify_tls: outgoing.verify_tls,
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&way) {
            return Ok(client.clone());
        }
        let client = self.build(way, outgoing.url.scheme() == "https")?;
        clients.insert(way, client.clone());
        Ok(client)
    }

    fn build(&self, way: Way, needs_tls: bool) -> Result<Client, ToolError> {
        // A machine without certificates can still use plain HTTP.
        let tls = match client_config(if way.verify_tls { Trust::System } else { Trust::Anyone }) {
            Err(_) if !needs_tls => client_config(Trust::Anyone),
            tls => tls,
        };
        let mut tls = tls?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .user_agent(&self.config.user_agent)
            .redirect(redirects(way))
            .no_proxy();
        for proxy in self.proxies()? {
            builder = builder.proxy(proxy);
        }
        builder.build().map_err(|error| config_fault(&format!("the client cannot be set up: {error}")))
    }

    fn proxies(&self) -> Result<Vec<Proxy>, ToolError> {
        let except = || self.config.proxy.no_proxy.as_deref().and_then(NoProxy::from_string);
        let http = self.config.proxy.http.as_deref().map(Proxy::http);
        let https = self.config.proxy.https.as_deref().map(Proxy::https);
        let proxies = http.into_iter().chain(https);
        proxies
            .map(|proxy| {
                let proxy = proxy.map_err(|_| config_fault("the proxy that is configured is not a URL"))?;
                Ok(proxy.no_proxy(except()))
            })
            .collect()
    }
}

fn redirects(way: Way) -> Policy {
    const MOST: usize = 10;
    match way {
        Way { follow_redirects: false, .. } => Policy::none(),
        Way { keep_to_origin: false, .. } => Policy::limited(MOST),
        _ => Policy::custom(|attempt| {
            let same = attempt.previous().last().is_some_and(|last| last.origin() == attempt.url().origin());
            match same {
                _ if attempt.previous().len() > MOST => attempt.error("too many redirects"),
                true => attempt.follow(),
                false => attempt.stop(),
            }
        }),
    }
}

fn config_fault(what: &str) -> ToolError {
    ToolError::new(ErrorKind::Config, format!("http: {what}"))
}
