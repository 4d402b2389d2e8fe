//! From places in a decoded text back to the source.
//!
//! The text is decoded a second time, escapes and line folding included, until the wanted place is reached. That happens only
//! for the few texts that have something to report, so nodes carry no tables.

use std::ops::ControlFlow;

use super::{Span, Style};
use crate::positions::floor_char_boundary;

/// A text as it stands in its source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written<'s> {
    pub(super) source: &'s str,
    /// Quotes and the header of a block included.
    pub(super) span: Span,
    pub(super) style: Style,
    /// Where the text starts: behind the quote, behind the indentation of a block's first line that is not blank.
    pub(super) text_start: usize,
}

impl<'s> Written<'s> {
    /// The offsets in the source of bytes of the decoded text, in one reading of it. Always within the span and between two
    /// characters.
    pub(super) fn source_offsets(&self, text_offsets: &[usize]) -> Vec<usize> {
        let mut wanted: Vec<usize> = (0..text_offsets.len()).collect();
        wanted.sort_by_key(|index| text_offsets[*index]);
        let mut wanted = wanted.into_iter().peekable();
        let mut found = vec![self.text_end(); text_offsets.len()];
        let mut decoded = 0;
        let _ = self.decode(&mut |character, offset| {
            decoded += character.len_utf8();
            while let Some(index) = wanted.next_if(|index| text_offsets[*index] < decoded) {
                found[index] = offset;
            }
            if wanted.peek().is_none() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let within = |offset: usize| offset.clamp(self.span.start, self.span.end);
        found.into_iter().map(|offset| floor_char_boundary(self.source, within(offset))).collect()
    }

    /// Where the text ends: before the closing quote.
    fn text_end(&self) -> usize {
        match self.style {
            Style::SingleQuoted | Style::DoubleQuoted => self.span.end.saturating_sub(1).max(self.text_start),
            _ => self.span.end,
        }
    }

    /// Gives every character of the text with its offset in the source. What a block's trailing lines add is left out.
    fn decode(&self, each: &mut dyn FnMut(char, usize) -> ControlFlow<()>) -> ControlFlow<()> {
        match self.style {
            Style::Plain | Style::SingleQuoted | Style::DoubleQuoted => self.decode_flow(each),
            Style::Literal | Style::Folded => self.decode_block(each),
            Style::Absent | Style::Flow | Style::Block => ControlFlow::Continue(()),
        }
    }

    /// Plain and quoted text: a line break with the blanks around it is one space, each further one is a line break.
    fn decode_flow(&self, each: &mut dyn FnMut(char, usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let end = self.text_end();
        let mut at = self.text_start;
        while let Some(first) = self.source.get(at..end).and_then(|rest| rest.chars().next()) {
            match first {
                ' ' | '\t' | '\n' | '\r' => {
                    let white = white_run(&self.source[at..end]);
                    let breaks = line_breaks(white);
                    match breaks.as_slice() {
                        [] => each_char(white, at, each)?,
                        [only] => each(' ', at + only)?,
                        [_, further @ ..] => each_break(further, at, each)?,
                    }
                    at += white.len();
                }
                '\'' if self.style == Style::SingleQuoted => {
                    each('\'', at)?;
                    at += 2;
                }
                '\\' if self.style == Style::DoubleQuoted => {
                    let behind = at + 1;
                    if self.source[behind..end].starts_with(['\n', '\r']) {
                        let white = white_run(&self.source[behind..end]);
                        each_break(line_breaks(white).get(1..).unwrap_or_default(), behind, each)?;
                        at = behind + white.len();
                    } else {
                        let (character, length) = escape(&self.source[at..end]);
                        each(character, at)?;
                        at += length;
                    }
                }
                other => {
                    each(other, at)?;
                    at += other.len_utf8();
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// `|` keeps line breaks. `>` makes the one between two lines a space, unless one of them is indented further.
    fn decode_block(&self, each: &mut dyn FnMut(char, usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let indentation = self.block_indentation();
        let header = first_line(&self.source[self.span.start..self.span.end]);
        let mut at = self.span.start + header.with_break;
        // The break that ended the last line with content, those of the empty lines since, and whether that line was indented.
        let mut last_break = None;
        let mut empty_lines = Vec::new();
        let mut was_indented = false;
        while at < self.span.end {
            let line = first_line(&self.source[at..self.span.end]);
            let spaces = line.text.len() - line.text.trim_start_matches(' ').len();
            let content = &line.text[spaces.min(indentation)..];
            let break_at = at + line.text.len();
            if content.is_empty() {
                empty_lines.push(break_at);
                at += line.with_break;
                continue;
            }
            let is_indented = content.starts_with([' ', '\t']);
            let folds = self.style == Style::Folded && !was_indented && !is_indented;
            match last_break {
                Some(last) if folds && empty_lines.is_empty() => each(' ', last)?,
                Some(last) if !folds => each('\n', last)?,
                _ => {}
            }
            each_break(&empty_lines, 0, each)?;
            empty_lines.clear();
            each_char(content, at + spaces.min(indentation), each)?;
            last_break = Some(break_at);
            was_indented = is_indented;
            at += line.with_break;
        }
        ControlFlow::Continue(())
    }

    fn block_indentation(&self) -> usize {
        let before = &self.source[..self.text_start];
        self.text_start - before.rfind(['\n', '\r']).map_or(0, |at| at + 1)
    }
}

fn each_char(
    text: &str,
    offset: usize,
    each: &mut dyn FnMut(char, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    text.char_indices().try_for_each(|(at, character)| each(character, offset + at))
}

fn each_break(
    breaks: &[usize],
    offset: usize,
    each: &mut dyn FnMut(char, usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    breaks.iter().try_for_each(|at| each('\n', offset + at))
}

/// The character an escape stands for, and the length of the escape.
fn escape(rest: &str) -> (char, usize) {
    let coded = |digits: usize| {
        let code = rest.get(2..2 + digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        (code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER), 2 + digits)
    };
    let escaped = rest[1..].chars().next().unwrap_or('\\');
    let character = match escaped {
        'x' => return coded(2),
        'u' => return coded(4),
        'U' => return coded(8),
        '0' => '\0',
        'a' => '\x07',
        'b' => '\x08',
        't' => '\t',
        'n' => '\n',
        'v' => '\x0b',
        'f' => '\x0c',
        'r' => '\r',
        'e' => '\x1b',
        'N' => '\u{85}',
        '_' => '\u{A0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        itself => itself,
    };
    (character, 1 + escaped.len_utf8())
}

/// Blanks and line breaks at the start of a text.
fn white_run(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len()]
}

/// The offsets of the line breaks in a text, `\r\n` being one.
fn line_breaks(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_break = |at: &usize| match bytes[*at] {
        b'\r' => true,
        b'\n' => *at == 0 || bytes[at - 1] != b'\r',
        _ => false,
    };
    (0..bytes.len()).filter(is_break).collect()
}

struct Line<'s> {
    text: &'s str,
    with_break: usize,
}

fn first_line(text: &str) -> Line<'_> {
    let length = text.find(['\n', '\r']).unwrap_or(text.len());
    let break_length = match &text.as_bytes()[length..] {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    };
    Line { text: &text[..length], with_break: length + break_length }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::super::{Limits, Node, parse};
    use super::*;

    /// The value of `key` in a source.
    fn text_of(source: &str) -> Node {
        parse(source, &Limits::default()).expect(source).root.get("key").expect(source).clone()
    }

    fn decoded(source: &str, node: &Node) -> String {
        let mut text = String::new();
        let _ = node.written(source).decode(&mut |character, _| {
            text.push(character);
            ControlFlow::Continue(())
        });
        text
    }

    /// `^` in the source marks the place that the first `word` of the text must lead to.
    #[track_caller]
    fn check(marked: &str, word: &str) {
        let expected = marked.find('^').expect("a mark");
        let source = marked.replace('^', "");
        let node = text_of(&source);
        let text = node.as_str().expect("text");
        let place = text.find(word).unwrap_or_else(|| panic!("{word:?} in {text:?}"));
        assert_eq!(node.source_offset(&source, place), expected, "{source:?}");
    }

    #[test]
    fn plain_text_is_where_it_stands() {
        check("key: some ^text # text", "text");
        check("key: !!str ^12", "12");
        check("key: &a ünï ^text", "text");
    }

    #[test]
    fn plain_text_of_several_lines_is_found_on_its_line() {
        check("key: one\n  two\n\n  ^three\nb: 1", "three");
    }

    #[test]
    fn quoted_text_is_found_past_its_escapes() {
        check("key: 'it''s ^here' # here", "here");
        check(r#"key: "\"\u00e9\x41\t\\ ^here""#, "here");
        check("key: \"a\\\n    b\n\n   ^here\"", "here");
        check("key: &x 'a ^here'", "here");
    }

    #[test]
    fn blocks_are_found_past_their_indentation() {
        check("key: |\n  one\n    two\n\n  ^three\n", "three");
        check("key: |\n  one\n    ^two\n", "two");
        check("key: |2\n    ^one\n  two\n", "one");
        check("key: >-\n  one\n  two\n\n  three\n    four\n  ^five\n", "five");
        check("key: > # note\n\n\n  ^one\n", "one");
        check("key: &a |2+\n    ^one\n\n\nb: 1", "one");
        check("key: |\r\n  one\r\n  ^two\r\n", "two");
    }

    #[test]
    fn breaks_are_found_where_they_stand() {
        check("key: |\n  one^\n  two\n", "\n");
        check("key: >\n  one^\n  two\n", " ");
        check("key: one^\n  two", " ");
    }

    #[test]
    fn several_places_are_found_at_once_in_any_order() {
        let source = "key: 'it''s\n  here'";
        let node = text_of(source);
        let offsets = [7, 0, 99, 3, 7];
        let one_by_one: Vec<_> = offsets.iter().map(|offset| node.source_offset(source, *offset)).collect();
        assert_eq!(node.source_offsets(source, &offsets), one_by_one);
        assert_eq!(one_by_one, [16, 6, 18, 10, 16]);
    }

    #[test]
    fn the_end_of_a_text_is_before_its_closing_quote() {
        let source = "key: 'abc' # note\nb: 1";
        let node = text_of(source);
        assert_eq!(node.source_offset(source, 3), source.find("' #").expect("quote"));
        assert_eq!(node.source_offset(source, 99), source.find("' #").expect("quote"));
    }

    #[test]
    fn the_first_line_of_a_block_is_the_one_after_its_key() {
        for (source, line) in [
            ("a: 1\nkey: |\n  code\n", 3),
            ("key: |\n\n  code\n", 2),
            ("key: code", 1),
            ("key:\n  code", 2),
            ("key: |", 1),
            ("key: &a\n  |\n  code", 3),
        ] {
            assert_eq!(text_of(source).first_text_line(source), line, "{source:?}");
        }
    }

    fn lines() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec![
            "a", "é", "'", "\"", "\\", "{{ x }}", " ", "  ", "\t", ":", "# ", "b c",
        ]);
        let line = prop::collection::vec(word, 0..4).prop_map(|words| words.concat());
        prop::collection::vec(line, 1..6).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn decoding_again_gives_the_parsers_text(
            lines in lines(),
            header in prop::sample::select(vec!["|", ">", "|-", ">+", "|2", ">2-", "'", "\"", ""]),
            property in prop::sample::select(vec!["", "&a ", "!!str "]),
            crlf: bool,
        ) {
            let body = lines.replace('\n', "\n  ");
            let source = match header {
                "'" => format!("key: {property}'{}'\nlast: 1\n", body.replace('\'', "''")),
                "\"" => format!("key: {property}\"{}\"\nlast: 1\n", body.replace('"', "\\\"").replace("\\{", "{")),
                "" => format!("key: {property}{body}\nlast: 1\n"),
                block => format!("key: {property}{block}\n  {body}\nlast: 1\n"),
            };
            let source = if crlf { source.replace('\n', "\r\n") } else { source };
            let Ok(document) = parse(&source, &Limits::default()) else { return Ok(()) };
            let Some(node) = document.root.get("key") else { return Ok(()) };
            let Some(text) = node.as_str() else { return Ok(()) };
            let again = decoded(&source, node);
            prop_assert!(text.starts_with(&again), "{source:?}: {again:?} is not the start of {text:?}");
            prop_assert!(text[again.len()..].trim().is_empty(), "{source:?}: {again:?} is too little of {text:?}");
        }
    }
}
