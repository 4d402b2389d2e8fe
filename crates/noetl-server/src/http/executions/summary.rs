//! Executions and steps as clients see them.

use std::time::Duration;

use noetl_api::Id;
use noetl_api::execution as api;
use noetl_dsl::Plan;
use noetl_engine::{Run, StepRecord};
use noetl_store::Execution;
use noetl_types::{ExecutionId, StepStatus, Timestamp, Value};

use super::room::Room;

pub fn id(execution: ExecutionId) -> Id {
    Id(execution.0)
}

/// An execution for a list.
pub fn execution(execution: &Execution, now: Timestamp) -> api::Execution {
    let row = &execution.row;
    let duration = row.ended_at.unwrap_or(now).since(row.started_at);
    let started = row.started_at.to_string();
    let ended = row.ended_at.map(|at| at.to_string());
    api::Execution {
        execution_id: id(execution.id),
        catalog_id: Id(row.catalog_id),
        path: row.path.to_string(),
        version: row.version,
        status: row.status.as_str().to_owned(),
        parent_execution_id: row.parent.map(id),
        started_at: started.clone(),
        start_time: started,
        completed_at: ended.clone(),
        end_time: ended,
        duration_seconds: duration.as_secs_f64(),
        duration_human: human(duration),
        progress: if row.status.is_terminal() { 100.0 } else { 0.0 },
        current_step: execution.last.step.as_deref().map(str::to_owned),
        event_count: execution.seq,
        result: row.result.clone().unwrap_or_default(),
        error: row.error.clone(),
        labels: row.labels.clone(),
        meta: row.meta.clone(),
    }
}

/// The steps of a run in the order in which they were entered or skipped; those of one instant as in the workflow.
pub fn steps(run: &Run, plan: Option<&Plan>, room: &mut Room) -> Vec<api::Step> {
    let mut records: Vec<_> = run.steps.iter().collect();
    records.sort_by_key(|(name, record)| (record.started_at, place(plan, name)));
    records.into_iter().map(|(name, record)| step(run, name, record, room)).collect()
}

/// Where a step is in the workflow.
pub fn place(plan: Option<&Plan>, name: &str) -> usize {
    plan.and_then(|plan| plan.find_step(name)).unwrap_or(usize::MAX)
}

pub fn step(run: &Run, name: &str, record: &StepRecord, room: &mut Room) -> api::Step {
    let ran = record.runs > 0;
    let looping =
        record.current.and_then(|visit| run.visits.get(&visit)).and_then(|visit| visit.looping.as_ref()).map(
            |state| api::LoopProgress {
                total: state.entry.total,
                success: state.success,
                failed: state.failed,
                in_flight: state.in_flight,
            },
        );
    api::Step {
        name: name.to_owned(),
        status: record.status.as_str().to_owned(),
        runs: record.runs,
        result: record.result.as_ref().map_or(Value::Null, |result| room.slot(result)),
        error: record.error.as_ref().map_or(Value::Null, |error| room.value(&error.to_value())),
        started_at: ran.then(|| record.started_at.to_string()),
        ended_at: record.ended_at.filter(|_| ran).map(|at| at.to_string()),
        looping,
    }
}

/// How many steps are where. A skipped one is done with.
pub fn progress(run: &Run, all: Option<usize>) -> api::Progress {
    let count = |status: StepStatus| run.steps.values().filter(|record| record.status == status).count();
    api::Progress {
        total_steps: all.unwrap_or(run.steps.len()),
        completed_steps: count(StepStatus::Completed),
        running_steps: count(StepStatus::Running),
        failed_steps: count(StepStatus::Failed),
    }
}

/// `1.8s`, `2m 5s`, `3h 0m`, `2d 4h`.
fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{:.1}s", duration.as_secs_f64()),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_in_two_units() {
        let cases = [(1800, "1.8s"), (125_000, "2m 5s"), (10_800_000, "3h 0m"), (187_200_000, "2d 4h")];
        for (millis, text) in cases {
            assert_eq!(human(Duration::from_millis(millis)), text);
        }
    }
}
