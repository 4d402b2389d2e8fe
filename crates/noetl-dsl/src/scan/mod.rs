//! Which names, filters, tests and functions a template uses, and where. Reads tokens only: whether a template parses is
//! for `noetl-expr` to say.

mod tokens;
mod uses;

pub(crate) use uses::{Use, UseKind, uses_in_condition, uses_in_template};
