//! Where a scalar itself stands: the parser's span has anchors and tags before it, and blanks and comments after it.

use saphyr_parser::ScalarStyle;

use super::node::Form;
use super::{Span, Style, lexer};

/// A scalar as the parser found it.
pub(super) struct Found<'s> {
    pub(super) source: &'s str,
    /// What the parser says. For a block, its text without the header.
    pub(super) span: Span,
    /// The first value after the previous event: the `|` or `>` of a block.
    pub(super) header: usize,
    pub(super) has_properties: bool,
}

impl Found<'_> {
    pub(super) fn scalar(&self, text: &str, style: ScalarStyle) -> (Span, Form) {
        match style {
            ScalarStyle::Plain if text.is_empty() => self.absent(),
            ScalarStyle::Plain => {
                let start = self.content_start();
                (Span::new(start, self.span.end.max(start)), self.form(Style::Plain, start))
            }
            ScalarStyle::SingleQuoted => self.quoted(Style::SingleQuoted),
            ScalarStyle::DoubleQuoted => self.quoted(Style::DoubleQuoted),
            ScalarStyle::Literal => self.block(Style::Literal, text),
            ScalarStyle::Folded => self.block(Style::Folded, text),
        }
    }

    fn absent(&self) -> (Span, Form) {
        let at = match self.source.as_bytes().get(self.span.start) {
            Some(b':') => self.span.start + 1,
            _ if self.has_properties => self.span.end,
            _ => self.span.start,
        };
        (Span::at(at), self.form(Style::Absent, at))
    }

    fn quoted(&self, style: Style) -> (Span, Form) {
        let start = self.content_start();
        let end = lexer::quoted_end(self.source.as_bytes(), start);
        (Span::new(start, end), self.form(style, start + 1))
    }

    fn block(&self, style: Style, text: &str) -> (Span, Form) {
        let header = self.header.min(self.span.end);
        let end = self.source[..self.span.end].trim_end_matches([' ', '\t', '\n', '\r']).len();
        let text_start = block_text_start(self.source, header, text);
        (Span::new(header, end.max(header)), self.form(style, text_start))
    }

    fn form(&self, style: Style, text_start: usize) -> Form {
        Form { style, text_start, has_properties: self.has_properties, is_aliased: false }
    }

    fn content_start(&self) -> usize {
        match self.has_properties {
            true => lexer::skip_to_content(self.source, self.span.start),
            false => self.span.start,
        }
    }
}

/// Behind the indentation of a block's first line that is not blank. Spaces that belong to the text are known from it.
fn block_text_start(source: &str, header: usize, text: &str) -> usize {
    let is_blank = |line: &&str| line.trim_start_matches(' ').trim_end_matches(['\n', '\r']).is_empty();
    let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let in_text = text.split_inclusive('\n').find(|line| !is_blank(line)).map_or(0, spaces);
    let mut at = header;
    for line in source[header..].split_inclusive(['\n', '\r']) {
        if at > header && !is_blank(&line) {
            return at + spaces(line).saturating_sub(in_text);
        }
        at += line.len();
    }
    header
}
