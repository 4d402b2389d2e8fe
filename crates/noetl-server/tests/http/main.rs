//! The HTTP API over a store in memory, without sockets: requests in, JSON out.

mod credentials;
mod keychain;
mod support;
