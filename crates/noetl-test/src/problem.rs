//! What is wrong with a case that does not pass.

use std::sync::Arc;

use noetl_types::Value;

use crate::suite::Place;

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// What it is about, such as `result` or `arcs`.
    pub about: &'static str,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// What should be and what is, where the two can be laid side by side.
    pub difference: Option<Difference>,
    /// Where the test file says so.
    pub place: Place,
    /// What in a playbook it is about.
    pub source: Option<Source>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub expected: Value,
    pub actual: Value,
}

/// A part of a playbook, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// In words, such as `step end`.
    pub what: String,
}

impl Problem {
    pub fn new(about: &'static str, message: impl Into<String>, place: Place) -> Problem {
        Problem { about, message: message.into(), help: None, difference: None, place, source: None }
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    pub fn with_difference(mut self, expected: Value, actual: Value) -> Problem {
        self.difference = Some(Difference { expected, actual });
        self
    }

    pub fn at(mut self, source: Option<Source>) -> Problem {
        self.source = source;
        self
    }
}
