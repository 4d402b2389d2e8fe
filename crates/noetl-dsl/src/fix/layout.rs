//! Lines, columns and entries as they stand in the source, and how to move them.

use super::rewrite::Edit;
use crate::yaml::{Entry, Node, Span, Style};

#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'s> {
    pub(super) source: &'s str,
}

impl<'s> Layout<'s> {
    pub(super) fn text(&self, span: Span) -> &'s str {
        &self.source[span.start..span.end]
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
        self.source[..at].rfind(['\n', '\r']).map_or(0, |found| found + 1)
    }

    /// Before the line break.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.source[at..].find(['\n', '\r']).map_or(self.source.len(), |found| at + found)
    }

    /// How far a key or dash stands in its line.
    pub(super) fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    /// The line break in use.
    pub(super) fn line_break(&self) -> &'static str {
        match self.source.find('\n') {
            Some(at) if self.source[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// Whether only blanks stand before a place in its line.
    pub(super) fn starts_line(&self, at: usize) -> bool {
        self.source[self.line_start(at)..at].trim_matches(' ').is_empty()
    }

    /// Whether a value is on one line.
    pub(super) fn is_one_line(&self, span: Span) -> bool {
        !self.text(span).contains(['\n', '\r'])
    }

    /// What stands behind a value in its line: blanks, a comment, or more.
    pub(super) fn rest_of_line(&self, at: usize) -> &'s str {
        &self.source[at..self.line_end(at)]
    }

    /// Moves lines to the right, or to the left when `by` is negative: from the one in which `span` starts to the one in which
    /// it ends. Nothing if a line has no room.
    pub(super) fn shift(&self, span: Span, by: isize) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        let mut at = self.line_start(span.start);
        while at < span.end {
            let end = self.line_end(at);
            let line = &self.source[at..end];
            let spaces = line.len() - line.trim_start_matches(' ').len();
            let is_comment = line[spaces..].starts_with('#');
            match by {
                _ if line.trim().is_empty() => {}
                1.. => edits.push(Edit::insert(at, " ".repeat(by.unsigned_abs()))),
                _ if spaces >= by.unsigned_abs() => {
                    edits.push(Edit::delete(Span::new(at, at + by.unsigned_abs())))
                }
                _ if is_comment => edits.push(Edit::delete(Span::new(at, at + spaces))),
                _ => return None,
            }
            at = self.next_line(end);
        }
        Some(edits)
    }

    /// The start of the line after the one that ends here.
    pub(super) fn next_line(&self, end: usize) -> usize {
        match &self.source.as_bytes()[end..] {
            [b'\r', b'\n', ..] => end + 2,
            [] => end,
            _ => end + 1,
        }
    }

    /// Behind the colon of a key; nothing if it is not on the key's line.
    pub(super) fn behind_colon(&self, key: Span) -> Option<usize> {
        let rest = &self.source[key.end..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        rest[blanks..].starts_with(':').then_some(key.end + blanks + 1)
    }

    /// A key or value under another name, in the same quotes.
    pub(super) fn renamed(&self, span: Span, name: &str) -> Edit {
        match self.text(span).as_bytes().first() {
            Some(b'"' | b'\'') if span.end - span.start >= 2 => {
                Edit::replace(Span::new(span.start + 1, span.end - 1), name)
            }
            _ => Edit::replace(span, name),
        }
    }

    /// A key with something put before its name.
    pub(super) fn prefixed(&self, key: Span, prefix: &str) -> Edit {
        match self.text(key).starts_with(['"', '\'']) {
            true => Edit::insert(key.start + 1, prefix),
            false => Edit::insert(key.start, prefix),
        }
    }

    /// A whole entry on one line: `key: value`.
    pub(super) fn entry_span(&self, entry: &Entry) -> Span {
        Span::new(entry.key_span.start, entry.value.span.end.max(entry.key_span.end))
    }

    /// Takes an entry out of its map. Nothing if a comment would be lost or the map would be left without a first line.
    pub(super) fn remove(&self, owner: &Node, entry: &Entry) -> Option<Edit> {
        let entries = owner.as_map()?;
        let index = entries.iter().position(|known| known.key == entry.key)?;
        let span = match owner.style() {
            Style::Flow => match (index.checked_sub(1), entries.get(index + 1)) {
                (_, Some(next)) => Span::new(entry.key_span.start, next.key_span.start),
                (Some(before), None) => {
                    Span::new(self.entry_span(&entries[before]).end, self.entry_span(entry).end)
                }
                (None, None) => return None,
            },
            _ => {
                let whole = self.entry_span(entry);
                if !self.starts_line(whole.start) || !self.rest_of_line(whole.end).trim().is_empty() {
                    return None;
                }
                Span::new(self.line_start(whole.start), self.next_line(self.line_end(whole.end)))
            }
        };
        let is_flow_over_lines = owner.style() == Style::Flow && !self.is_one_line(span);
        (span.start < span.end && !is_flow_over_lines).then(|| Edit::delete(span))
    }
}
