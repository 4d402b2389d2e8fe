//! Runs commands on the spot as far as they need nothing that takes time: `noop`, and tasks that put the command down.
//!
//! Most of the work of an orchestration is such steps. They cost no task, no slot and no lease renewal.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt;
use noetl_engine::pipeline::{Next, Pipeline, TaskCall};
use noetl_tools::Call;
use noetl_types::{Outcome, Report};

use crate::attempt::{Begun, Start, panicked};
use crate::needs::StepNeeds;
use crate::shared::Shared;
use crate::values::CommandValues;
use crate::{Assigned, clock};

/// Calls made on the spot before others get their turn.
const CALLS_AT_ONCE: usize = 256;

/// How far a command came.
pub(crate) enum Progress {
    Ended(Box<Outcome>),
    /// The rest takes time.
    GoesOn(Start),
}

/// Takes a command as far as it goes without waiting.
pub(crate) fn begin(shared: &Shared, assigned: &Assigned, needs: &StepNeeds) -> Progress {
    if !needs.begins_at_once || !needs.keychain.is_empty() {
        return Progress::GoesOn(Start::Fresh(Box::new(assigned.command.clone())));
    }
    catch_unwind(AssertUnwindSafe(|| interpret(shared, assigned, needs))).unwrap_or_else(|panic| {
        Progress::Ended(Box::new(Outcome::finished(panicked("the step", panic.as_ref()))))
    })
}

fn interpret(shared: &Shared, assigned: &Assigned, needs: &StepNeeds) -> Progress {
    let command = &assigned.command;
    let values = Arc::new(CommandValues::new(shared.loader.clone()));
    let names = shared.worker_names(needs, command.key);
    let mut pipeline = Pipeline::new(assigned.plan.clone(), command.clone(), names, values.clone());
    let mut calls_left = CALLS_AT_ONCE;
    loop {
        let next = pipeline.next(clock::now());
        match next {
            Next::Report(outcome) => return Progress::Ended(outcome),
            Next::Call(calls) if calls.len() <= calls_left && calls.iter().all(is_immediate) => {
                calls_left -= calls.len();
                for call in &calls {
                    let report = do_nothing(shared, call);
                    pipeline.finished(call, report);
                }
            }
            next => return Progress::GoesOn(Start::Begun(Box::new(Begun { pipeline, next, values }))),
        }
    }
}

fn is_immediate(call: &TaskCall) -> bool {
    &*call.kind == "noop" && call.delay_seconds <= 0.0
}

fn do_nothing(shared: &Shared, call: &TaskCall) -> Report {
    let with = Call { config: call.config.clone(), input: call.input.clone(), ..shared.bare_call.clone() };
    shared.tools.call(&call.kind, with).now_or_never().expect("a tool that does nothing does not wait")
}
