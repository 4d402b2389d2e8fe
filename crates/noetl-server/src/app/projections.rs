//! Events that other parts of a cluster hand in, such as those that came over a bus: each counts once.
//!
//! What concerns a run goes to the run first and is kept then. Should the server die in between, the event is handed in
//! again; a run takes the first outcome of an attempt and lets others pass.

use noetl_store::ProjectedEvent;
use noetl_types::{EventId, Timestamp, Value};

use super::events::WorkerEvent;
use super::{App, Code, Error};

/// An event that is handed in, with everything that came with it.
#[derive(Clone, Debug)]
pub struct Told {
    pub event: WorkerEvent,
    /// When it happened; now without it.
    pub at: Option<Timestamp>,
    pub envelope: Value,
}

impl App {
    /// Takes events and says how many of them were new.
    pub async fn project(&self, told: Vec<Told>) -> Result<usize, Error> {
        let mut rows = Vec::with_capacity(told.len());
        for Told { event, at, envelope } in told {
            rows.push(ProjectedEvent {
                execution: event.execution,
                id: event.id.unwrap_or_else(|| EventId(self.ids().next())),
                event_type: event.event_type.as_str().into(),
                at: at.unwrap_or_else(|| self.now()),
                envelope,
            });
            self.hand_on(event).await?;
        }
        let new = self.store().project_events(&rows).await?;
        Ok(new.into_iter().filter(|is_new| *is_new).count())
    }

    /// Gives an event to its run. One that no run here can use is no mistake of whoever hands it in.
    async fn hand_on(&self, event: WorkerEvent) -> Result<(), Error> {
        match self.take_event(event).await {
            Ok(_) => Ok(()),
            Err(error) => match error.code {
                Code::ExecutionNotFound | Code::CommandTaken | Code::BodyInvalid => Ok(()),
                _ => Err(error),
            },
        }
    }
}
