//! Collects what a process writes: passes it on as it comes, keeps a bounded part, counts the rest.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;

use crate::{LogSink, Stream};

const CHUNK: usize = 64 * 1024;

/// An output that is being read.
pub(crate) struct Capture {
    kept: Arc<Mutex<Kept>>,
    reading: JoinHandle<()>,
}

impl Capture {
    /// Reads to the end in the background, so that the process never waits for a reader.
    pub fn start(
        mut output: impl AsyncRead + Unpin + Send + 'static,
        stream: Stream,
        limit: usize,
        logs: Arc<dyn LogSink>,
    ) -> Capture {
        let kept = Arc::new(Mutex::new(Kept::new(limit)));
        let shared = kept.clone();
        let reading = tokio::spawn(async move {
            let mut passing = Passing { logs, stream, left: limit, incomplete: Vec::new() };
            let mut chunk = vec![0; CHUNK];
            while let Ok(length @ 1..) = output.read(&mut chunk).await {
                lock(&shared).add(&chunk[..length]);
                passing.pass_on(&chunk[..length]);
            }
            passing.finish();
        });
        Capture { kept, reading }
    }

    /// Waits for the end of the output and gives the text. Who still holds the output open after `patience` is ignored.
    pub async fn finish(mut self, patience: Duration) -> String {
        if tokio::time::timeout(patience, &mut self.reading).await.is_err() {
            self.reading.abort();
        }
        lock(&self.kept).text()
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

fn lock(kept: &Mutex<Kept>) -> std::sync::MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The beginning and the end of an output.
struct Kept {
    /// Each half holds this many bytes.
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: usize,
}

impl Kept {
    fn new(limit: usize) -> Kept {
        Kept { half: limit / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        let room = self.half - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..surplus);
    }

    /// Bytes that are not UTF-8 show as replacement characters.
    fn text(&self) -> String {
        let (first, second) = self.tail.as_slices();
        let left_out = self.total - self.head.len() - self.tail.len();
        if left_out == 0 {
            let all = [self.head.as_slice(), first, second].concat();
            return String::from_utf8(all)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        }
        let tail = [first, second].concat();
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[{left_out} bytes left out]\n{tail}")
    }
}

/// Hands chunks to a log sink as text, up to a limit. A character that is cut in two waits for its other half.
struct Passing {
    logs: Arc<dyn LogSink>,
    stream: Stream,
    left: usize,
    incomplete: Vec<u8>,
}

impl Passing {
    fn pass_on(&mut self, chunk: &[u8]) {
        if self.left == 0 {
            return;
        }
        let chunk = &chunk[..chunk.len().min(self.left)];
        self.left -= chunk.len();
        let mut bytes = std::mem::take(&mut self.incomplete);
        bytes.extend_from_slice(chunk);
        let complete = bytes.len() - incomplete_at_the_end(&bytes);
        self.incomplete = bytes.split_off(complete);
        if !bytes.is_empty() {
            self.logs.write(self.stream, &String::from_utf8_lossy(&bytes));
        }
        if self.left == 0 {
            self.logs.write(self.stream, "\n[further output is not logged]\n");
        }
    }

    fn finish(&mut self) {
        if !self.incomplete.is_empty() {
            self.logs.write(self.stream, &String::from_utf8_lossy(&self.incomplete));
        }
    }
}

/// How many bytes at the end are the beginning of one more character.
fn incomplete_at_the_end(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(3);
    (start..bytes.len())
        .find(|at| match std::str::from_utf8(&bytes[*at..]) {
            Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
            Ok(_) => false,
        })
        .map_or(0, |at| bytes.len() - at)
}

/// The last lines of an output, short enough for a message.
pub(crate) fn last_lines(text: &str) -> &str {
    const LONGEST: usize = 800;
    let text = text.trim_end();
    let mut start = text.len().saturating_sub(LONGEST);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    match text[start..].find('\n') {
        Some(end_of_line) if start > 0 => &text[start + end_of_line + 1..],
        _ => &text[start..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Pieces(Mutex<Vec<String>>);

    impl LogSink for Pieces {
        fn write(&self, _: Stream, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
    }

    #[test]
    fn what_fits_is_kept_whole_and_the_middle_of_more_is_counted() {
        let mut kept = Kept::new(8);
        kept.add(b"abc");
        kept.add(b"defgh");
        assert_eq!(kept.text(), "abcdefgh");
        kept.add(b"0123456789");
        assert_eq!(kept.text(), "abcd\n[10 bytes left out]\n6789");
    }

    #[test]
    fn a_character_in_two_chunks_is_passed_on_whole() {
        let pieces = Arc::new(Pieces::default());
        let mut passing =
            Passing { logs: pieces.clone(), stream: Stream::Stdout, left: 100, incomplete: Vec::new() };
        let rocket = "a🚀".as_bytes();
        passing.pass_on(&rocket[..3]);
        passing.pass_on(&rocket[3..]);
        passing.pass_on(b"\xff");
        passing.finish();
        assert_eq!(*pieces.0.lock().unwrap(), ["a", "🚀", "\u{fffd}"]);
    }

    #[test]
    fn logs_end_at_the_limit_with_a_note() {
        let pieces = Arc::new(Pieces::default());
        let mut passing =
            Passing { logs: pieces.clone(), stream: Stream::Stdout, left: 3, incomplete: Vec::new() };
        passing.pass_on(b"ab");
        passing.pass_on(b"cdef");
        passing.pass_on(b"ghi");
        assert_eq!(pieces.0.lock().unwrap().concat(), "abc\n[further output is not logged]\n");
    }

    #[test]
    fn the_last_lines_are_whole_lines() {
        assert_eq!(last_lines("one\ntwo\n"), "one\ntwo");
        let long = format!("{}\nthe end\n", "x".repeat(2000));
        assert_eq!(last_lines(&long), "the end");
    }
}
