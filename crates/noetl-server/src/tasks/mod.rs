//! What happens by itself: timers fire, silent workers lose their commands, and after a start the rest is taken up.

mod leases;
mod recovery;
mod timers;

pub use leases::watch_leases;
pub use recovery::recover;
pub use timers::fire_timers;
