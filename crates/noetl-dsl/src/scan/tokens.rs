//! The tokens of the parts of a template that are code.

/// A piece of an expression or statement, with its place in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Token<'t> {
    pub kind: TokenKind,
    pub text: &'t str,
    pub offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Name,
    /// The content of a string literal; a literal with escapes is given as written.
    Text,
    Number,
    Symbol,
}

/// An expression (`{{ }}`) or a statement (`{% %}`).
#[derive(Debug)]
pub(super) struct Section<'t> {
    pub is_statement: bool,
    pub tokens: Vec<Token<'t>>,
}

/// The sections of a template. Comments and raw blocks have none.
pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        let is_statement = match text.as_bytes().get(open + 1) {
            Some(b'{') => false,
            Some(b'%') => true,
            Some(b'#') => {
                at = text[open..].find("#}").map_or(text.len(), |end| open + end + 2);
                continue;
            }
            _ => {
                at = open + 1;
                continue;
            }
        };
        let (tokens, end) = tokenize(text, open + 2, Some(if is_statement { "%}" } else { "}}" }));
        at = end;
        if is_statement && tokens.first().is_some_and(|token| token.text == "raw") {
            at = end_of_raw(text, end);
            continue;
        }
        sections.push(Section { is_statement, tokens });
    }
    sections
}

/// A bare expression, as conditions may be written.
pub(super) fn expression(text: &str) -> Section<'_> {
    Section { is_statement: false, tokens: tokenize(text, 0, None).0 }
}

fn end_of_raw(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(open) = text[at..].find("{%").map(|found| at + found) {
        let (tokens, end) = tokenize(text, open + 2, Some("%}"));
        if tokens.first().is_some_and(|token| token.text == "endraw") {
            return end;
        }
        at = open + 2;
    }
    text.len()
}

/// Tokens up to the closing mark, and the offset behind it.
fn tokenize<'t>(text: &'t str, from: usize, close: Option<&str>) -> (Vec<Token<'t>>, usize) {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut braces = 0usize;
    let mut at = from;
    while at < bytes.len() {
        let rest = &text[at..];
        if let Some(close) = close
            && braces == 0
        {
            // A minus or plus sign before the mark trims space around the section.
            let trimmed = rest.strip_prefix(['-', '+']).filter(|rest| rest.starts_with(close));
            if rest.starts_with(close) || trimmed.is_some() {
                return (tokens, at + close.len() + usize::from(trimmed.is_some()));
            }
        }
        let letter = rest.chars().next().expect("the offset is before the end and on a boundary");
        let (kind, length) = match letter {
            letter if letter.is_whitespace() => {
                at += letter.len_utf8();
                continue;
            }
            '"' | '\'' => {
                let inner = at + 1;
                let end = end_of_string(bytes, inner, letter as u8);
                tokens.push(Token { kind: TokenKind::Text, text: &text[inner..end], offset: inner });
                at = (end + 1).min(bytes.len());
                continue;
            }
            letter if letter.is_alphabetic() || letter == '_' => {
                (TokenKind::Name, length_while(rest, |letter| letter.is_alphanumeric() || letter == '_'))
            }
            letter if letter.is_ascii_digit() => (
                TokenKind::Number,
                length_while(rest, |letter| letter.is_ascii_alphanumeric() || letter == '_'),
            ),
            '{' => {
                braces += 1;
                (TokenKind::Symbol, 1)
            }
            '}' => {
                braces = braces.saturating_sub(1);
                (TokenKind::Symbol, 1)
            }
            '=' | '!' | '<' | '>' | '*' | '/' if pairs_up(rest) => (TokenKind::Symbol, 2),
            letter => (TokenKind::Symbol, letter.len_utf8()),
        };
        tokens.push(Token { kind, text: &rest[..length], offset: at });
        at += length;
    }
    (tokens, bytes.len())
}

fn pairs_up(rest: &str) -> bool {
    ["==", "!=", "<=", ">=", "**", "//"].iter().any(|pair| rest.starts_with(pair))
}

fn end_of_string(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

fn length_while(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !belongs(letter)).unwrap_or(text.len())
}
