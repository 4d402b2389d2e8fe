//! Executions: finding them, looking into them, steering them.

mod calls;
mod control;
mod end;
mod events;
mod list;
mod live;
mod look;
mod replay;
mod rerun;
mod step;

pub use calls::{CalledWith, Untold};
pub use control::Steered;
pub use events::{EventQuery, Events};
pub use live::{Live, READER_PATIENCE};
pub use look::Looked;
pub use replay::{Cutoff, Replay};
pub use rerun::{From, Rerun};
pub use step::StepHistory;
