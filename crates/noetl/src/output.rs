//! Where a command writes: results to standard output, complaints to standard error.

use std::fmt::{self, Arguments};
use std::io::{self, BufWriter, ErrorKind, Stdout, Write};

/// Standard output. When its reader has gone (`noetl … | head`), the rest is dropped without a word, and the command goes on
/// to its own verdict.
pub struct Output {
    inner: BufWriter<Stdout>,
    colored: bool,
    reader_gone: bool,
}

impl Output {
    pub fn stdout() -> Output {
        let stdout = io::stdout();
        let colored = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
        Output { inner: BufWriter::new(stdout), colored, reader_gone: false }
    }

    /// Whether nobody reads what is written any more.
    pub fn is_reader_gone(&self) -> bool {
        self.reader_gone
    }

    /// Whether the reader wants colours.
    pub fn colored(&self) -> bool {
        self.colored
    }

    fn unless_reader_gone<T>(
        &mut self,
        when_gone: T,
        act: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.reader_gone {
            return Ok(when_gone);
        }
        match act(&mut self.inner) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.reader_gone = true;
                Ok(when_gone)
            }
            other => other,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_reader_gone(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_reader_gone((), |inner| inner.flush())
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("colored", &self.colored)
            .field("reader_gone", &self.reader_gone)
            .finish()
    }
}

/// Whether the reader of standard error wants colours.
pub fn is_stderr_colored() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

/// Says on standard error what went wrong.
pub fn complain(sentence: Arguments<'_>) {
    tell("error", sentence);
}

/// Says something on standard error that is good to know.
pub fn mention(sentence: Arguments<'_>) {
    tell("note", sentence);
}

/// Says on standard error what to do about it.
pub fn help(sentence: Arguments<'_>) {
    tell("help", sentence);
}

fn tell(word: &str, sentence: Arguments<'_>) {
    // With standard error closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{word}: {sentence}");
}
