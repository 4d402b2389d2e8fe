//! What travels over HTTP: requests and answers, one module per resource.
//!
//! The types here are the source of the OpenAPI document. Requests are lenient where clients differ: an id may be a number
//! or a text, fields have the names of each generation. Answers carry the union of what those clients read.

pub mod audit;
pub mod catalog;
pub mod config;
pub mod credentials;
pub mod dashboard;
pub mod database;
pub mod dry_run;
pub mod ehdb;
pub mod error;
pub mod events;
pub mod execute;
pub mod execution;
pub mod health;
pub mod id;
pub mod keychain;
pub mod maintenance;
pub mod object;
pub mod outbox;
pub mod outline;
pub mod plugin;
pub mod projection;
pub mod registry;
pub mod replay;
pub mod result;
pub mod status;
pub mod subscription;
pub mod test_suite;
pub mod tokens;
pub mod ui_schema;
pub mod variables;
pub mod worker;

pub use error::{Diagnostic, ErrorBody};
pub use id::{Id, NumericId};
