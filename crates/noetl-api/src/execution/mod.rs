//! Executions: what there is of them, what happened in them, and how they are steered.

mod control;
mod detail;
mod event;
mod list;
mod live;
mod log;

pub use control::{
    CancelRefused, CancelRequest, CancellationCheck, Cancelled, CleanedUp, CleanupRequest, FinalizeRequest,
    Finalized, PauseRequest, Rerun, RerunRequest, SignalRequest, Steered,
};
pub use detail::{
    Attempt, ChildrenParameters, Decision, Detail, DetailParameters, Explained, LoopProgress, Progress,
    RanStep, Resolve, State, StateParameters, Status, Step,
};
pub use event::{EventPage, EventRow, EventsParameters, Pagination};
pub use list::{Execution, ListParameters};
pub use live::{StreamAllParameters, StreamParameters};
pub use log::{LogLine, LogPage, LogParameters};
