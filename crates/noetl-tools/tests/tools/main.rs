//! Every built-in kind, called the way a worker calls it.

mod harness;
mod http;
mod http_server;
mod noop;
mod postgres;
mod postgres_server;
mod python;
mod rhai;
mod shell;
mod transfer;
