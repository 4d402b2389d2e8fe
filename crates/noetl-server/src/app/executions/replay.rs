//! An execution as it was at one of its events.

use noetl_engine::{Run, apply};
use noetl_types::{EventBody, EventId, ExecutionId, Slot, Timestamp};

use crate::app::{App, Error};

/// Up to where events are folded.
#[derive(Clone, Copy, Debug)]
pub enum Cutoff {
    Event(EventId),
    Seq(u64),
    Time(Timestamp),
    Newest,
}

/// What the events up to the cutoff come to.
#[derive(Clone, Debug)]
pub struct Replay {
    pub run: Run,
    pub last: Option<(EventId, &'static str)>,
    pub last_step: Option<String>,
    /// Where values are that are stored aside.
    pub references: Vec<String>,
}

/// Events read at a time.
const PAGE: usize = 1000;

/// References that are told.
const REFERENCES: usize = 1000;

impl App {
    /// Folds at most `limit` events.
    pub async fn replay(&self, id: ExecutionId, cutoff: Cutoff, limit: usize) -> Result<Replay, Error> {
        self.execution(id).await?;
        let last_seq = match cutoff {
            Cutoff::Seq(seq) => seq,
            // An event that is not there leaves nothing to fold.
            Cutoff::Event(event) => self.store().find_event(id, event).await?.map_or(0, |event| event.seq),
            Cutoff::Time(_) | Cutoff::Newest => u64::MAX,
        };
        let mut replay = Replay { run: Run::new(), last: None, last_step: None, references: Vec::new() };
        let mut left = limit;
        while left > 0 {
            let wanted = left.min(PAGE);
            let mut events = self.store().load_events(id, replay.run.seq, wanted).await?;
            let is_last = events.len() < wanted;
            left -= events.len();
            for event in &mut events {
                let is_beyond =
                    event.seq > last_seq || matches!(cutoff, Cutoff::Time(time) if event.at > time);
                if is_beyond {
                    return Ok(replay);
                }
                apply(&mut replay.run, event);
                replay.last = Some((event.id, event.body.type_name()));
                if let Some(step) = event.body.step() {
                    replay.last_step = Some(step.to_string());
                }
                note_references(&mut replay.references, &mut event.body);
            }
            if is_last {
                break;
            }
        }
        Ok(replay)
    }
}

fn note_references(references: &mut Vec<String>, body: &mut EventBody) {
    for slot in body.slots_mut() {
        if let Slot::Stored(stored) = slot
            && references.len() < REFERENCES
            && !references.contains(&stored.uri)
        {
            references.push(stored.uri.clone());
        }
    }
}
