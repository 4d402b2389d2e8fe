//! How work reaches workers. The store is the truth; what travels here is a doorbell, and a lost message costs time only.

mod queue;

pub use queue::Queue;
