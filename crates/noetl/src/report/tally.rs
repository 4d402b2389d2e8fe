//! Counts findings, and says the counts in words.

use std::fmt;

use noetl_dsl::{Diagnostic, Severity};

use super::Checked;

/// How much was looked at and what came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub files: usize,
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
}

impl Tally {
    pub fn of(checked: &[Checked]) -> Tally {
        let mut tally = Tally { files: checked.len(), ..Tally::default() };
        for diagnostic in checked.iter().flat_map(|one| &one.diagnostics) {
            tally.count(diagnostic);
        }
        tally
    }

    fn count(&mut self, diagnostic: &Diagnostic) {
        match diagnostic.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} checked", counted(self.files, "file"))?;
        let findings = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        if findings.iter().all(|(count, _)| *count == 0) {
            return write!(f, ", nothing to complain about");
        }
        for (count, word) in findings.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {}", counted(count, word))?;
        }
        Ok(())
    }
}

/// `1 file`, `2 files`.
pub fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_like_a_sentence() {
        let tally = |files, errors, warnings, notes| Tally { files, errors, warnings, notes }.to_string();
        assert_eq!(tally(3, 2, 1, 0), "3 files checked, 2 errors, 1 warning");
        assert_eq!(tally(1, 0, 0, 2), "1 file checked, 2 notes");
        assert_eq!(tally(11, 0, 0, 0), "11 files checked, nothing to complain about");
    }
}
