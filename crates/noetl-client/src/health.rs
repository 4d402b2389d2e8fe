//! How the server fares.

use noetl_api::health::Health;
use reqwest::{Method, header};

use crate::{Client, Error};

impl Client {
    /// Whether the server can do its work.
    pub async fn health(&self) -> Result<Health, Error> {
        self.get("/api/health").await
    }

    /// What the server counts and measures, in the text format of Prometheus.
    pub async fn metrics(&self) -> Result<String, Error> {
        let request = self.request(Method::GET, "/metrics").timeout(crate::PATIENCE);
        let response = request.send().await.map_err(|source| self.not_sent(source))?;
        response.text().await.map_err(|source| self.not_sent(source))
    }

    /// What time it is at the server, in the words of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`. Nothing when it does not say.
    pub async fn date(&self) -> Result<Option<String>, Error> {
        let request = self.request(Method::GET, "/health").timeout(crate::PATIENCE);
        let response = request.send().await.map_err(|source| self.not_sent(source))?;
        let date = response.headers().get(header::DATE).and_then(|date| date.to_str().ok());
        Ok(date.map(str::to_owned))
    }
}
