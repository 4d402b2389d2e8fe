//! Which steps can never run?

use crate::codes;
use crate::diagnostic::Report;
use crate::lower::Lowered;

pub(crate) fn check(lowered: &Lowered, report: &mut Report) {
    // With an arc that leads nowhere or two steps of one name, the steps that seem lost are a consequence.
    if report.has(&codes::UNKNOWN_STEP) || report.has(&codes::DUPLICATE_STEP) {
        return;
    }
    let plan = &lowered.plan;
    for (index, step) in plan.steps.iter().enumerate() {
        // The final step and what follows it run without an arc from the entry.
        let by_final =
            plan.executor.final_step.is_some_and(|last| last == index || plan.graph.reaches(last, index));
        if plan.graph.is_reachable(index) || by_final {
            continue;
        }
        let entry = &plan.steps[plan.executor.entry].name;
        report.add_with_help(
            &codes::UNREACHABLE_STEP,
            lowered.places[index].name,
            format!("the step `{}` never runs: no arc leads to it from `{entry}`", step.name),
            format!("add an arc to `{}`, or remove the step", step.name),
        );
    }
}
