//! The commands, one file each: its arguments and what it does.

pub mod check;
pub mod completions;
pub mod run;
pub mod schema;
pub mod version;
