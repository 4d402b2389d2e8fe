//! Whose stored values a run refers to from its beginning on.

use std::collections::BTreeSet;

use noetl_types::{ExecutionId, Slot, Started};

/// The earlier runs that have what this one takes over. They must stay as long as it does.
pub fn lenders(started: &Started) -> Vec<ExecutionId> {
    let results = started.kept.steps.iter().filter_map(|kept| kept.result.as_ref());
    let context = started.kept.ctx.iter().map(|assignment| &assignment.value);
    let owners: BTreeSet<ExecutionId> = results.chain(context).filter_map(owner).collect();
    owners.into_iter().filter(|owner| *owner != started.execution).collect()
}

/// The run that a value is stored with, when it is stored aside.
fn owner(slot: &Slot) -> Option<ExecutionId> {
    let Slot::Stored(stored) = slot else {
        return None;
    };
    let (execution, _) = stored.uri.strip_prefix("noetl://execution/")?.split_once('/')?;
    execution.parse().ok().map(ExecutionId)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use noetl_types::{Kept, KeptStep, StepStatus, StoredValue, Value};

    use super::*;

    fn kept(step: &str, result: Slot) -> KeptStep {
        KeptStep { step: step.into(), status: StepStatus::Completed, result: Some(result), error: None }
    }

    fn stored(uri: &str) -> Slot {
        Slot::Stored(Arc::new(StoredValue {
            uri: uri.to_owned(),
            store: "kv".to_owned(),
            bytes: 100_000,
            sha256: None,
            media_type: "application/json".to_owned(),
            extract: Value::Null,
        }))
    }

    #[test]
    fn only_those_lend_whose_values_are_stored_aside() {
        let steps = vec![
            kept("small", Slot::Inline(Value::Int(1))),
            kept("large", stored("noetl://execution/7/result/large/1")),
            kept("loop", stored("noetl://execution/7/loop/3")),
            kept("child", stored("noetl://execution/5/result/a/result/b/2")),
            kept("own", stored("noetl://execution/9/result/own/1")),
            kept("elsewhere", stored("s3://bucket/key")),
        ];
        let started = Started {
            execution: ExecutionId(9),
            rerun_of: Some(ExecutionId(7)),
            kept: Kept { steps, ctx: Vec::new() },
            ..Started::default()
        };
        assert_eq!(lenders(&started), [ExecutionId(5), ExecutionId(7)]);
    }
}
