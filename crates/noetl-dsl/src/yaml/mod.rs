//! YAML documents that remember where everything stands in their source.
//!
//! The grammar is left to `saphyr-parser`. This module turns its events into a tree of [`Node`]s with byte spans, resolves
//! scalars by the core schema of YAML 1.2, expands aliases and merge keys within a budget, and puts errors into words an
//! author can act on. It knows nothing about playbooks.

mod char_index;
mod error;
mod explain;
mod lexer;
mod limits;
mod node;
mod open_map;
mod parse;
mod place;
mod scalar;
#[cfg(test)]
mod tests;
mod text_map;

pub use error::YamlError;
pub use limits::Limits;
pub use node::{Data, Entry, Node, Span, Style};
pub use parse::{Document, parse};
pub(crate) use scalar::{is_plain_text, quoted};
