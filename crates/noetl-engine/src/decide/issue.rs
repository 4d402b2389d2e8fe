//! Issues commands whose attempt was lost or whose wait is over.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_types::{CommandKey, EventBody, Item};

use crate::command;
use crate::effect::{Decision, Effect};
use crate::run::Run;
use crate::values::{Resolver, Values};

pub fn decide(run: &Run, plan: &Plan, values: &Arc<dyn Values>) -> Decision {
    let resolver = Resolver::new(values);
    let mut decision = Decision::default();
    for &(visit, item) in &run.agenda.issue {
        let Some(open) = run.commands.get(&(visit, item)) else {
            continue;
        };
        let key = CommandKey { visit, item, part: open.part };
        let Some(command) = command::find(run, plan, key, open.attempt, &resolver) else {
            continue;
        };
        decision.events.push(EventBody::CommandIssued {
            command: key,
            step: command.step.clone(),
            attempt: open.attempt,
            tool: tool_of(plan, command.step_index as usize, item),
        });
        decision.effects.push(Effect::Dispatch(Box::new(command)));
    }
    match resolver.take_missing() {
        missing if missing.is_empty() => decision,
        missing => Decision::needs(missing),
    }
}

/// The kind of tool a command calls first.
pub(super) fn tool_of(plan: &Plan, step: usize, item: Item) -> Arc<str> {
    let step = &plan.steps[step];
    match (item, step.looping.as_ref().map(|looping| &looping.source)) {
        (Item::Claim(_), Some(noetl_dsl::plan::LoopSource::Cursor(cursor))) => cursor.claim.kind.clone(),
        _ if step.single => step.tasks[0].kind.clone(),
        _ => "task_sequence".into(),
    }
}
