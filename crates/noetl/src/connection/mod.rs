//! Where the server is that a command talks to, and how it is reached.
//!
//! `flags` is what may be typed, `contexts` the file in which people keep the servers they know, `target` chooses among
//! them, `http` makes the connections, `asking` runs what a command asks and shows that it waits.

mod asking;
mod contexts;
mod flags;
mod http;
mod notation;
mod target;

pub use asking::{ask, client, converse};
pub use contexts::{Context, Contexts, Runtime};
pub use flags::ServerFlags;
pub use http::{builder, connections};
pub use target::{DEFAULT_URL, Origin, Target};
