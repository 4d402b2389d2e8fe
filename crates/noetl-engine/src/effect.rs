//! What follows from a decision, besides the events that record it.

use std::sync::Arc;

use noetl_types::{
    Command, CommandKey, EventBody, ExecutionId, ParentLink, Report, RunStatus, StoredValue, TimerKey,
    Timestamp, Value,
};

/// Something for the outside to do. Effects commit together with the events of their decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Give this command to a worker.
    Dispatch(Box<Command>),
    /// Tell whoever works on this command to stop; its outcome will be ignored.
    CancelCommand(CommandKey),
    /// Feed [`Input::TimerFired`](crate::Input::TimerFired) back at this instant. Replaces a timer of the same key.
    StartTimer {
        timer: TimerKey,
        at: Timestamp,
    },
    CancelTimer(TimerKey),
    /// Start another run and feed back its id, and its end unless it is detached.
    StartChild {
        command: CommandKey,
        path: Arc<str>,
        catalog_id: Option<i64>,
        version: Option<i64>,
        payload: Value,
        parent: ParentLink,
    },
    /// Cancel this run, unless it is detached: a detached one goes on whatever becomes of its parent.
    CancelChild(ExecutionId),
    /// The run is over.
    Ended(Box<Ended>),
}

/// How a run ended, with what its parent waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub status: RunStatus,
    pub report: Report,
    pub parent: Option<ParentLink>,
}

/// Events to record and effects to carry out. When `missing` is not empty, nothing else is in it: the values are to be
/// loaded and the question asked again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    pub events: Vec<EventBody>,
    pub effects: Vec<Effect>,
    pub missing: Vec<Arc<StoredValue>>,
}

impl Decision {
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.effects.is_empty() && self.missing.is_empty()
    }

    pub(crate) fn needs(missing: Vec<Arc<StoredValue>>) -> Decision {
        Decision { missing, ..Decision::default() }
    }
}
