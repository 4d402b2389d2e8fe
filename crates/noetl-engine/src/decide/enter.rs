//! Enters steps that arcs led to, as soon as no branch that can still reach them is under way.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::{Step, StepIndex};
use noetl_types::{
    CommandKey, ErrorKind, EventBody, Item, Outcome, Report, SkipReason, Timestamp, ToolError, VisitId,
};

use super::issue::tool_of;
use super::{looping, route};
use crate::command::{build, context_for, deadline};
use crate::effect::{Decision, Effect};
use crate::run::{Run, Visit};
use crate::values::{Resolver, Values};

/// Enters, or skips, the first step of the playbook that is due.
pub fn decide(run: &Run, plan: &Plan, now: Timestamp, values: &Arc<dyn Values>) -> Decision {
    let due = run
        .pending
        .keys()
        .filter_map(|name| plan.find_step(name))
        .filter(|&index| is_due(run, plan, index))
        .min();
    match due {
        Some(index) => open(run, plan, index, false, now, values),
        None => Decision::default(),
    }
}

/// A step that several lead to waits for every branch that can still reach it; any step waits for its own last visit.
fn is_due(run: &Run, plan: &Plan, index: StepIndex) -> bool {
    let step = &plan.steps[index];
    if run.steps.get(&step.name).is_some_and(|record| record.current.is_some()) {
        return false;
    }
    !plan.graph.is_join(index) || blocker(run, plan, index).is_none()
}

/// A live step that can still reach this one. Two that wait for each other in a cycle go by their [`turn`].
pub(crate) fn blocker<'r>(run: &'r Run, plan: &Plan, index: StepIndex) -> Option<&'r Arc<str>> {
    let graph = &plan.graph;
    let active =
        run.visits.values().map(|visit| &visit.step).find(|name| {
            plan.find_step(name).is_some_and(|other| other != index && graph.reaches(other, index))
        });
    active.or_else(|| {
        run.pending.keys().find(|name| {
            plan.find_step(name).is_some_and(|other| {
                other != index
                    && graph.reaches(other, index)
                    && (!graph.reaches(index, other) || turn(run, plan, other) < turn(run, plan, index))
            })
        })
    })
}

/// Of steps in a cycle the one with the smallest turn goes first. What an arc back led to belongs to the next round and
/// lets this one end; within a round the order of the arcs decides.
fn turn(run: &Run, plan: &Plan, index: StepIndex) -> (bool, u32) {
    let order = plan.graph.order(index);
    let from = run.pending.get(&plan.steps[index].name).and_then(|pending| pending.from.as_ref());
    let next_round =
        from.and_then(|from| plan.find_step(from)).is_some_and(|from| plan.graph.order(from) >= order);
    (next_round, order)
}

/// Enters a step, or skips it when it is guarded, not admitted, or behind a failure.
pub(super) fn open(
    run: &Run,
    plan: &Plan,
    index: StepIndex,
    is_final: bool,
    now: Timestamp,
    values: &Arc<dyn Values>,
) -> Decision {
    let step = &plan.steps[index];
    let from = run.pending.get(&step.name).and_then(|pending| pending.from.clone());
    if !is_final && failure_before(run, plan, index) {
        return skip(step, SkipReason::FailureBefore);
    }
    let resolver = Resolver::new(values);
    let decision = match admitted(run, plan, step, from.as_ref(), now, &resolver) {
        Err(error) => fail_at_once(run, step, from, is_final, error),
        Ok(Some(SkipReason::Guard)) => route::pass_on(run, plan, index, now, &resolver),
        Ok(Some(reason)) => skip(step, reason),
        Ok(None) => begin(run, plan, index, from, is_final, now, &resolver),
    };
    match resolver.take_missing() {
        missing if missing.is_empty() => decision,
        missing => Decision::needs(missing),
    }
}

/// Whether an unhandled failure lies on a way to this step. Branches apart from the failure go on to their ends.
fn failure_before(run: &Run, plan: &Plan, index: StepIndex) -> bool {
    run.failures
        .iter()
        .any(|failure| plan.find_step(&failure.step).is_some_and(|failed| plan.graph.reaches(failed, index)))
}

fn skip(step: &Step, reason: SkipReason) -> Decision {
    Decision {
        events: vec![EventBody::StepSkipped { step: step.name.clone(), reason, taken: Vec::new() }],
        ..Decision::default()
    }
}

fn admitted(
    run: &Run,
    plan: &Plan,
    step: &Step,
    from: Option<&Arc<str>>,
    now: Timestamp,
    resolver: &Arc<Resolver>,
) -> Result<Option<SkipReason>, ToolError> {
    if step.admit.is_empty() && step.when.is_none() {
        return Ok(None);
    }
    let conditions = step.admit.iter().filter_map(|rule| rule.when.as_ref()).chain(step.when.as_ref());
    let paths = conditions.flat_map(|condition| condition.paths());
    let scope = route::data_scope(run, plan, paths, from, resolver).scope(now);
    for rule in &step.admit {
        let holds = match &rule.when {
            Some(when) => when.holds(&scope).map_err(|error| template_error("spec.policy.admit", &error))?,
            None => true,
        };
        if holds {
            if !rule.allow {
                return Ok(Some(SkipReason::NotAdmitted));
            }
            break;
        }
    }
    match &step.when {
        Some(when) if !when.holds(&scope).map_err(|error| template_error("when", &error))? => {
            Ok(Some(SkipReason::Guard))
        }
        _ => Ok(None),
    }
}

pub(super) fn template_error(place: &str, error: &noetl_expr::EvalError) -> ToolError {
    ToolError::new(ErrorKind::Template, format!("{place}: {error}"))
}

fn begin(
    run: &Run,
    plan: &Plan,
    index: StepIndex,
    from: Option<Arc<str>>,
    is_final: bool,
    now: Timestamp,
    resolver: &Arc<Resolver>,
) -> Decision {
    let step = &plan.steps[index];
    let settings = match looping::settings(run, plan, step, from.as_ref(), now, resolver) {
        Ok(settings) => settings,
        Err(error) => return fail_at_once(run, step, from, is_final, error),
    };
    let visit = VisitId(run.next_visit);
    let deadline = settings.timeout.map(|seconds| deadline(now, seconds));
    let mut decision = Decision::default();
    let looping = settings.looping;
    let is_loop = looping.is_some();
    decision.events.push(EventBody::StepEntered {
        step: step.name.clone(),
        visit,
        from: from.clone(),
        looping,
        is_final,
        deadline,
    });
    if let Some(at) = deadline {
        decision.effects.push(Effect::StartTimer { timer: noetl_types::TimerKey::Step(visit), at });
    }
    if is_loop {
        return decision;
    }
    let command = CommandKey::whole(visit);
    let visits = run.steps.get(&step.name).map_or(0, |record| record.runs);
    if has_nothing_to_do(step) && visits < PASSED_AT_ONCE {
        let outcome = Outcome::finished(Report::default());
        decision.events.push(EventBody::CallDone { command, step: step.name.clone(), attempt: 0, outcome });
        return decision;
    }
    let context = context_for(run, plan, &step.reads_steps, from.as_ref());
    let state = Visit {
        step: step.name.clone(),
        from,
        entered_at: now,
        deadline,
        report: None,
        attempts: 0,
        set_applied: false,
        looping: None,
    };
    if let Some(built) = build(run, step, index, &state, command, 1, Arc::new(context), resolver) {
        let tool = tool_of(plan, index, Item::Whole);
        decision.events.push(EventBody::CommandIssued { command, step: step.name.clone(), attempt: 1, tool });
        decision.effects.push(Effect::Dispatch(Box::new(built)));
    }
    decision
}

/// Visits of a step that only routes which are passed within a decision. Later ones go to a worker, so that steps which lead
/// round in a circle become durable one by one and can be cancelled, instead of filling the memory.
const PASSED_AT_ONCE: u32 = 1000;

/// A step that only routes: no worker is needed for it.
fn has_nothing_to_do(step: &Step) -> bool {
    let [task] = step.tasks.as_slice() else {
        return false;
    };
    step.single
        && &*task.kind == "noop"
        && task.set.is_empty()
        && task.rules.is_empty()
        && task.looping.is_none()
        && task.config.as_literal().is_some_and(|config| config.as_map().is_none_or(|map| map.is_empty()))
        && task.input.as_literal().is_some_and(|input| input.as_map().is_none_or(|map| map.is_empty()))
}

/// Enters a step whose settings can't be evaluated: it fails before any work is given out.
fn fail_at_once(
    run: &Run,
    step: &Step,
    from: Option<Arc<str>>,
    is_final: bool,
    error: ToolError,
) -> Decision {
    let visit = VisitId(run.next_visit);
    Decision {
        events: vec![
            EventBody::StepEntered {
                step: step.name.clone(),
                visit,
                from,
                looping: None,
                is_final,
                deadline: None,
            },
            EventBody::CallFailed {
                command: CommandKey::whole(visit),
                step: step.name.clone(),
                attempt: 0,
                outcome: Outcome::finished(Report::failure(error)),
            },
        ],
        ..Decision::default()
    }
}
