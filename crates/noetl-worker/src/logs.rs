//! The output of steps on its way to the control plane: in chunks, bounded, and never in the way of a tool.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use noetl_tools::{LogSink, Stream};
use noetl_types::{Command, Timestamp};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{AttemptId, ControlPlane, LogChunk, LogConfig, clock};

/// Makes sinks whose output a [`LogShipper`] passes on.
#[derive(Clone, Debug)]
pub(crate) struct LogHandle {
    config: LogConfig,
    waiting: mpsc::UnboundedSender<Arc<CommandLogs>>,
    urgent: Arc<Notify>,
}

impl LogHandle {
    /// A sink for one attempt.
    pub fn open(&self, command: &Command) -> Arc<CommandLogs> {
        Arc::new_cyclic(|this| CommandLogs {
            attempt: AttemptId::of(command),
            step: command.step.clone(),
            handle: self.clone(),
            this: this.clone(),
            state: Mutex::default(),
        })
    }
}

/// The output of one attempt.
#[derive(Debug)]
pub(crate) struct CommandLogs {
    attempt: AttemptId,
    step: Arc<str>,
    handle: LogHandle,
    this: Weak<CommandLogs>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    streams: [Pending; 2],
    /// The shipper knows that there is something to fetch. So it is told once per attempt, not once per write.
    announced: bool,
    finished: bool,
}

/// What has not been passed on yet of one stream.
#[derive(Debug, Default)]
struct Pending {
    text: String,
    since: Timestamp,
    chunks: u32,
    /// Taken in so far.
    bytes: usize,
    /// Left out since the last note of it.
    left_out: usize,
}

impl CommandLogs {
    /// Nothing more will come: what waits is passed on soon.
    pub fn finish(&self) {
        let mut state = self.state();
        state.finished = true;
        if state.streams.iter().any(|stream| !stream.text.is_empty() || stream.left_out > 0) {
            self.announce(&mut state);
            self.handle.urgent.notify_one();
        }
    }

    fn announce(&self, state: &mut State) {
        if !state.announced {
            state.announced = true;
            if let Some(this) = self.this.upgrade() {
                // A shipper that has ended takes no more output, and nobody waits for it.
                let _ = self.handle.waiting.send(this);
            }
        }
    }

    /// Everything that waits, in chunks that end with a line where they can.
    fn fetch(&self) -> Vec<LogChunk> {
        let config = &self.handle.config;
        let mut state = self.state();
        state.announced = false;
        let finished = state.finished;
        let mut chunks = Vec::new();
        for (stream, pending) in [Stream::Stdout, Stream::Stderr].into_iter().zip(&mut state.streams) {
            let at_the_limit = pending.bytes >= config.bytes_per_stream;
            if pending.left_out > 0 && (finished || !at_the_limit) {
                let start = if pending.text.ends_with('\n') || pending.text.is_empty() { "" } else { "\n" };
                pending.text.push_str(&format!("{start}[{} bytes of output left out]\n", pending.left_out));
                pending.left_out = 0;
            }
            let text = std::mem::take(&mut pending.text);
            for piece in pieces(&text, config.chunk) {
                chunks.push(LogChunk {
                    attempt: self.attempt,
                    step: self.step.clone(),
                    stream,
                    chunk: pending.chunks,
                    at: pending.since,
                    text: piece.to_owned(),
                });
                pending.chunks += 1;
            }
        }
        chunks
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogSink for CommandLogs {
    fn write(&self, stream: Stream, text: &str) {
        let config = &self.handle.config;
        let mut state = self.state();
        let pending = &mut state.streams[stream as usize];
        if pending.text.is_empty() {
            pending.since = clock::now();
        }
        let room = config.backlog.saturating_sub(pending.text.len());
        let room = room.min(config.bytes_per_stream.saturating_sub(pending.bytes));
        let taken = boundary_at_most(text, room);
        pending.text.push_str(&text[..taken]);
        pending.bytes += taken;
        pending.left_out += text.len() - taken;
        let is_chunk = pending.text.len() >= config.chunk;
        if taken > 0 {
            self.announce(&mut state);
        }
        if is_chunk {
            self.handle.urgent.notify_one();
        }
    }
}

/// The last place at or before `limit` that cuts no character in two.
fn boundary_at_most(text: &str, limit: usize) -> usize {
    (0..=limit.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Splits after the last line end within `limit` bytes, or anywhere in a line that is longer.
fn pieces(mut text: &str, limit: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    while text.len() > limit {
        let one = text.chars().next().map_or(0, char::len_utf8);
        let most = boundary_at_most(text, limit).max(one);
        let end = text[..most].rfind('\n').map_or(most, |at| at + 1);
        let (piece, rest) = text.split_at(end);
        pieces.push(piece);
        text = rest;
    }
    if !text.is_empty() {
        pieces.push(text);
    }
    pieces
}

/// Passes on what sinks hold.
pub(crate) struct LogShipper {
    control: Arc<dyn ControlPlane>,
    config: LogConfig,
    waiting: mpsc::UnboundedReceiver<Arc<CommandLogs>>,
    urgent: Arc<Notify>,
}

impl LogShipper {
    pub fn new(control: Arc<dyn ControlPlane>, config: LogConfig) -> (LogShipper, LogHandle) {
        let (sender, waiting) = mpsc::unbounded_channel();
        let urgent = Arc::new(Notify::new());
        let handle = LogHandle { config: config.clone(), waiting: sender, urgent: urgent.clone() };
        (LogShipper { control, config, waiting, urgent }, handle)
    }

    /// Works until `end` fires, and then once more, for what has come before it.
    pub async fn run(mut self, end: CancellationToken) {
        loop {
            let first = tokio::select! {
                biased;
                first = self.waiting.recv() => first,
                () = end.cancelled() => None,
            };
            let Some(first) = first else {
                return;
            };
            tokio::select! {
                () = tokio::time::sleep(self.config.delay) => {}
                () = self.urgent.notified() => {}
                () = end.cancelled() => {}
            }
            let mut chunks = first.fetch();
            while let Ok(logs) = self.waiting.try_recv() {
                chunks.extend(logs.fetch());
            }
            if chunks.is_empty() {
                continue;
            }
            if let Err(error) = self.control.append_logs(chunks).await {
                warn!(%error, "output of steps was not kept");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use noetl_types::{CommandKey, ExecutionId, VisitId};

    use super::*;

    fn logs(config: LogConfig) -> (Arc<CommandLogs>, mpsc::UnboundedReceiver<Arc<CommandLogs>>) {
        let (sender, waiting) = mpsc::unbounded_channel();
        let handle = LogHandle { config, waiting: sender, urgent: Arc::default() };
        let attempt = AttemptId { execution: ExecutionId(1), key: CommandKey::whole(VisitId(1)), attempt: 1 };
        let logs = Arc::new_cyclic(|this| CommandLogs {
            attempt,
            step: "step".into(),
            handle,
            this: this.clone(),
            state: Mutex::default(),
        });
        (logs, waiting)
    }

    fn texts(chunks: &[LogChunk]) -> Vec<&str> {
        chunks.iter().map(|chunk| chunk.text.as_str()).collect()
    }

    #[test]
    fn chunks_end_with_a_line_where_they_can() {
        assert_eq!(pieces("ab\ncd\nef\n", 7), ["ab\ncd\n", "ef\n"]);
        assert_eq!(pieces("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(pieces("", 4), [] as [&str; 0]);
        assert_eq!(pieces("🚀🚀", 2), ["🚀", "🚀"], "a character is never cut");
    }

    #[test]
    fn many_writes_are_announced_once_and_numbered_per_stream() {
        let (logs, mut waiting) = logs(LogConfig { chunk: 4, ..LogConfig::default() });
        for text in ["a\n", "b\n", "c\n"] {
            logs.write(Stream::Stdout, text);
        }
        logs.write(Stream::Stderr, "oh\n");
        let announced = waiting.try_recv().expect("the first write is announced");
        assert!(waiting.try_recv().is_err(), "further writes are not");
        let chunks = announced.fetch();
        assert_eq!(texts(&chunks), ["a\nb\n", "c\n", "oh\n"]);
        assert_eq!(chunks.iter().map(|chunk| chunk.chunk).collect::<Vec<_>>(), [0, 1, 0]);
        logs.write(Stream::Stdout, "d\n");
        assert_eq!(waiting.try_recv().expect("output after a fetch is announced again").fetch()[0].chunk, 2);
    }

    #[test]
    fn output_beyond_the_limit_is_counted_once_at_the_end() {
        let (logs, _waiting) = logs(LogConfig { bytes_per_stream: 3, ..LogConfig::default() });
        logs.write(Stream::Stdout, "abcde");
        assert_eq!(texts(&logs.fetch()), ["abc"]);
        logs.write(Stream::Stdout, "fgh");
        assert_eq!(logs.fetch(), [], "nothing more is taken");
        logs.finish();
        assert_eq!(texts(&logs.fetch()), ["[5 bytes of output left out]\n"]);
    }

    #[test]
    fn output_that_can_not_be_passed_on_does_not_pile_up() {
        let (logs, _waiting) = logs(LogConfig { backlog: 4, ..LogConfig::default() });
        logs.write(Stream::Stdout, "abcdefgh");
        assert_eq!(texts(&logs.fetch()), ["abcd\n[4 bytes of output left out]\n"]);
        logs.write(Stream::Stdout, "ij\n");
        assert_eq!(texts(&logs.fetch()), ["ij\n"]);
    }
}
