//! The real binary, run as a user would run it.

mod check;
mod command_line;
mod project;
mod support;
