//! Where the output of user code goes while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::Secrets;

/// Which output it was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Takes output in pieces as they come; a piece need not be a line. It must not block.
pub trait LogSink: Send + Sync {
    fn write(&self, stream: Stream, text: &str);
}

/// Forgets everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiscardLogs;

impl LogSink for DiscardLogs {
    fn write(&self, _: Stream, _: &str) {}
}

/// Masks secrets on the way. A piece that ends with the beginning of a secret is held back until more is known.
pub(crate) struct RedactedLogs {
    inner: Arc<dyn LogSink>,
    secrets: Secrets,
    held_back: [Mutex<String>; 2],
}

impl RedactedLogs {
    pub fn new(inner: Arc<dyn LogSink>, secrets: Secrets) -> RedactedLogs {
        RedactedLogs { inner, secrets, held_back: Default::default() }
    }

    /// Passes on what was held back: nothing more will come.
    pub fn finish(&self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = std::mem::take(&mut *self.buffer(stream));
            self.pass_on(stream, &rest);
        }
    }

    fn buffer(&self, stream: Stream) -> std::sync::MutexGuard<'_, String> {
        self.held_back[stream as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(&self, stream: Stream, text: &str) {
        if !text.is_empty() {
            self.inner.write(stream, &self.secrets.redact(text));
        }
    }
}

impl LogSink for RedactedLogs {
    fn write(&self, stream: Stream, text: &str) {
        let mut buffer = self.buffer(stream);
        if buffer.is_empty() && self.secrets.begun_at_the_end(text) == 0 {
            return self.pass_on(stream, text);
        }
        buffer.push_str(text);
        let ready = buffer.len() - self.secrets.begun_at_the_end(&buffer);
        let rest = buffer.split_off(ready);
        self.pass_on(stream, &buffer);
        *buffer = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Kept(Mutex<Vec<String>>);

    impl LogSink for Kept {
        fn write(&self, _: Stream, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }

    #[test]
    fn a_secret_that_comes_in_pieces_is_masked() {
        let kept = Arc::new(Kept::default());
        let logs = RedactedLogs::new(kept.clone(), Secrets::new(["hush-token"]));
        for piece in ["key: hush", "-tok", "en, then hush", "ed"] {
            logs.write(Stream::Stdout, piece);
        }
        logs.write(Stream::Stderr, "hu");
        logs.finish();
        assert_eq!(kept.0.lock().unwrap().concat(), "key: [redacted], then hushedhu");
    }
}
