//! Which arcs can never fire because an earlier one always does?

use crate::codes;
use crate::diagnostic::Report;
use crate::lower::Lowered;
use crate::plan::Arc_;

pub(crate) fn check(lowered: &Lowered, report: &mut Report) {
    for (step, places) in lowered.plan.steps.iter().zip(&lowered.places) {
        if step.router.inclusive {
            continue;
        }
        let Some(first) = step.router.arcs.iter().position(always_fires) else {
            continue;
        };
        let line = step.router.arcs[first].line;
        for (arc, span) in step.router.arcs.iter().zip(&places.arcs).skip(first + 1) {
            // After a failure the unconditional arc is not judged, but those that look at the failure are.
            if !arc.sees_failure {
                report.add_with_help(
                    &codes::SHADOWED_ARC,
                    *span,
                    format!("this arc never fires, because the one on line {line} always does"),
                    "move the arc without `when` to the end, or use `spec: {mode: inclusive}`".to_owned(),
                );
            }
        }
    }
}

fn always_fires(arc: &Arc_) -> bool {
    match &arc.when {
        None => true,
        Some(condition) => condition.source().as_bool() == Some(true),
    }
}
