//! Findings for people: a sentence, the line it is about with a mark under the place, and what to do.

use std::io::{self, Write};
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use noetl_dsl::{Diagnostic, Severity};

use crate::documents::Document;

/// A line longer than this is not shown; its place is named all the same.
const LONGEST_LINE: usize = 4 * 1024;

/// Writes findings with or without colours.
#[derive(Debug)]
pub struct Human {
    renderer: Renderer,
}

impl Human {
    pub fn new(colored: bool) -> Human {
        Human { renderer: if colored { Renderer::styled() } else { Renderer::plain() } }
    }

    pub fn write(
        &self,
        out: &mut impl Write,
        document: &Document,
        diagnostic: &Diagnostic,
    ) -> io::Result<()> {
        let title = level(diagnostic.severity).primary_title(&diagnostic.message).id(diagnostic.code);
        let excerpt = Excerpt::around(&document.text, diagnostic.span.start, diagnostic.span.end);
        let mut group = match &excerpt {
            Some(excerpt) => title.element(
                Snippet::source(excerpt.line)
                    .line_start(diagnostic.line as usize)
                    .path(&document.name)
                    .annotation(AnnotationKind::Primary.span(excerpt.marked.clone())),
            ),
            None => title.element(
                Origin::path(&document.name)
                    .line(diagnostic.line as usize)
                    .char_column(diagnostic.column as usize),
            ),
        };
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help));
        }
        if !diagnostic.path.is_empty() {
            group = group.element(Level::NOTE.with_name("at").message(place(diagnostic)));
        }
        writeln!(out, "{}\n", self.renderer.render(&[group]))
    }
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

/// The keys that lead to the finding, and the step it is in.
fn place(diagnostic: &Diagnostic) -> String {
    match &diagnostic.step {
        Some(step) => format!("{} (step {step})", diagnostic.path),
        None => diagnostic.path.clone(),
    }
}

/// The first line of a finding, and the part of it to mark.
#[derive(Debug, PartialEq, Eq)]
struct Excerpt<'t> {
    line: &'t str,
    marked: Range<usize>,
}

impl<'t> Excerpt<'t> {
    /// Nothing when the line is too long to be shown.
    fn around(text: &'t str, start: usize, end: usize) -> Option<Excerpt<'t>> {
        let start = between_characters(text, start);
        let end = between_characters(text, end).max(start);
        // The search goes no further than a line may be long, so that many findings on one endless line take no time.
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let bytes = text.as_bytes();
        let before = &bytes[start.saturating_sub(LONGEST_LINE)..start];
        let line_start = match before.iter().rposition(is_break) {
            Some(at) => start - (before.len() - at - 1),
            None if before.len() == start => 0,
            None => return None,
        };
        let after = &bytes[start..(line_start + LONGEST_LINE).min(bytes.len())];
        let line_end = match after.iter().position(is_break) {
            Some(at) => start + at,
            None if start + after.len() == bytes.len() => bytes.len(),
            None => return None,
        };
        let marked = start - line_start..end.min(line_end) - line_start;
        Some(Excerpt { line: &text[line_start..line_end], marked })
    }
}

/// The nearest place at or before the offset that is not inside a character.
fn between_characters(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str, part: &str) -> Option<(String, String)> {
        let start = text.find(part).expect("the part is in the text");
        Excerpt::around(text, start, start + part.len())
            .map(|excerpt| (excerpt.line.to_owned(), excerpt.line[excerpt.marked].to_owned()))
    }

    #[test]
    fn the_line_of_the_place_is_shown() {
        let shown = around("a: 1\r\nbb: 2\nc: 3\n", "bb");
        assert_eq!(shown, Some(("bb: 2".to_owned(), "bb".to_owned())));
    }

    #[test]
    fn of_a_place_over_several_lines_the_first_is_marked() {
        let shown = around("a:\n  - b\n  - c\n", "- b\n  - c");
        assert_eq!(shown, Some(("  - b".to_owned(), "- b".to_owned())));
    }

    #[test]
    fn places_at_and_past_the_end_are_shown_at_the_end() {
        let at_the_end = Some(Excerpt { line: "a: [", marked: 4..4 });
        assert_eq!(Excerpt::around("a: [", 4, 4), at_the_end);
        assert_eq!(Excerpt::around("a: [", 90, 99), at_the_end);
        assert_eq!(Excerpt::around("", 0, 0), Some(Excerpt { line: "", marked: 0..0 }));
    }

    #[test]
    fn a_place_inside_a_character_is_moved_to_its_beginning() {
        assert_eq!(Excerpt::around("é: 1", 1, 1), Some(Excerpt { line: "é: 1", marked: 0..0 }));
    }

    #[test]
    fn an_endless_line_is_not_shown() {
        assert_eq!(around(&format!("a: {}", "x".repeat(5000)), "a"), None);
        assert_eq!(around(&format!("{}b", "x".repeat(5000)), "b"), None);
    }
}
