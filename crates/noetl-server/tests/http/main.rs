//! The HTTP API over a store in memory, without sockets: requests in, JSON out.

mod catalog;
mod credentials;
mod keychain;
mod results;
mod support;
