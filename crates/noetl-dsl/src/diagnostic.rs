//! What the checker has to say about a document, and the collector of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::codes::Code;
use crate::locate;
use crate::positions::LineIndex;
use crate::yaml::{Node, Span};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The document is refused.
    Error,
    /// The document is accepted, and probably does not do what its author wants.
    Warning,
    /// Worth knowing.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        })
    }
}

/// One finding, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Stable: people may search for it and silence it.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Byte offsets in the source.
    #[serde(skip)]
    pub span: Span,
    /// From 1, like the column.
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    /// The step it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Arc<str>>,
    /// The keys that lead there, such as `workflow[2].next.arcs[0].when`.
    pub path: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {}[{}]: {}", self.line, self.column, self.severity, self.code, self.message)
    }
}

/// A finding whose line and path have not been worked out yet.
#[derive(Debug)]
struct Finding {
    code: &'static Code,
    span: Span,
    message: String,
    help: Option<String>,
}

impl Finding {
    /// By place, then by weight. Equal findings are the same one.
    fn rank(&self) -> (usize, Severity, &str, &str, usize) {
        (self.span.start, self.code.severity, self.code.name, &self.message, self.span.end)
    }
}

/// How many findings of one kind a document is told of.
const MANY: usize = 100;

/// Collects findings. Places are worked out at the end, from spans alone.
#[derive(Debug, Default)]
pub struct Report {
    findings: Vec<Finding>,
}

impl Report {
    pub fn add(&mut self, code: &'static Code, span: Span, message: impl Into<String>) {
        self.findings.push(Finding { code, span, message: message.into(), help: None });
    }

    pub fn add_with_help(
        &mut self,
        code: &'static Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        self.findings.push(Finding { code, span, message: message.into(), help: help.into() });
    }

    /// Whether something of this kind was found.
    pub fn has(&self, code: &Code) -> bool {
        self.findings.iter().any(|finding| finding.code == code)
    }

    /// Sorted by place and without repeats: a part of the document that is used twice is reported once. Of a kind that is
    /// found again and again, the first ones and how many there are.
    pub fn finish(self, source: &str, root: Option<&Node>) -> Vec<Diagnostic> {
        let lines = LineIndex::new(source);
        first_of_each_kind(self.findings)
            .into_iter()
            .map(|finding| {
                let start = lines.position(source, finding.span.start);
                let end = lines.position(source, finding.span.end);
                let place = root.map(|root| locate::place_of(root, finding.span)).unwrap_or_default();
                Diagnostic {
                    severity: finding.code.severity,
                    code: finding.code.name,
                    message: finding.message,
                    help: finding.help,
                    span: finding.span,
                    line: start.line as u32,
                    column: start.column as u32,
                    end_line: end.line as u32,
                    end_column: end.column as u32,
                    step: place.step,
                    path: place.path,
                }
            })
            .collect()
    }
}

/// In order, each once, and no more of one kind than anybody would read.
fn first_of_each_kind(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| a.rank().cmp(&b.rank()));
    findings.dedup_by(|a, b| a.rank() == b.rank());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    findings.retain(|finding| {
        let count = counts.entry(finding.code.name).or_default();
        *count += 1;
        *count <= MANY
    });
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > MANY) {
        if let Some(last) = findings.iter_mut().rfind(|finding| finding.code.name == code) {
            last.message += &format!(" (and {} more like this)", count - MANY);
        }
    }
    findings
}

/// Whether any finding refuses the document.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    #[test]
    fn of_a_kind_that_is_found_again_and_again_the_first_are_told_and_how_many_there_are() {
        let mut report = Report::default();
        for at in (0..250).rev() {
            report.add(&codes::DUPLICATE_KEY, Span { start: at, end: at + 1 }, "twice");
            report.add(&codes::DUPLICATE_KEY, Span { start: at, end: at + 1 }, "twice");
        }
        report.add(&codes::EMPTY_WORKFLOW, Span { start: 300, end: 301 }, "no steps");

        let told = report.finish(&"x".repeat(400), None);

        assert_eq!(told.len(), 101);
        assert_eq!((told[0].span.start, told[0].message.as_str()), (0, "twice"));
        assert_eq!((told[99].span.start, told[99].message.as_str()), (99, "twice (and 150 more like this)"));
        assert_eq!(told[100].message, "no steps");
    }
}
