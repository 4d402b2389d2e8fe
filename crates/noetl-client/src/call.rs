//! One call: sent, answered, and tried again where that may help and can do no harm.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, header};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Client, Error, PATIENCE, Refusal};

/// Whether the server may get a call twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// A second time changes nothing.
    Harmless,
    /// Only when the server has not seen the first.
    Harmful,
}

impl Client {
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.call(Method::GET, path, None, Repeat::Harmless, Duration::ZERO).await
    }

    pub(crate) async fn delete<T: DeserializeOwned>(&self, path: &str, repeat: Repeat) -> Result<T, Error> {
        self.call(Method::DELETE, path, None, repeat, Duration::ZERO).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        repeat: Repeat,
    ) -> Result<T, Error> {
        self.post_and_wait(path, body, repeat, Duration::ZERO).await
    }

    /// A call in which the server is asked to wait for something.
    pub(crate) async fn post_and_wait<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        repeat: Repeat,
        wait: Duration,
    ) -> Result<T, Error> {
        let body = serde_json::to_vec(body)
            .map_err(|error| Error::Strange { url: self.url(path), detail: error.to_string() })?;
        self.call(Method::POST, path, Some(body), repeat, wait).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
        repeat: Repeat,
        wait: Duration,
    ) -> Result<T, Error> {
        let mut tried = 0;
        loop {
            let error = match self.call_once(method.clone(), path, body.clone(), wait).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            tried += 1;
            let may_repeat = match &error {
                Error::Unreachable { .. } => Some(None),
                Error::NoAnswer { .. } => (repeat == Repeat::Harmless).then_some(None),
                refused => refused.asks_to_try_again(),
            };
            match may_repeat {
                Some(asked) if tried < self.retry.tries => {
                    tokio::time::sleep(self.retry.pause(tried, asked)).await;
                }
                _ => return Err(error),
            }
        }
    }

    async fn call_once<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
        wait: Duration,
    ) -> Result<T, Error> {
        let mut request = self.request(method, path).timeout(PATIENCE + wait);
        if let Some(body) = body {
            request = request.header(header::CONTENT_TYPE, "application/json").body(body);
        }
        let response = request.send().await.map_err(|source| self.not_sent(source))?;
        let response = self.unless_refused(response).await?;
        self.read(path, response).await
    }

    /// A request with the token on it.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, self.url(path));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Why a request got no answer.
    pub(crate) fn not_sent(&self, source: reqwest::Error) -> Error {
        let url = self.base.to_string();
        match source.is_connect() || source.is_builder() {
            true => Error::Unreachable { url, source },
            false => Error::NoAnswer { url, source },
        }
    }

    /// The answer, if it is what was asked for.
    pub(crate) async fn unless_refused(&self, response: Response) -> Result<Response, Error> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after = retry_after(&response);
        let body = response
            .bytes()
            .await
            .map_err(|source| Error::NoAnswer { url: self.base.to_string(), source })?;
        Err(Error::Refused(Box::new(Refusal::new(status.as_u16(), retry_after, &body))))
    }

    /// The body of an answer.
    pub(crate) async fn read<T: DeserializeOwned>(&self, path: &str, response: Response) -> Result<T, Error> {
        let body = response
            .bytes()
            .await
            .map_err(|source| Error::NoAnswer { url: self.base.to_string(), source })?;
        serde_json::from_slice(&body)
            .map_err(|error| Error::Strange { url: self.url(path), detail: error.to_string() })
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}
