//! What the checker has to say about a document, and the collector of it.

use std::collections::BTreeSet;
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

    /// Sorted by place and without repeats: a part of the document that is used twice is reported once.
    pub fn finish(self, source: &str, root: Option<&Node>) -> Vec<Diagnostic> {
        let lines = LineIndex::new(source);
        let mut seen = BTreeSet::new();
        let mut diagnostics: Vec<Diagnostic> = self
            .findings
            .into_iter()
            .filter(|finding| {
                seen.insert((
                    finding.code.name,
                    finding.span.start,
                    finding.span.end,
                    finding.message.clone(),
                ))
            })
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
            .collect();
        diagnostics.sort_by(|a, b| {
            (a.span.start, a.severity, a.code, &a.message).cmp(&(
                b.span.start,
                b.severity,
                b.code,
                &b.message,
            ))
        });
        diagnostics
    }
}

/// Whether any finding refuses the document.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}
