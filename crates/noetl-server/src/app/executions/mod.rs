//! Executions: finding them, looking into them, steering them.

mod control;
mod end;
mod events;
mod list;
mod live;
mod look;
mod replay;
mod rerun;
mod step;

pub use control::Steered;
pub use events::{EventQuery, Events};
pub use live::{Live, READER_PATIENCE};
pub use look::Looked;
pub use replay::{Cutoff, Replay};
pub use rerun::{From, Rerun};
pub use step::StepHistory;
