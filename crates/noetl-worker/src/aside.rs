//! Stores large values aside, where the worker is asked to, so that reports stay small.

use std::sync::Arc;

use noetl_dsl::plan::Step;
use noetl_types::{Outcome, Slot, extract_of};

use crate::{ControlError, ControlPlane};
use noetl_types::ExecutionId;

/// Replaces every value of the outcome that is too large to stay in it by a reference.
pub(crate) async fn store_large_values(
    control: &dyn ControlPlane,
    execution: ExecutionId,
    step: &Step,
    outcome: &mut Outcome,
) -> Result<(), ControlError> {
    let (report, sets) = match outcome {
        Outcome::Finished { report, sets, .. } => (Some(report), sets),
        Outcome::Suspended { sets, .. } => (None, sets),
    };
    if let Some(report) = report {
        store(control, execution, &step.name, &selected(step), &mut report.data).await?;
    }
    for set in sets {
        store(control, execution, &format!("ctx/{}", set.path), &[], &mut set.value).await?;
    }
    Ok(())
}

async fn store(
    control: &dyn ControlPlane,
    execution: ExecutionId,
    name: &str,
    select: &[Arc<str>],
    slot: &mut Slot,
) -> Result<(), ControlError> {
    let Slot::Inline(value) = slot else {
        return Ok(());
    };
    if value.json_size_up_to(Slot::INLINE_LIMIT) <= Slot::INLINE_LIMIT {
        return Ok(());
    }
    let mut stored = control.store_value(execution, name, value).await?;
    stored.extract = extract_of(value, select);
    *slot = Slot::Stored(Arc::new(stored));
    Ok(())
}

/// The fields that the step, or the task whose result is on top, wants to stay visible.
fn selected(step: &Step) -> Vec<Arc<str>> {
    let tasks = step.tasks.last().into_iter().flat_map(|task| &task.output.select);
    step.output.select.iter().chain(tasks).cloned().collect()
}
