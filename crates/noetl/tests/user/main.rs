//! The real binary, run as a user would run it.

mod apart;
mod check;
mod command_line;
mod config;
mod conformance;
mod crash;
mod dev;
mod fuzz;
mod inspect;
mod interrupted;
mod kill;
mod limits;
mod live;
mod objects;
mod project;
mod run;
mod secrets;
mod service;
mod support;
mod token;
mod wrong_use;
