//! Rewriting older spellings to current ones, with comments and layout kept.
//!
//! `finder` walks the document along the constructs of the language and proposes rewrites: edits of single spans of the source.
//! `run` applies those that don't touch each other, reads the result again, and keeps it only if it still means the same, which
//! `meaning` can tell. What cannot be rewritten safely stays as it is, and the checker goes on warning about it.

mod finder;
mod layout;
mod looping;
mod meaning;
mod rewrite;
mod routing;
mod rules;
mod run;
mod sets;
mod spelling;
mod tasks;
mod templates;
#[cfg(test)]
mod tests;

pub use run::{AppliedFix, Fixed, fix};
