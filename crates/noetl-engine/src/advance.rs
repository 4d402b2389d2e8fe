//! Decides and folds until the run comes to rest.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_types::{Event, EventBody, StoredValue, Timestamp};

use crate::apply::apply;
use crate::decide::decide;
use crate::effect::{Decision, Effect};
use crate::run::Run;
use crate::values::Values;

/// Folds in what was decided, then decides until nothing is left to do. `record` turns each event body into the stored
/// event, and may put its large values aside first. Returns the effects, or the values that are missing to go on: load
/// them and call again with an empty decision.
pub fn advance(
    run: &mut Run,
    plan: &Plan,
    first: Decision,
    now: Timestamp,
    values: &Arc<dyn Values>,
    record: &mut dyn FnMut(&Run, EventBody) -> Event,
) -> (Vec<Effect>, Vec<Arc<StoredValue>>) {
    let mut effects = Vec::new();
    let mut decision = first;
    loop {
        if !decision.missing.is_empty() {
            return (effects, decision.missing);
        }
        let nothing_happened = decision.events.is_empty();
        for body in decision.events {
            let event = record(run, body);
            apply(run, &event);
        }
        effects.append(&mut decision.effects);
        decision = decide(run, plan, now, values);
        if nothing_happened && decision.is_empty() {
            return (effects, Vec::new());
        }
        if decision.is_empty() {
            return (effects, Vec::new());
        }
    }
}
