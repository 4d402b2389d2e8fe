//! The HTTP API over a store in memory, without sockets: requests in, JSON out.

mod audit;
mod auth;
mod catalog;
mod credentials;
mod errors;
mod execute;
mod executions;
mod keychain;
mod limits;
mod live;
mod metrics;
mod origin;
mod other_workers;
mod results;
mod sockets;
mod support;
mod tokens;
mod worker;
mod worker_protocol;
