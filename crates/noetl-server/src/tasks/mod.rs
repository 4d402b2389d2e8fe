//! What happens by itself: timers fire, silent workers lose their commands, garbage is collected, and after a start the
//! rest is taken up.

mod garbage;
mod leases;
mod recovery;
mod timers;

pub use garbage::{collect, collect_garbage};
pub use leases::{expire_leases, watch_leases};
pub use recovery::recover;
pub use timers::{fire_due_timers, fire_timers};
