//! The durable vocabulary of NoETL: what is stored, sent and computed with. No behaviour beyond the types' own.

mod aside;
mod command;
mod error;
mod event;
mod ids;
mod outcome;
mod slot;
mod status;
mod time;
mod trace;
mod value;

pub use aside::{extract_of, tier_of};
pub use command::{Await, Command, CommandContext, LoopItem, Resolution, Resume};
pub use error::{ErrorKind, ToolError};
pub use event::{
    ContextCause, CursorEntry, Event, EventBody, Kept, KeptStep, LoopEntry, LoopItems, ParentLink,
    SkipReason, Started, TakenArc,
};
pub use ids::{CommandKey, EventId, ExecutionId, Item, TimerKey, VisitId};
pub use outcome::{Assignment, Outcome, PolicyDecision, Report};
pub use slot::{Slot, StoredValue};
pub use status::{RunStatus, StepStatus};
pub use time::Timestamp;
pub use trace::{RunTrace, SpanId, TraceId};
pub use value::{Map, Value, text_is_false};
