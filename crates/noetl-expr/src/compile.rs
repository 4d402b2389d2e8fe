//! Errors found when a template is compiled.

/// A template that does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CompileError {
    /// A sentence without a location.
    pub message: String,
    /// Where in the string the trouble is, in bytes.
    pub offset: usize,
    /// The keys and indexes that lead to the string inside the value that was compiled.
    pub at: Vec<String>,
}

/// What is said of source that would need too much stack.
pub(crate) const TOO_DEEP: &str = "the expression is too long or nested too deeply";

/// What is wrong within one string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl Problem {
    /// What the engine's parser found.
    pub(crate) fn of_syntax(error: &minijinja::Error, source: &str) -> Problem {
        let range = error.range().unwrap_or(0..0);
        let message = match error.detail() {
            Some("template exceeds maximum recursion limits") => TOO_DEEP.to_owned(),
            Some(detail) => detail.to_owned(),
            None => error.kind().to_string(),
        };
        // Where something is missing at the end, the end is the place, not the last thing that was there.
        let offset = if message.contains("end of input") { range.end } else { range.start };
        Problem { offset: floor_char_boundary(source, offset), message }
    }

    pub(crate) fn into_error(self, at: Vec<String>) -> CompileError {
        CompileError { message: self.message, offset: self.offset, at }
    }
}

fn floor_char_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
