//! Ends a visit whose work is done: its own `set` first, then its arcs.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::{LoopFailure, Step};
use noetl_types::{
    ContextCause, ErrorKind, EventBody, Map, Report, Slot, StoredValue, TimerKey, Timestamp, ToolError,
    Value, VisitId,
};

use super::enter::template_error;
use super::route::{self, Ending};
use crate::effect::{Decision, Effect};
use crate::names::OutputRoot;
use crate::run::{LoopState, Run, Visit};
use crate::values::{Resolver, Values};

pub fn decide(run: &Run, plan: &Plan, visit: VisitId, now: Timestamp, values: &Arc<dyn Values>) -> Decision {
    let Some(state) = run.visits.get(&visit) else {
        return Decision::default();
    };
    let Some(index) = plan.find_step(&state.step) else {
        return Decision::default();
    };
    let step = &plan.steps[index];
    let resolver = Resolver::new(values);
    let (mut ending, loop_result) = ending(run, plan, step, visit, state, &resolver);
    let mut decision = None;
    if ending.error.is_none() && !state.set_applied && !step.set.is_empty() {
        let scope = ending.scope(run, plan, now, &resolver);
        match route::assignments(run, &step.set, &scope, &resolver) {
            Ok(sets) => {
                let event =
                    EventBody::ContextUpdated { step: step.name.clone(), cause: ContextCause::Step, sets };
                decision = Some(Decision { events: vec![event], ..Decision::default() });
            }
            Err(error) => ending.fail(template_error("set", &error)),
        }
    }
    let decision = decision.unwrap_or_else(|| {
        let mut decision = route::exit(run, plan, index, visit, ending, loop_result, now, &resolver);
        if state.deadline.is_some() {
            decision.effects.push(Effect::CancelTimer(TimerKey::Step(visit)));
        }
        decision
    });
    match resolver.take_missing() {
        missing if missing.is_empty() => decision,
        missing => Decision::needs(missing),
    }
}

fn ending<'p>(
    run: &Run,
    plan: &'p Plan,
    step: &'p Step,
    visit: VisitId,
    state: &Visit,
    resolver: &Arc<Resolver>,
) -> (Ending<'p>, Option<Slot>) {
    let mut report = match (&state.report, &state.looping) {
        (Some(report), _) => report.clone(),
        (None, Some(looping)) => loop_report(run, step, visit, looping),
        (None, None) => Report::default(),
    };
    let loop_result = (state.report.is_none() && state.looping.is_some()).then(|| report.data.clone());
    if plan.executor.lenient && report.error.as_ref().is_some_and(|error| error.answered) {
        report.error = None;
    }
    let ending = Ending {
        step,
        result: report.data.clone(),
        error: report.error.clone(),
        output: Arc::new(OutputRoot {
            report: Arc::new(report),
            attempt: state.attempts,
            resolver: resolver.clone(),
        }),
        is_loop: step.looping.is_some(),
        skipped: false,
    };
    (ending, loop_result)
}

/// The value of a loop step: results in order with their counts.
fn loop_report(run: &Run, step: &Step, visit: VisitId, looping: &LoopState) -> Report {
    let error = loop_error(step, looping);
    let total = looping.entry.total.unwrap_or(looping.issued());
    let skipped = total - looping.issued().min(total);
    let mut summary = Map::new();
    summary.insert("status".into(), if error.is_some() { "error" } else { "success" }.into());
    summary.insert(
        "stats".into(),
        Value::map([
            ("total", Value::from(total)),
            ("success", Value::from(looping.success)),
            ("failed", Value::from(looping.failed)),
            ("skipped", Value::from(skipped)),
        ]),
    );
    summary.insert("iterations".into(), looping.issued().into());
    if let Some(cursor) = &looping.cursor {
        summary.insert("cursor".into(), if cursor.drained { "drained" } else { "stopped" }.into());
        summary.insert("frames".into(), cursor.frames.into());
    }
    let data = match &looping.results {
        Some(results) => {
            let results = Value::list(results.iter().cloned());
            summary.insert("results".into(), results.clone());
            summary.insert("data".into(), results);
            Slot::Inline(summary.into())
        }
        None => Slot::Stored(Arc::new(StoredValue {
            uri: format!("noetl://execution/{}/loop/{}", run.execution(), visit.0),
            store: "log".to_owned(),
            bytes: looping.result_bytes as u64,
            sha256: None,
            media_type: "application/json".to_owned(),
            extract: summary.into(),
        })),
    };
    Report { data, error, ..Report::default() }
}

fn loop_error(step: &Step, looping: &LoopState) -> Option<ToolError> {
    let on_error = step.looping.as_ref().map(|looping| looping.on_error);
    let fails = match on_error {
        Some(LoopFailure::Continue) => looping.stopped,
        Some(LoopFailure::Threshold(share)) => {
            let total = looping.entry.total.unwrap_or(looping.issued());
            // Rows that could not be claimed are no share of the rows: they stop the loop, and it fails.
            looping.stopped || f64::from(looping.failed) > share * f64::from(total)
        }
        _ => looping.failed > 0,
    };
    if !fails {
        return None;
    }
    let first = looping.first_error.as_ref()?;
    let message = format!(
        "{} of {} iterations of step '{}' failed; the first: {}",
        looping.failed,
        looping.issued().max(looping.failed),
        step.name,
        first.message
    );
    let mut error = ToolError::new(ErrorKind::Loop, message);
    error.retryable = first.retryable;
    error.details = Value::map([("first", first.to_value())]);
    Some(error)
}
