//! The real binary, run as a user would run it.

mod check;
mod command_line;
mod conformance;
mod crash;
mod inspect;
mod project;
mod run;
mod support;
