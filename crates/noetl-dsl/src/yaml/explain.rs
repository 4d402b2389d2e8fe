//! The parser's complaints, put into words for people who don't know YAML's grammar.

use super::{Span, YamlError};
use crate::positions::floor_char_boundary;

/// An error for what the parser said about a place. `unclosed` is a bracket before that place which nothing closes.
pub(super) fn explain(source: &str, offset: usize, complaint: &str, unclosed: Option<usize>) -> YamlError {
    let at = floor_char_boundary(source, offset);
    let character = source[at..].chars().next();
    let span = Span::new(at, at + character.map_or(0, char::len_utf8));
    if let Some(bracket) = unclosed.filter(|_| !complaint.contains("quoted scalar")) {
        let message = format!("this '{}' is never closed", &source[bracket..=bracket]);
        return YamlError::new(Span::new(bracket, bracket + 1), message);
    }
    match complaint {
        "mapping values are not allowed in this context" => colon(source, span),
        "simple key expect ':'" | "simple key expected" => line_without_key(source, at),
        _ if complaint.contains("tab") && complaint.contains("indent")
            || complaint.starts_with("tabs disallowed")
            || complaint.ends_with("found a tab")
            || complaint.ends_with("with a tab") =>
        {
            tab(source, at)
        }
        _ if complaint.starts_with("unexpected character") => {
            let message = format!("a value cannot start with '{}'", character.unwrap_or(' '));
            YamlError::new(span, message).with_help("put the value in quotes")
        }
        _ => match in_words(complaint) {
            Some((message, "")) => YamlError::new(span, message),
            Some((message, help)) => YamlError::new(span, message).with_help(help),
            None => YamlError::new(span, complaint),
        },
    }
}

/// A message and a help for complaints that need no look at the source. Rare ones are clear enough as they are.
fn in_words(complaint: &str) -> Option<(&'static str, &'static str)> {
    Some(match complaint {
        "invalid indentation"
        | "invalid indentation in flow construct"
        | "invalid indentation for anchor"
        | "wrongly indented line in block scalar"
        | "while parsing a block mapping, did not find expected key"
        | "while parsing a block collection, did not find expected '-' indicator" => (
            "this line does not fit the indentation of the lines above it",
            "keys of one map, and the dashes of one list, must start in the same column",
        ),
        "invalid indentation in quoted scalar" => (
            "this text in quotes goes on in a line that is not indented",
            "close the quote, or indent every line of the text",
        ),
        "block sequence entries are not allowed in this context" => (
            "a list item cannot start here",
            "put each '- item' on a line of its own, under the key it belongs to",
        ),
        "\"-\" is only valid inside a block" | "plain scalar cannot start with '-' followed by ,[]{}" => (
            "a list item cannot start with '-' inside brackets",
            "separate the items with ',', or write the list without brackets",
        ),
        "mapping keys are not allowed in this context" => ("a '? key' cannot start here", ""),
        "misplaced bracket" => ("this bracket closes nothing", "remove it, or put the text in quotes"),
        "while parsing a flow mapping, did not find expected ',' or '}'" => (
            "expected ',' or '}' here",
            r#"put text with special characters in quotes, a template for instance: "{{ ... }}""#,
        ),
        "while parsing a flow sequence, expected ',' or ']'" => (
            "expected ',' or ']' here",
            r#"put text with special characters in quotes, a template for instance: "{{ ... }}""#,
        ),
        "illegal placement of ':' indicator" | "':' may not precede any of `[{` in flow mapping" => {
            ("a ':' cannot stand here", "put a space after it, and its key on the same line")
        }
        "while parsing a node, did not find expected node content" => ("expected a value here", ""),
        "while scanning a quoted scalar, found unexpected end of stream"
        | "while scanning a quoted scalar, found unexpected document indicator" => {
            ("this text starts with a quote that is never closed", "")
        }
        "invalid trailing content after double-quoted scalar" => (
            "text follows a closing quote",
            r#"put the whole value in quotes; a quote inside is '' in single quotes and \" in double quotes"#,
        ),
        "while parsing a quoted scalar, found unknown escape character" => (
            "this text in double quotes has a backslash that starts no known escape",
            r"write \\ for a backslash, or use single quotes",
        ),
        "while parsing a quoted scalar, did not find expected hexadecimal number"
        | "while parsing a quoted scalar, found invalid Unicode character escape code" => (
            "this text in double quotes has an escape that is no character",
            r"write \\ for a backslash, or use single quotes",
        ),
        "while parsing node, found unknown anchor" => (
            "this alias names an anchor that is not defined above it",
            "put the value in quotes if it is text that starts with '*'",
        ),
        "while scanning an anchor or alias, did not find expected alphabetic or numeric character" => {
            ("a value cannot start with '*' or '&', which name anchors", "put the value in quotes")
        }
        "comment intercepting the multiline text" => {
            ("a comment stands between two lines of one text", "move the comment, or put the text in quotes")
        }
        "while scanning a block scalar, did not find expected comment or line break" => (
            "text follows '|' or '>' on the same line",
            "start the text on the next line, indented, or put it in quotes",
        ),
        "comments must be separated from other tokens by whitespace" => {
            ("a comment needs a space before its '#'", "put the value in quotes if the '#' belongs to it")
        }
        "a byte order mark must not appear inside a document" => {
            ("a byte order mark inside the text", "remove the invisible character U+FEFF")
        }
        "did not find expected <document start>" => ("expected '---' before this line", ""),
        "unexpected eof" | "did not find expected next token" | "unexpected end of plain scalar" => {
            ("the text ends in the middle of something", "check for brackets and quotes that are not closed")
        }
        _ => return None,
    })
}

/// A colon where no key can be: `desc: first: second`, or a key under a line that has its value already.
fn colon(source: &str, span: Span) -> YamlError {
    let line = Line::around(source, span.start);
    let before = source[line.start..span.start].trim_start().trim_start_matches("- ");
    if let Some((key, _)) = before.split_once(": ") {
        let value = line.text(source).split_once(": ").map_or("", |(_, value)| value.trim());
        let help = match (value.contains('"') || value.contains('\\'), value.contains(['\'', '#'])) {
            _ if value.contains(" #") || value.is_empty() => "put the value in quotes".to_owned(),
            (false, _) => format!("put it in quotes: {key}: \"{value}\""),
            (true, false) => format!("put it in quotes: {key}: '{value}'"),
            (true, true) => "put the value in quotes".to_owned(),
        };
        return YamlError::new(span, "a plain value cannot contain ': '").with_help(help);
    }
    let above = line.above(source).map_or("", |above| above.text(source));
    let error = YamlError::new(span, "a key cannot stand here");
    match above.trim_end().contains(": ") {
        true => error.with_help(
            "the line above has its value already; start both keys in the same column, or remove that value",
        ),
        false => {
            error.with_help("the line above is no key; check it for a missing ':' and this one's indentation")
        }
    }
}

/// Something that should have been a key, and is only known not to be one when the next line comes.
fn line_without_key(source: &str, at: usize) -> YamlError {
    let here = Line::around(source, at);
    let line = match source[here.start..at].trim().is_empty() {
        true => here.above(source).unwrap_or(here),
        false => here,
    };
    let text = line.text(source);
    let start = line.start + (text.len() - text.trim_start().len());
    YamlError::new(Span::new(start, start + text.trim().len()), "expected 'key: value' or '- item' here")
        .with_help("end the key with ':', or indent the line if it belongs to the text above")
}

fn tab(source: &str, at: usize) -> YamlError {
    let line = Line::around(source, at);
    let indentation = |line: Line| {
        let text = line.text(source);
        let blank = &text[..text.len() - text.trim_start_matches([' ', '\t']).len()];
        blank.find('\t').map(|tab| line.start + tab)
    };
    let found = indentation(line).or_else(|| line.below(source).and_then(indentation));
    let span = found.map_or(Span::at(at), |tab| Span::new(tab, tab + 1));
    YamlError::new(span, "a tab cannot be used for indentation").with_help("use spaces")
}

/// A line's place, without its break.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    end: usize,
}

impl Line {
    fn around(source: &str, at: usize) -> Line {
        let start = source[..at].rfind(['\n', '\r']).map_or(0, |found| found + 1);
        let end = source[at..].find(['\n', '\r']).map_or(source.len(), |found| at + found);
        Line { start, end }
    }

    fn text(self, source: &str) -> &str {
        &source[self.start..self.end]
    }

    /// The line before this one, blank ones and comments left out.
    fn above(self, source: &str) -> Option<Line> {
        let mut line = self;
        while line.start > 0 {
            line = Line::around(source, line.start - 1);
            let text = line.text(source).trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Some(line);
            }
        }
        None
    }

    fn below(self, source: &str) -> Option<Line> {
        let behind = source[self.end..].find(|character| !matches!(character, '\n' | '\r'))?;
        Some(Line::around(source, self.end + behind))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, parse};

    /// `^` marks where the error must be.
    #[track_caller]
    fn check(marked: &str, message: &str, help: &str) {
        let expected = marked.find('^').expect("a mark");
        let source = marked.replacen('^', "", 1);
        let error = parse(&source, &Limits::default()).expect_err(&source);
        assert_eq!(
            (error.message.as_str(), error.help.as_deref().unwrap_or("")),
            (message, help),
            "{source}"
        );
        assert_eq!(error.span.start, expected, "{source}");
    }

    #[test]
    fn a_colon_in_a_value_asks_for_quotes() {
        let message = "a plain value cannot contain ': '";
        check("- step: a\n  desc: first^: second\n", message, r#"put it in quotes: desc: "first: second""#);
        check("desc: say \"a^: b\"", message, r#"put it in quotes: desc: 'say "a: b"'"#);
        check("desc: it's \"a^: b\"", message, "put the value in quotes");
        check("- desc: a^: b # c: d", message, "put the value in quotes");
    }

    #[test]
    fn a_key_under_a_value_is_a_matter_of_indentation() {
        let message = "a key cannot stand here";
        check(
            "a: 1\n  b^: 2",
            message,
            "the line above has its value already; start both keys in the same column, or remove that value",
        );
        check(
            "a\nb^: 1",
            message,
            "the line above is no key; check it for a missing ':' and this one's indentation",
        );
    }

    #[test]
    fn a_line_without_a_key_is_shown_itself() {
        check(
            "a: b\n^foo\n# note\n\nc: d",
            "expected 'key: value' or '- item' here",
            "end the key with ':', or indent the line if it belongs to the text above",
        );
    }

    #[test]
    fn tabs_are_shown_where_they_are() {
        check("a:\n^\tb: 1", "a tab cannot be used for indentation", "use spaces");
        check("a:\n  b: |\n^\tx", "a tab cannot be used for indentation", "use spaces");
    }

    #[test]
    fn lines_out_of_column_are_refused() {
        let help = "keys of one map, and the dashes of one list, must start in the same column";
        for marked in ["a:\n  b: 1\n ^c: 2", "- a\n^b: 1", "a: |\n  x\n ^y"] {
            check(marked, "this line does not fit the indentation of the lines above it", help);
        }
    }

    #[test]
    fn templates_without_quotes_ask_for_them() {
        check("a: {^{ x }}", "a key must be text", r#"if this is a template, put it in quotes: "{{ ... }}""#);
        check(
            "a: {^{ x }} more",
            "a key must be text",
            r#"if this is a template, put it in quotes: "{{ ... }}""#,
        );
    }

    #[test]
    fn brackets_and_quotes_that_stay_open_are_shown_where_they_open() {
        check("a: ^[1, 2\nb: 3", "this '[' is never closed", "");
        check("a: ^{b: [1, 2]\n", "this '{' is never closed", "");
        check("a: ^\"text", "this text starts with a quote that is never closed", "");
        check(
            "a: ^\"text\nb: 1",
            "this text in quotes goes on in a line that is not indented",
            "close the quote, or indent every line of the text",
        );
    }

    #[test]
    fn values_that_start_with_an_indicator_ask_for_quotes() {
        for (marked, message) in [
            ("a: ^@b", "a value cannot start with '@'"),
            ("a: ^`b`", "a value cannot start with '`'"),
            ("a: ^%b", "a value cannot start with '%'"),
            ("a: ^* b", "a value cannot start with '*' or '&', which name anchors"),
        ] {
            check(marked, message, "put the value in quotes");
        }
    }

    #[test]
    fn text_behind_a_quote_says_how_to_write_quotes() {
        let help =
            r#"put the whole value in quotes; a quote inside is '' in single quotes and \" in double quotes"#;
        check("a: 'it'^s'", "text follows a closing quote", help);
    }
}
