//! The commands, one file each: its arguments and what it does.

pub mod check;
pub mod completions;
pub mod config;
mod data;
pub mod dev;
mod entrance;
pub mod events;
pub mod explain;
pub mod logs;
pub mod query;
pub mod run;
pub mod schema;
pub mod server;
mod serving;
pub mod token;
pub mod version;
pub mod worker;
