//! The trace that a run belongs to, passed on to what it starts.

use noetl_types::{CommandKey, ExecutionId, RunTrace, SpanId, Started, Value};

/// The trace of a run: the one it was started with, or one of its own where all runs are traced.
pub fn trace_of(started: &Started, all_are_traced: bool) -> Option<RunTrace> {
    RunTrace::given(&started.meta).or_else(|| all_are_traced.then(|| RunTrace::own(started.execution)))
}

/// The context for whoever works on an attempt.
pub fn of_attempt(
    started: &Started,
    all_are_traced: bool,
    execution: ExecutionId,
    command: CommandKey,
    attempt: u16,
) -> Option<Value> {
    let trace = trace_of(started, all_are_traced)?;
    Some(trace.passed_on(SpanId::of_attempt(execution, command, attempt)))
}
