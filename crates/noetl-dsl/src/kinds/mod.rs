//! Tool kinds as data: which settings each has. The tools themselves live elsewhere; whoever adds a kind adds its
//! [`KindSpec`] to the [`KindTable`].

mod builtin;
mod database;
mod messaging;
mod program;
mod service;
mod spec;
mod table;

pub use spec::{FieldSpec, KindSpec, Need};
pub use table::KindTable;
