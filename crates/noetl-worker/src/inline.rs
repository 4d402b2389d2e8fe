//! Runs commands on the spot as far as they need nothing that takes time: `noop`, and tasks that put the command down.
//!
//! Most of the work of an orchestration is such steps. They cost no task, no slot and no lease renewal; and since nobody
//! outside can tell whether they were run, a drive loop of the same process may do them before it has stored that it will.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt;
use noetl_dsl::Plan;
use noetl_engine::Values;
use noetl_engine::pipeline::{Next, Pipeline, TaskCall};
use noetl_expr::View;
use noetl_tools::{Call, Toolbox};
use noetl_types::{Command, CommandKey, Outcome, Report, Timestamp, Value};

use crate::WorkerConfig;
use crate::attempt::panicked;
use crate::needs::{Needs, StepNeeds};

/// Calls made on the spot before others get their turn.
const CALLS_AT_ONCE: usize = 256;

/// Runs commands as far as they go without waiting, as a worker of this name would.
pub struct Inline {
    worker: Arc<str>,
    server_url: Option<Arc<str>>,
    tools: Toolbox,
    needs: Needs,
    /// A call that needs none of the means a call can have, for tools that do nothing.
    bare_call: Call,
}

/// How far a command came.
pub(crate) enum Progress {
    Ended(Box<Outcome>),
    /// The interpreter wants something that takes time.
    Wants(Box<Pipeline>, Next),
}

impl fmt::Debug for Inline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inline").field("worker", &self.worker).finish_non_exhaustive()
    }
}

impl Inline {
    pub fn new(config: &WorkerConfig, tools: Toolbox) -> Inline {
        Inline {
            worker: config.name.clone(),
            server_url: config.server_url.clone(),
            tools,
            needs: Needs::default(),
            bare_call: Call::new(Value::Null),
        }
    }

    /// What a command comes to, when no part of it takes time or reaches outside. Nothing otherwise; it can then be run
    /// from its beginning.
    pub fn run(
        &self,
        plan: &Arc<Plan>,
        command: &Command,
        values: Arc<dyn Values>,
        now: Timestamp,
    ) -> Option<Outcome> {
        let needs = self.needs.of(plan);
        let needs = &needs[command.step_index as usize];
        if !needs.ends_at_once || !needs.keychain.is_empty() {
            return None;
        }
        match self.begin(plan, command, needs, values, || now) {
            Progress::Ended(outcome) => Some(*outcome),
            Progress::Wants(..) => None,
        }
    }

    /// What each step of a plan asks of the worker.
    pub(crate) fn needs(&self, plan: &Arc<Plan>) -> Arc<[StepNeeds]> {
        self.needs.of(plan)
    }

    /// Takes a command as far as it goes without waiting.
    pub(crate) fn begin(
        &self,
        plan: &Arc<Plan>,
        command: &Command,
        needs: &StepNeeds,
        values: Arc<dyn Values>,
        now: impl Fn() -> Timestamp,
    ) -> Progress {
        let work = || {
            let names = self.worker_names(needs, command.key);
            let pipeline = Pipeline::new(plan.clone(), command.clone(), names, values);
            self.interpret(pipeline, now)
        };
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            Progress::Ended(Box::new(Outcome::finished(panicked("the step", panic.as_ref()))))
        })
    }

    fn interpret(&self, mut pipeline: Pipeline, now: impl Fn() -> Timestamp) -> Progress {
        let mut calls_left = CALLS_AT_ONCE;
        loop {
            match pipeline.next(now()) {
                Next::Report(outcome) => return Progress::Ended(outcome),
                Next::Call(calls) if calls.len() <= calls_left && calls.iter().all(is_immediate) => {
                    calls_left -= calls.len();
                    for call in &calls {
                        let report = self.do_nothing(call);
                        pipeline.finished(call, report);
                    }
                }
                next => return Progress::Wants(Box::new(pipeline), next),
            }
        }
    }

    fn do_nothing(&self, call: &TaskCall) -> Report {
        let with = Call { config: call.config.clone(), input: call.input.clone(), ..self.bare_call.clone() };
        self.tools.call(&call.kind, with).now_or_never().expect("a tool that does nothing does not wait")
    }

    /// Names that only the worker can bind.
    pub(crate) fn worker_names(&self, needs: &StepNeeds, key: CommandKey) -> BTreeMap<Arc<str>, View> {
        let mut names = BTreeMap::new();
        if needs.worker_names {
            names.insert("worker_id".into(), View::Value(Value::Text(self.worker.clone())));
            names.insert("command_id".into(), View::Value(key.to_string().into()));
            if let Some(url) = &self.server_url {
                names.insert("server_url".into(), View::Value(Value::Text(url.clone())));
            }
        }
        names
    }
}

fn is_immediate(call: &TaskCall) -> bool {
    &*call.kind == "noop" && call.delay_seconds <= 0.0
}
