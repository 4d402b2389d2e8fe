//! What a command says on standard error while it works: lines that stay, and one that is written over.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use crate::output::is_stderr_colored;
use crate::table::Color;

#[derive(Debug)]
pub struct Teller {
    silent: bool,
    colored: bool,
    /// Standard error is a terminal, so a line can be written over.
    terminal: bool,
    is_line_open: bool,
}

impl Teller {
    pub fn new(silent: bool) -> Teller {
        let terminal = std::io::stderr().is_terminal();
        Teller { silent, colored: is_stderr_colored(), terminal, is_line_open: false }
    }

    /// Says something that stays.
    pub fn line(&mut self, text: &str) {
        if self.silent {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        if std::mem::take(&mut self.is_line_open) {
            let _ = write!(stderr, "\r\x1b[2K");
        }
        // With standard error closed there is nobody left to tell.
        let _ = writeln!(stderr, "{text}");
    }

    /// Says something that the next word replaces. Where nothing can be written over, it is not said.
    pub fn meanwhile(&mut self, text: &str) {
        if self.silent || !self.terminal {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[2K… {text}");
        let _ = stderr.flush();
        self.is_line_open = true;
    }

    /// Takes away what was said for the meantime.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_line_open) {
            let mut stderr = std::io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[2K");
            let _ = stderr.flush();
        }
    }

    pub fn paint(&self, text: &str, color: Color) -> String {
        if self.colored { format!("\x1b[{}m{text}\x1b[0m", color.code()) } else { text.to_owned() }
    }

    pub fn status(&self, status: &str) -> String {
        Color::of_status(status).map_or_else(|| status.to_owned(), |color| self.paint(status, color))
    }

    pub fn dim(&self, text: &str) -> String {
        self.paint(text, Color::Dim)
    }
}

/// A time as people say it.
pub fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        time if time < 0.01 => format!("{:.1} ms", time * 1000.0),
        time if time < 1.0 => format!("{:.0} ms", time * 1000.0),
        time => format!("{time:.1} s"),
    }
}
