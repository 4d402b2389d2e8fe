//! The HTTP API over a store in memory, without sockets: requests in, JSON out.

mod catalog;
mod credentials;
mod execute;
mod executions;
mod keychain;
mod live;
mod other_workers;
mod results;
mod support;
mod worker;
mod worker_protocol;
