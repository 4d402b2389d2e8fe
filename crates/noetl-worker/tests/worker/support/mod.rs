//! A control plane in memory, tools that do what a test says, and the means to put both together.

mod cluster;
mod probe;
mod server;
mod shelf;

pub use cluster::{Cluster, playbook};
pub use probe::Probe;
pub use server::Server;
