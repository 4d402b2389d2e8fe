//! The tools that steps call: the [`Tool`] trait, the [`Toolbox`] that finds a tool by its kind, and the built-in kinds.
//!
//! A tool gets parameters that are already rendered and answers with a report. Templates, rules, retries and pipelines
//! belong to its caller. Secrets that a call knows of never reach messages, facets or logs: the toolbox sees to that.

mod auth;
mod capture;
mod config;
mod credentials;
mod deadline;
mod describe;
mod environment;
mod fields;
mod http;
mod logs;
mod noop;

mod postgres;
mod python;
mod rhai;

mod secrets;
mod shell;
mod source_text;
mod tls;
mod tool;
mod toolbox;
mod transfer;

pub use config::{
    HttpConfig, PostgresConfig, ProcessConfig, ProxyConfig, PythonConfig, RhaiConfig, ToolConfig,
};
pub use credentials::{Credential, CredentialError, Credentials, FixedCredentials};
pub use deadline::{Deadline, Interrupt};
pub use describe::{Field, KindDescription, Shape};
pub use environment::Environment;
pub use fields::Fields;
pub use logs::{DiscardLogs, LogSink, Stream};
pub use secrets::Secrets;
pub use tls::{Trust, client_config};
pub use tool::{Call, CodeText, Tool};
pub use toolbox::Toolbox;
