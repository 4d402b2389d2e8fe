//! Delivers traces to a collector, as OTLP over HTTP in JSON.
//!
//! Written here rather than taken from the OpenTelemetry crates: those record spans while they happen, under ids they
//! draw at random, and bring code generation and two dozen crates along. Ours are read from the log of a run under ids
//! that follow from it, and the protocol is one request.

mod otlp;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use noetl_server::app::App;
use noetl_server::telemetry::{self, SinkError, Span, SpanSink};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::config::Secret;
use crate::connection::connections;

/// Where traces go.
#[derive(Clone, Debug)]
pub struct TelemetryConfig {
    /// The address of a collector, such as `http://localhost:4318`. Without one nothing is sent.
    pub endpoint: Option<String>,
    /// The address that takes traces, where it is not `/v1/traces` of the endpoint.
    pub traces_endpoint: Option<String>,
    /// Headers that the collector wants to see: `key=value,key=value`.
    pub headers: Option<Secret>,
    /// What the collector knows this part by.
    pub service_name: String,
    /// How long the collector may take for an answer.
    pub timeout: Duration,
    /// Runs that may wait to be told of.
    pub queue: usize,
}

impl Default for TelemetryConfig {
    fn default() -> TelemetryConfig {
        TelemetryConfig {
            endpoint: None,
            traces_endpoint: None,
            headers: None,
            service_name: "noetl".to_owned(),
            timeout: Duration::from_secs(10),
            queue: 4096,
        }
    }
}

impl TelemetryConfig {
    /// Whether traces go anywhere.
    pub fn is_on(&self) -> bool {
        self.endpoint.is_some() || self.traces_endpoint.is_some()
    }

    /// The sink, when there is a place to send to.
    pub fn sink(&self) -> Result<Option<Collector>> {
        let Some(url) = self.url()? else {
            return Ok(None);
        };
        let mut headers = HeaderMap::new();
        let given = self.headers.as_ref().map(Secret::reveal).unwrap_or_default();
        for pair in given.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair
                .split_once('=')
                .context("telemetry.headers (OTEL_EXPORTER_OTLP_HEADERS) has the form key=value,key=value")?;
            let name: HeaderName = name
                .trim()
                .parse()
                .with_context(|| format!("'{name}' in telemetry.headers is no name of a header"))?;
            let mut value = HeaderValue::from_str(value.trim())
                .with_context(|| format!("the value of '{name}' in telemetry.headers can't be sent"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let client = connections(url.as_str())?;
        let service = self.service_name.as_str().into();
        Ok(Some(Collector { client, url, headers, service, timeout: self.timeout, queue: self.queue }))
    }

    fn url(&self) -> Result<Option<Url>> {
        let address = match (&self.traces_endpoint, &self.endpoint) {
            (Some(whole), _) => whole.clone(),
            (None, Some(base)) => format!("{}/v1/traces", base.trim_end_matches('/')),
            (None, None) => return Ok(None),
        };
        match Url::parse(&address) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(Some(url)),
            _ => bail!(
                "telemetry.endpoint: '{address}' is no address of a collector, such as http://localhost:4318"
            ),
        }
    }
}

/// Traces on their way to a collector.
#[derive(Debug)]
pub struct Telemetry {
    stop: CancellationToken,
    exporting: JoinHandle<()>,
}

/// What is still to be delivered when the process ends gets this long.
const LAST_CHANCE: Duration = Duration::from_secs(5);

impl Telemetry {
    pub fn start(app: App, collector: Collector) -> Telemetry {
        let stop = CancellationToken::new();
        let queue = collector.queue;
        let exporting = telemetry::start(app, Arc::new(collector), queue, stop.clone());
        Telemetry { stop, exporting }
    }

    /// Delivers what waits, as far as the collector takes it soon.
    pub async fn stop(self) {
        self.stop.cancel();
        if tokio::time::timeout(LAST_CHANCE, self.exporting).await.is_err() {
            tracing::warn!("some traces were not delivered before the end");
        }
    }
}

/// A collector of traces.
#[derive(Debug)]
pub struct Collector {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    service: Arc<str>,
    timeout: Duration,
    queue: usize,
}

/// How often a batch is sent, and how long to wait in between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// What came of one request.
enum Sent {
    Taken,
    /// It may be taken later.
    NotNow(String),
    Refused(String),
}

impl Collector {
    async fn post(&self, body: &str) -> Sent {
        let request = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header("content-type", "application/json")
            .timeout(self.timeout)
            .body(body.to_owned());
        match request.send().await {
            Err(error) => Sent::NotNow(format!("{} does not answer: {}", self.url, error.without_url())),
            Ok(answer) if answer.status().is_success() => Sent::Taken,
            Ok(answer) => {
                let message = format!("{} answers with {}", self.url, answer.status());
                match answer.status() {
                    StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT => Sent::NotNow(message),
                    _ => Sent::Refused(message),
                }
            }
        }
    }

    async fn deliver(&self, spans: Vec<Span>) -> Result<(), SinkError> {
        let body = otlp::request(&self.service, &spans).to_string();
        let mut tried = 1;
        loop {
            match self.post(&body).await {
                Sent::Taken => return Ok(()),
                Sent::NotNow(_) if tried < TRIES => {
                    tokio::time::sleep(PAUSE * tried).await;
                    tried += 1;
                }
                Sent::NotNow(message) | Sent::Refused(message) => return Err(SinkError(message)),
            }
        }
    }
}

impl SpanSink for Collector {
    fn send(&self, spans: Vec<Span>) -> Pin<Box<dyn Future<Output = Result<(), SinkError>> + Send + '_>> {
        Box::pin(self.deliver(spans))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(endpoint: Option<&str>, traces: Option<&str>) -> Option<String> {
        let config = TelemetryConfig {
            endpoint: endpoint.map(str::to_owned),
            traces_endpoint: traces.map(str::to_owned),
            ..TelemetryConfig::default()
        };
        config.url().expect("an address").map(|url| url.to_string())
    }

    #[test]
    fn the_address_is_that_of_the_collector_or_the_one_for_traces() {
        assert_eq!(url(None, None), None);
        let local = Some("http://localhost:4318/v1/traces".to_owned());
        assert_eq!(url(Some("http://localhost:4318"), None), local);
        assert_eq!(url(Some("http://localhost:4318/"), None), local);
        let whole = Some("https://in.example.com/otlp".to_owned());
        assert_eq!(url(Some("http://localhost:4318"), Some("https://in.example.com/otlp")), whole);
    }

    #[test]
    fn what_is_no_address_and_what_are_no_headers_is_said() {
        let wrong = |endpoint: &str, headers: &str| {
            let config = TelemetryConfig {
                endpoint: Some(endpoint.to_owned()),
                headers: Some(Secret::new(headers)),
                ..TelemetryConfig::default()
            };
            config.sink().err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(wrong("localhost:4318", "").contains("telemetry.endpoint"));
        assert!(wrong("http://localhost:4318", "secret").contains("telemetry.headers"));
        assert_eq!(wrong("http://localhost:4318", "authorization=Bearer x, tenant=1"), "");
    }
}
