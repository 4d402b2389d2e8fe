//! Notes the steps that can no longer be reached once an arc was not taken.

use std::collections::BTreeSet;

use noetl_dsl::Plan;
use noetl_dsl::plan::{StepIndex, Target};
use noetl_types::{EventBody, SkipReason, TakenArc};

use crate::run::Run;

/// Events for steps that never ran and that nothing under way can reach any more, now that `from` leads only to `taken`.
pub fn not_reached(run: &Run, plan: &Plan, from: StepIndex, taken: &[TakenArc]) -> Vec<EventBody> {
    let arcs = &plan.steps[from].router.arcs;
    if taken.len() == arcs.len() {
        return Vec::new();
    }
    let taken: Vec<StepIndex> =
        taken.iter().filter_map(|arc| arc.to.as_ref()).filter_map(|name| plan.find_step(name)).collect();
    let others =
        run.visits.values().filter_map(|visit| plan.find_step(&visit.step)).filter(|&index| index != from);
    // When a visit of `from` ends here, it may have been reached again and wait for its next one. When it is skipped,
    // what waited is used up.
    let is_visited = run.steps.get(&plan.steps[from].name).is_some_and(|record| record.current.is_some());
    let waiting = run.pending.keys().filter_map(|name| plan.find_step(name));
    let waiting = waiting.filter(|&index| index != from || is_visited);
    let live: BTreeSet<StepIndex> = others.chain(waiting).chain(taken.iter().copied()).collect();
    let mut events = Vec::new();
    let mut seen = BTreeSet::new();
    let mut candidates: Vec<StepIndex> = arcs
        .iter()
        .filter_map(|arc| match arc.target {
            Target::Step(index) => Some(index),
            Target::End => None,
        })
        .filter(|index| !taken.contains(index))
        .collect();
    candidates.reverse();
    while let Some(candidate) = candidates.pop() {
        let ran_or_skipped = run.steps.contains_key(&plan.steps[candidate].name);
        let alive =
            live.contains(&candidate) || live.iter().any(|&other| plan.graph.reaches(other, candidate));
        let is_final = plan.executor.final_step == Some(candidate);
        if ran_or_skipped || alive || is_final || candidate == from || !seen.insert(candidate) {
            continue;
        }
        events.push(EventBody::StepSkipped {
            step: plan.steps[candidate].name.clone(),
            reason: SkipReason::NotReached,
            taken: Vec::new(),
        });
        candidates.extend(plan.graph.successors(candidate).iter().rev());
    }
    events
}
