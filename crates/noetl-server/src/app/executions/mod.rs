//! Executions: finding them, looking into them, steering them.

mod control;
mod events;
mod list;
mod look;
mod rerun;

pub use control::Steered;
pub use events::{EventQuery, Events};
pub use list::Listing;
pub use look::Looked;
pub use rerun::Rerun;
