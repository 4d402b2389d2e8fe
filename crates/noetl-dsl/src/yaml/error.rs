//! Why a text is not a document we accept.

use std::fmt;

use super::Span;

/// A problem with the YAML itself, with the place to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// Lower case, without a full stop.
    pub message: String,
    pub span: Span,
    /// What the author can do about it, when there is something to say.
    pub help: Option<String>,
}

impl YamlError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> YamlError {
        YamlError { message: message.into(), span, help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> YamlError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlError {}
