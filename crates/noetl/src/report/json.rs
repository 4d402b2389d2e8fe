//! Findings for programs. The shape is promised: keys may be added, none goes away.

use noetl_dsl::Diagnostic;
use serde::Serialize;

use super::{Checked, Tally};

#[derive(Debug, Serialize)]
pub struct Json<'a> {
    files: Vec<File<'a>>,
    errors: usize,
    warnings: usize,
}

#[derive(Debug, Serialize)]
struct File<'a> {
    path: &'a str,
    diagnostics: &'a [Diagnostic],
}

impl<'a> Json<'a> {
    pub fn new(checked: &'a [Checked]) -> Json<'a> {
        let Tally { errors, warnings, .. } = Tally::of(checked);
        let files = checked
            .iter()
            .map(|one| File { path: &one.document.name, diagnostics: &one.diagnostics })
            .collect();
        Json { files, errors, warnings }
    }
}
