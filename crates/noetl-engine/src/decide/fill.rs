//! Keeps loops busy: issues items up to the limit on what may be under way.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_types::{CommandKey, EventBody, VisitId};

use super::issue::tool_of;
use crate::command::{build, context_for};
use crate::effect::{Decision, Effect};
use crate::run::Run;
use crate::values::{Resolver, Values};

pub fn decide(run: &Run, plan: &Plan, visit: VisitId, values: &Arc<dyn Values>) -> Decision {
    let Some((state, looping)) =
        run.visits.get(&visit).and_then(|state| Some((state, state.looping.as_ref()?)))
    else {
        return Decision::default();
    };
    let Some(index) = plan.find_step(&state.step) else {
        return Decision::default();
    };
    let step = &plan.steps[index];
    let items = looping.next_items();
    let resolver = Resolver::new(values);
    let context = Arc::new(context_for(run, plan, &step.reads_steps, state.from.as_ref()));
    let mut decision = Decision::default();
    for item in items {
        let command = CommandKey { visit, item, part: 0 };
        let Some(built) = build(run, step, index, state, command, 1, context.clone(), &resolver) else {
            break;
        };
        let tool = tool_of(plan, index, item);
        decision.events.push(EventBody::CommandIssued { command, step: step.name.clone(), attempt: 1, tool });
        decision.effects.push(Effect::Dispatch(Box::new(built)));
    }
    match resolver.take_missing() {
        missing if missing.is_empty() => decision,
        missing => Decision::needs(missing),
    }
}
