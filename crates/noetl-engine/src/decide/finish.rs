//! Ends a run that has come to rest.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_types::{EventBody, Report, RunStatus, TimerKey, Timestamp, ToolError};

use super::enter;
use crate::effect::{Decision, Effect, Ended};
use crate::run::Run;
use crate::values::Values;

/// The final step, if there is one that has not run; then the end.
pub fn decide(run: &Run, plan: &Plan, now: Timestamp, values: &Arc<dyn Values>) -> Decision {
    if let Some(index) = plan.executor.final_step
        && !run.final_step_entered
        && !run.steps.contains_key(&plan.steps[index].name)
    {
        return enter::open(run, plan, index, true, now, values);
    }
    let (event, status, error) = match run.failures.first() {
        None => (EventBody::PlaybookCompleted { from: run.last_leaf.clone() }, RunStatus::Completed, None),
        Some(first) => {
            let mut failed_steps: Vec<Arc<str>> = Vec::new();
            for failure in &run.failures {
                if !failed_steps.contains(&failure.step) {
                    failed_steps.push(failure.step.clone());
                }
            }
            let mut error = first.error.clone();
            error.message = format!("step '{}' failed: {}", first.step, first.error.message);
            (EventBody::PlaybookFailed { error: error.clone(), failed_steps }, RunStatus::Failed, Some(error))
        }
    };
    let mut decision = Decision { events: vec![event], ..Decision::default() };
    decision.effects.extend(ended(run, plan, status, error));
    decision
}

/// What the end of a run asks of the outside.
pub(crate) fn ended(run: &Run, plan: &Plan, status: RunStatus, error: Option<ToolError>) -> Vec<Effect> {
    let mut effects = Vec::new();
    if plan.executor.timeout.is_some() {
        effects.push(Effect::CancelTimer(TimerKey::Run));
    }
    let parent = run.started.parent.clone();
    let wanted = match parent.as_ref().and_then(|parent| parent.return_step.as_ref()) {
        Some(step) => run.result_of(step),
        None => run.last_leaf.as_ref().and_then(|step| run.result_of(step)),
    };
    let data = match status {
        RunStatus::Completed => wanted.cloned().unwrap_or_default(),
        _ => Default::default(),
    };
    effects.push(Effect::Ended(Box::new(Ended {
        status,
        report: Report { data, error, ..Report::default() },
        parent,
    })));
    effects
}
