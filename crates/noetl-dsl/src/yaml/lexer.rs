//! The little reading of the source we do ourselves: over what stands between two values, and how deep brackets nest.
//!
//! The parser reads a bracketed list or map to its end before it reports its start, with work that grows with the depth at
//! every token. So the depth is measured here first, by the parser's own rules for quotes, comments and plain text; a test
//! holds the two readings together.

/// The offset of the next value, from a place between two of them: past blanks, comments, `-`, `?` and `:` indicators,
/// anchors, tags, directives and document markers.
pub(super) fn skip_to_content(source: &str, from: usize) -> usize {
    skip(source, from, false)
}

/// As [`skip_to_content`], but stops at the `-` of a list too.
pub(super) fn skip_to_dash(source: &str, from: usize) -> usize {
    skip(source, from, true)
}

fn skip(source: &str, from: usize, stop_at_dash: bool) -> usize {
    let bytes = source.as_bytes();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'#' => at = line_end(bytes, at),
            b'-' if stop_at_dash => break,
            b'-' | b'?' | b':' if is_blank_or_end(bytes.get(at + 1)) => at += 1,
            b'&' | b'!' => at = word_end(bytes, at + 1),
            b'%' if is_line_start(bytes, at) => at = line_end(bytes, at),
            b'-' | b'.' if is_line_start(bytes, at) && is_document_marker(bytes, at) => at += 3,
            _ if bytes[at..].starts_with("\u{FEFF}".as_bytes()) => at += '\u{FEFF}'.len_utf8(),
            _ => break,
        }
    }
    at
}

/// A list or map in brackets, as far as it can be told without understanding it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Brackets {
    /// Behind the bracket that closes it; the end of the source if none does.
    pub(super) end: usize,
    pub(super) is_closed: bool,
}

/// Why brackets are not worth reading, and where that shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TooMuch {
    Depth(usize),
    /// Every comma stands for at least one value.
    Commas(usize),
}

/// Reads a list or map in brackets from its opening one, and stops where it is too much.
pub(super) fn measure_brackets(
    source: &str,
    start: usize,
    max_depth: usize,
    max_commas: usize,
) -> Result<Brackets, TooMuch> {
    let bytes = source.as_bytes();
    let mut depth = 0;
    let mut commas = 0;
    let mut at = start;
    // Where a `:` may be followed by its value at once, as in `{"a":1}`.
    let mut adjacent_value_at = None;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                if depth > max_depth {
                    return Err(TooMuch::Depth(at));
                }
                at += 1;
            }
            b']' | b'}' => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Ok(Brackets { end: at, is_closed: true });
                }
                adjacent_value_at = Some(skip_blanks(bytes, at));
            }
            b',' => {
                commas += 1;
                if commas > max_commas {
                    return Err(TooMuch::Commas(at));
                }
                at += 1;
            }
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'#' => at = line_end(bytes, at),
            b'"' | b'\'' => {
                at = quoted_end(bytes, at);
                adjacent_value_at = Some(skip_blanks_and_comments(bytes, at));
            }
            b'&' | b'*' | b'!' => at = word_end(bytes, at + 1),
            b'?' if is_blank_or_end(bytes.get(at + 1)) => at += 1,
            b':' if is_blank_or_end(bytes.get(at + 1)) || bytes.get(at + 1).is_some_and(is_flow) => at += 1,
            b':' if adjacent_value_at == Some(at) => at += 1,
            _ => at = plain_end(bytes, at),
        }
    }
    Ok(Brackets { end: bytes.len(), is_closed: false })
}

/// Behind the bracket that closes a list or map, from where the parser says that it ends: there, or at a trailing comma.
pub(super) fn closing_bracket_end(source: &str, from: usize) -> Option<usize> {
    let bytes = source.as_bytes();
    let at = match bytes.get(from)? {
        b',' => skip_blanks_and_comments(bytes, from + 1),
        _ => from,
    };
    matches!(bytes.get(at), Some(b']' | b'}')).then_some(at + 1)
}

/// Behind the quote that closes the one at `start`; the end of the source if none does.
pub(super) fn quoted_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b'\\' if quote == b'"' => 2,
            b'\'' if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => 2,
            _ if byte == quote => return at + 1,
            _ => 1,
        };
    }
    bytes.len()
}

/// The end of plain text inside brackets, which goes on over line breaks. Past at least one byte.
fn plain_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        let ends = match byte {
            _ if is_flow(&byte) => true,
            b':' => is_blank_or_end(bytes.get(at + 1)) || bytes.get(at + 1).is_some_and(is_flow),
            b'#' => at > start && is_blank_or_end(bytes.get(at - 1)),
            _ => false,
        };
        if ends && at > start {
            break;
        }
        at += 1;
    }
    at
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    let length = bytes[from..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    length.map_or(bytes.len(), |length| from + length)
}

fn word_end(bytes: &[u8], from: usize) -> usize {
    let length = bytes[from..].iter().position(|byte| is_blank_or_end(Some(byte)) || is_flow(byte));
    length.map_or(bytes.len(), |length| from + length)
}

fn skip_blanks(bytes: &[u8], from: usize) -> usize {
    let length = bytes[from..].iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    length.map_or(bytes.len(), |length| from + length)
}

fn skip_blanks_and_comments(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'#' => at = line_end(bytes, at),
            _ => break,
        }
    }
    at
}

fn is_blank_or_end(byte: Option<&u8>) -> bool {
    matches!(byte, None | Some(b' ' | b'\t' | b'\n' | b'\r'))
}

fn is_flow(byte: &u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

fn is_line_start(bytes: &[u8], at: usize) -> bool {
    at == 0 || matches!(bytes[at - 1], b'\n' | b'\r')
}

fn is_document_marker(bytes: &[u8], at: usize) -> bool {
    (bytes[at..].starts_with(b"---") || bytes[at..].starts_with(b"...")) && is_blank_or_end(bytes.get(at + 3))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::super::{Data, Limits, Node, Style, parse};
    use super::*;

    #[test]
    fn what_stands_between_values_is_skipped() {
        for (before, content) in [
            ("  - # note [\n  - ", "[a]"),
            (": &anchor !!map\n    # {\n    ", "{a: 1}"),
            ("%YAML 1.2\n---\n", "a: 1"),
            ("\u{FEFF}- ", "1"),
            ("- ? ", "-1"),
            (": ", "|\n  [[["),
        ] {
            assert_eq!(skip_to_content(&format!("{before}{content}"), 0), before.len(), "{before}");
        }
    }

    #[test]
    fn brackets_are_measured_past_quotes_comments_and_plain_text() {
        for source in [
            r#"[a, {b: [1]}]"#,
            r#"{"a":"]]", 'it''s }': [ "\"]" ]}"#,
            "[ a\"b, c # ]]\n , d]",
            "[a#b, {x: y}]",
            "{a: &x\"y [1], b: *x }",
            "[ :\"a, [b]]",
            "[http://x, [b]]",
        ] {
            let text = format!("{source} ]] tail");
            assert_eq!(
                measure_brackets(&text, 0, 3, 10),
                Ok(Brackets { end: source.len(), is_closed: true }),
                "{source}"
            );
        }
    }

    /// How deep brackets nest in a tree.
    fn brackets_in(node: &Node) -> usize {
        let inner = match &node.data {
            Data::List(items) => items.iter().map(brackets_in).max(),
            Data::Map(entries) => entries.iter().map(|entry| brackets_in(&entry.value)).max(),
            _ => None,
        };
        inner.unwrap_or(0) + usize::from(node.style() == Style::Flow)
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn brackets_are_read_as_the_parser_reads_them(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "[", "[", "{", "]", "}", ", ", ",", ": ", ":", " ", "\n ", "\"", "'", "''", "\\\"", "#", " # ", "a", "é",
                    "&a ", "*a", "!!str ", "!", "? ", "-", "- ", "\t", "|", "{{ x }}", "\"a\":", "\r\n ", "\n",
                ]),
                1..14,
            ),
            closing in prop::collection::vec(prop::sample::select(vec!["]", "}", "\"]", "'}", "\n]"]), 0..5),
            opening in prop::sample::select(vec!["[", "{"]),
        ) {
            let source = format!("{opening}{}{}", words.concat(), closing.concat());
            let Ok(document) = parse(&source, &Limits::default()) else { return Ok(()) };
            // The tree has only one of two equal keys.
            prop_assume!(document.problems.is_empty());
            let depth = brackets_in(&document.root);
            let whole = Brackets { end: document.root.span.end, is_closed: true };
            prop_assert_eq!(measure_brackets(&source, 0, depth, 99), Ok(whole), "{:?}", source);
            let less = measure_brackets(&source, 0, depth - 1, 99);
            prop_assert!(matches!(less, Err(TooMuch::Depth(_))), "{:?}", source);
        }
    }

    #[test]
    fn too_much_is_refused_where_it_shows() {
        assert_eq!(measure_brackets("[[{a: [", 0, 3, 0), Err(TooMuch::Depth(6)));
        assert_eq!(measure_brackets("[[[", 0, 3, 0), Ok(Brackets { end: 3, is_closed: false }));
        assert_eq!(measure_brackets("[a, ',', b, c]", 0, 1, 2), Err(TooMuch::Commas(10)));
    }
}
