//! What the tokens of a template refer to.

use super::tokens::{Section, Token, TokenKind, expression, sections};
use crate::types::is_template;

/// Something a template refers to by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub kind: UseKind,
    pub name: String,
    /// The attribute that is asked of the name first, when it is written out: `token` in `keychain.token`.
    pub attribute: Option<String>,
    /// Where the name stands in the text, in bytes.
    pub offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseKind {
    /// A name that must come from somewhere.
    Name,
    /// A name whose author knows that it may be missing: it has a default or is asked whether it is defined.
    GuardedName,
    Filter,
    Test,
    Function,
}

/// What a text uses; nothing when it has no template syntax.
pub(crate) fn uses_in_template(text: &str) -> Vec<Use> {
    if !is_template(text) {
        return Vec::new();
    }
    uses_of(&sections(text))
}

/// As [`uses_in_template`], but a text without template syntax is an expression.
pub(crate) fn uses_in_condition(text: &str) -> Vec<Use> {
    if is_template(text) { uses_in_template(text) } else { uses_of(&[expression(text)]) }
}

const KEYWORDS: &[&str] = &[
    "and",
    "or",
    "not",
    "in",
    "is",
    "if",
    "else",
    "true",
    "false",
    "none",
    "True",
    "False",
    "None",
    "recursive",
    "null",
];

const STATEMENTS: &[&str] = &[
    "if",
    "elif",
    "else",
    "endif",
    "for",
    "endfor",
    "set",
    "endset",
    "with",
    "endwith",
    "macro",
    "endmacro",
    "filter",
    "endfilter",
    "call",
    "endcall",
    "do",
    "break",
    "continue",
    "block",
    "endblock",
    "autoescape",
    "endautoescape",
];

fn uses_of(sections: &[Section<'_>]) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut locals: Vec<&str> = vec!["loop", "self", "caller"];
    for section in sections {
        section_uses(section, &mut locals, &mut uses);
    }
    uses.retain(|found| {
        matches!(found.kind, UseKind::Filter | UseKind::Test)
            || !locals.iter().any(|local| *local == found.name)
    });
    uses
}

fn section_uses<'t>(section: &Section<'t>, locals: &mut Vec<&'t str>, uses: &mut Vec<Use>) {
    let mut tokens = section.tokens.as_slice();
    // A sign behind the opening mark trims space before the section.
    if let [sign, rest @ ..] = tokens
        && section.is_statement
        && matches!(sign.text, "-" | "+")
    {
        tokens = rest;
    }
    if section.is_statement
        && let [keyword, rest @ ..] = tokens
        && STATEMENTS.contains(&keyword.text)
    {
        tokens = match keyword.text {
            "for" => {
                let targets = rest.iter().position(|token| token.text == "in").unwrap_or(rest.len());
                bind(&rest[..targets], locals);
                &rest[targets..]
            }
            "set" => {
                let targets = rest.iter().position(|token| token.text == "=").unwrap_or(rest.len());
                bind(&rest[..targets], locals);
                &rest[targets..]
            }
            "with" => {
                let bound: Vec<Token<'t>> = assigned(rest).collect();
                bind(&bound, locals);
                rest
            }
            "macro" | "call" => {
                bind(rest, locals);
                &[]
            }
            "filter" => {
                if let [name, ..] = rest {
                    uses.push(simple(UseKind::Filter, name));
                }
                rest.get(1..).unwrap_or_default()
            }
            "block" | "endblock" | "endmacro" => &[],
            _ => rest,
        };
    }
    for at in 0..tokens.len() {
        if tokens[at].kind == TokenKind::Name
            && let Some(found) = use_at(tokens, at)
        {
            uses.push(found);
        }
    }
}

fn bind<'t>(tokens: &[Token<'t>], locals: &mut Vec<&'t str>) {
    locals.extend(tokens.iter().filter(|token| token.kind == TokenKind::Name).map(|token| token.text));
}

/// Names that are followed by a single `=`.
fn assigned<'t>(tokens: &[Token<'t>]) -> impl Iterator<Item = Token<'t>> {
    tokens
        .windows(2)
        .filter(|pair| pair[0].kind == TokenKind::Name && pair[1].text == "=")
        .map(|pair| pair[0])
}

fn use_at(tokens: &[Token<'_>], at: usize) -> Option<Use> {
    let token = &tokens[at];
    let symbol = |index: Option<usize>| {
        index
            .and_then(|index| tokens.get(index))
            .filter(|token| token.kind == TokenKind::Symbol)
            .map_or("", |token| token.text)
    };
    let word = |index: Option<usize>| {
        index
            .and_then(|index| tokens.get(index))
            .filter(|token| token.kind == TokenKind::Name)
            .map_or("", |token| token.text)
    };
    let before = at.checked_sub(1);
    match symbol(before) {
        "." => return None,
        "|" => return Some(simple(UseKind::Filter, token)),
        _ => {}
    }
    let asks = word(before) == "is" || (word(before) == "not" && word(at.checked_sub(2)) == "is");
    if asks && !matches!(token.text, "not") {
        return Some(simple(UseKind::Test, token));
    }
    if KEYWORDS.contains(&token.text) || symbol(Some(at + 1)) == "=" {
        return None;
    }
    if symbol(Some(at + 1)) == "(" {
        return Some(simple(UseKind::Function, token));
    }
    let kind = if is_guarded(tokens, at + 1) { UseKind::GuardedName } else { UseKind::Name };
    Some(Use { attribute: attribute(tokens, at + 1), ..simple(kind, token) })
}

fn simple(kind: UseKind, token: &Token<'_>) -> Use {
    Use { kind, name: token.text.to_owned(), attribute: None, offset: token.offset }
}

fn attribute(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let [mark, name, ..] = tokens.get(at..)? else {
        return None;
    };
    let named = (mark.text == "." && name.kind == TokenKind::Name)
        || (mark.text == "[" && name.kind == TokenKind::Text);
    (named && mark.kind == TokenKind::Symbol).then(|| name.text.to_owned())
}

/// Whether what starts here, once its attributes and brackets are passed, has a default or is asked if it is defined.
fn is_guarded(tokens: &[Token<'_>], mut at: usize) -> bool {
    loop {
        match tokens.get(at) {
            Some(token) if token.kind != TokenKind::Symbol => break,
            Some(token) if token.text == "." => at += 2,
            Some(token) if matches!(token.text, "[" | "(") => at = end_of_brackets(tokens, at),
            Some(token) if token.text == ")" => at += 1,
            _ => break,
        }
    }
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text);
    match text(at) {
        "|" => matches!(text(at + 1), "default" | "d"),
        "is" => {
            let test = if text(at + 1) == "not" { text(at + 2) } else { text(at + 1) };
            matches!(test, "defined" | "undefined" | "none")
        }
        _ => false,
    }
}

fn end_of_brackets(tokens: &[Token<'_>], mut at: usize) -> usize {
    let mut depth = 0usize;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if token.kind == TokenKind::Symbol {
            match token.text {
                "[" | "(" | "{" => depth += 1,
                "]" | ")" | "}" => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let words: Vec<String> = uses_in_condition(text)
            .into_iter()
            .map(|found| {
                let attribute = found.attribute.map(|attribute| format!(".{attribute}")).unwrap_or_default();
                format!("{:?} {}{attribute} @{}", found.kind, found.name, found.offset)
            })
            .collect();
        expected.assert_eq(&words.join(", "));
    }

    #[test]
    fn names_have_places_and_first_attributes() {
        check("{{ workload.n + ctx['a b'].c }}", expect!["Name workload.n @3, Name ctx.a b @16"]);
    }

    #[test]
    fn a_bare_condition_is_an_expression() {
        check("a.b > 3 and not c", expect!["Name a.b @0, Name c @16"]);
    }

    #[test]
    fn defaults_and_definedness_guard_a_name() {
        check(
            "{{ a | default(1) }}{{ b.c[0].d is not defined }}{{ (e.f) | d('x') }}{{ g is none }}",
            expect![
                "GuardedName a @3, Filter default @7, GuardedName b.c @23, Test defined @39, GuardedName e.f @53, Filter d @60, GuardedName g @72, Test none @77"
            ],
        );
    }

    #[test]
    fn filters_tests_and_functions_are_told_apart() {
        check(
            "{{ range(3) | map(attribute='id') | list if x is divisibleby(2) else now() }}",
            expect![
                "Function range @3, Filter map @14, Filter list @36, Name x @44, Test divisibleby @49, Function now @69"
            ],
        );
    }

    #[test]
    fn names_bound_by_statements_are_not_uses() {
        check(
            "{% for k, v in rows.items() if v %}{{ k }}{{ loop.index }}{% endfor %}{% set t = u %}{{ t }}",
            expect!["Name rows.items @15, Name u @81"],
        );
    }

    #[test]
    fn raw_blocks_comments_and_strings_have_no_uses() {
        check("{% raw %}{{ a }}{% endraw %}{# {{ b }} #}{{ 'c }}' ~ d }}", expect!["Name d @53"]);
    }

    #[test]
    fn braces_of_maps_do_not_end_an_expression() {
        check("{{ {'k': {'n': a}}['k'].n }} {{ b }}", expect!["Name a @15, Name b @32"]);
    }

    #[test]
    fn half_a_template_is_read_to_the_end() {
        check("{{ a | ", expect!["Name a @3"]);
        check("{% if x", expect!["Name x @6"]);
        check("{{ 'é", expect![""]);
    }

    #[test]
    fn trimming_signs_are_not_part_of_the_expression() {
        check("{%- if a -%}x{%- endif -%}{{- b -}}", expect!["Name a @7, Name b @30"]);
    }
}
