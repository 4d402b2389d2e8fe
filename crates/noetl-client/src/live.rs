//! What happens in an execution, as it happens: server-sent events, taken up again where a connection broke.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::time::Duration;

use noetl_api::execution::{EventRow, LogLine, LogParameters};
use reqwest::{Response, header};
use serde::de::DeserializeOwned;

use crate::address::question;
use crate::{Client, Error, Retry};

/// Who has been told something waits this long for a server that starts again: half a minute and more.
const PATIENT: Retry =
    Retry { tries: 24, first: Duration::from_millis(100), longest: Duration::from_millis(2000) };

/// The server says something at least every 15 seconds; after this long without a word the connection is taken for dead.
const SILENCE: Duration = Duration::from_secs(45);

impl Client {
    /// The events of an execution after the one with this number, until it is over.
    pub fn follow_events(&self, id: i64, after: u64) -> Follow<EventRow> {
        Follow::new(self.clone(), format!("/api/executions/{id}/stream?after={after}"))
    }

    /// What the steps of an execution print, until it is over.
    pub fn follow_logs(&self, id: i64, parameters: &LogParameters) -> Follow<LogLine> {
        Follow::new(self.clone(), format!("/api/executions/{id}/logs/stream{}", question(parameters)))
    }
}

/// A stream of messages that misses none and gives none twice, also when the connection breaks or the server restarts.
#[derive(Debug)]
pub struct Follow<T> {
    client: Client,
    path: String,
    /// The id of the last message.
    place: Option<String>,
    response: Option<Response>,
    /// What has come and is no whole message yet.
    pending: Vec<u8>,
    messages: VecDeque<Message>,
    /// Failures since the last message.
    failures: u32,
    /// The server was there once.
    was_connected: bool,
    is_over: bool,
    of: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Follow<T> {
    fn new(client: Client, path: String) -> Follow<T> {
        Follow {
            client,
            path,
            place: None,
            response: None,
            pending: Vec::new(),
            messages: VecDeque::new(),
            failures: 0,
            was_connected: false,
            is_over: false,
            of: PhantomData,
        }
    }

    /// The next one; nothing after the last.
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        loop {
            if self.is_over {
                return Ok(None);
            }
            if let Some(message) = self.messages.pop_front() {
                self.failures = 0;
                if message.kind == "end" {
                    self.is_over = true;
                    continue;
                }
                self.place = message.id.or(self.place.take());
                let url = || format!("{}{}", self.client.base(), self.path);
                let strange =
                    |error: serde_json::Error| Error::Strange { url: url(), detail: error.to_string() };
                return serde_json::from_str(&message.data).map(Some).map_err(strange);
            }
            if let Err(error) = self.receive().await {
                self.response = None;
                self.pending.clear();
                self.failures += 1;
                let retry = if self.was_connected { PATIENT } else { self.client.retry };
                if !error.is_transient() || self.failures >= retry.tries {
                    return Err(error);
                }
                tokio::time::sleep(retry.pause(self.failures, None)).await;
            }
        }
    }

    /// Takes what comes next, on a new connection if there is none.
    async fn receive(&mut self) -> Result<(), Error> {
        if self.response.is_none() {
            self.response = Some(self.client.open(&self.path, self.place.as_deref()).await?);
            self.was_connected = true;
        }
        let Some(response) = &mut self.response else { return Ok(()) };
        let url = self.client.base().to_owned();
        match tokio::time::timeout(SILENCE, response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                self.pending.extend_from_slice(&bytes);
                split(&mut self.pending, &mut self.messages);
                Ok(())
            }
            Ok(Err(source)) => Err(Error::NoAnswer { url, source }),
            Ok(Ok(None)) | Err(_) => Err(Error::BrokenOff { url }),
        }
    }
}

impl Client {
    /// Begins to read something that has no end yet.
    async fn open(&self, path: &str, place: Option<&str>) -> Result<Response, Error> {
        let mut request =
            self.request(reqwest::Method::GET, path).header(header::ACCEPT, "text/event-stream");
        if let Some(place) = place {
            request = request.header("last-event-id", place);
        }
        let response = request.send().await.map_err(|source| self.not_sent(source))?;
        self.unless_refused(response).await
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Message {
    id: Option<String>,
    kind: String,
    data: String,
}

/// Takes the whole messages out of what has come.
fn split(pending: &mut Vec<u8>, messages: &mut VecDeque<Message>) {
    while let Some(end) = pending.windows(2).position(|pair| pair == b"\n\n") {
        let block: Vec<u8> = pending.drain(..end + 2).collect();
        let message = parse(&String::from_utf8_lossy(&block));
        if !message.data.is_empty() {
            messages.push_back(message);
        }
    }
}

fn parse(block: &str) -> Message {
    let mut message = Message::default();
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => message.id = Some(value.to_owned()),
            "event" => message.kind = value.to_owned(),
            "data" => {
                if !message.data.is_empty() {
                    message.data.push('\n');
                }
                message.data.push_str(value);
            }
            // A comment, such as the sign of life.
            _ => {}
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_whole_however_they_come() {
        let sent =
            b"id: 1\ndata: {\"a\":\ndata: 1}\n\n: still here\n\nid: 2\nevent: end\ndata: {}\n\nid: 3\n";
        let (mut pending, mut messages) = (Vec::new(), VecDeque::new());
        for byte in sent {
            pending.push(*byte);
            split(&mut pending, &mut messages);
        }
        let message = |id: &str, kind: &str, data: &str| Message {
            id: Some(id.to_owned()),
            kind: kind.to_owned(),
            data: data.to_owned(),
        };
        assert_eq!(messages, [message("1", "", "{\"a\":\n1}"), message("2", "end", "{}")]);
        assert_eq!(pending, b"id: 3\n", "the rest waits for its end");
    }
}
