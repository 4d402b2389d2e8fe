//! How findings are shown: to people and to programs.

mod human;
mod json;
mod tally;

pub use human::Human;
pub use json::Json;
pub use tally::{Tally, counted};

use noetl_dsl::Diagnostic;

use crate::documents::Document;

/// A document with what was found in it.
#[derive(Debug)]
pub struct Checked {
    pub document: Document,
    pub diagnostics: Vec<Diagnostic>,
}
