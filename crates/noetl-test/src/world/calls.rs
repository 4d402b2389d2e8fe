//! Works on commands with the interpreter, and makes the calls it asks for.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_dsl::plan::{Step, Task};
use noetl_engine::Input;
use noetl_engine::pipeline::{Next, Pipeline, TaskCall};
use noetl_expr::View;
use noetl_types::{
    Await, Command, CommandContext, ErrorKind, ExecutionId, Item, Map, Outcome, Report, ToolError, Value,
};

use super::World;
use super::agenda::{Happening, Work, later};
use crate::address::{Address, claim_of};
use crate::problem::{Problem, Source};
use crate::tools::RealCall;
use crate::trace::MadeCall;

/// The name of the worker, as templates see it.
const WORKER: &str = "test";

/// A command that is worked on.
#[derive(Debug)]
pub struct Job {
    pub attempt: u16,
    pub command: Command,
    pub pipeline: Pipeline,
}

/// A call as mocks see it.
#[derive(Clone, Debug)]
pub struct Situation {
    /// The task is always named.
    pub address: Address,
    /// The task is the only one of its step.
    pub is_single: bool,
    pub kind: Arc<str>,
    pub input: Value,
    pub settings: Value,
    pub attempt: u32,
    /// The place in the loop, of the task or else of the step.
    pub index: Option<u32>,
    pub item: Value,
    pub context: Arc<CommandContext>,
    pub source: Source,
}

impl World<'_> {
    /// A worker takes a command as soon as it is given out.
    pub(super) fn take(&mut self, command: Command) {
        let work = Work { execution: command.execution, command: command.key, attempt: command.attempt };
        let names = self.worker_names(&command);
        let Some(live) = self.runs.get_mut(&command.execution) else {
            return;
        };
        let pipeline = Pipeline::new(live.playbook.plan.clone(), command.clone(), names, self.shelf.clone());
        live.jobs.insert(command.key, Job { attempt: command.attempt, command, pipeline });
        self.work(work);
    }

    /// Names that a worker binds.
    fn worker_names(&self, command: &Command) -> BTreeMap<Arc<str>, View> {
        let mut names = BTreeMap::new();
        names.insert("worker_id".into(), View::Value(WORKER.into()));
        names.insert("command_id".into(), View::Value(command.key.to_string().into()));
        let plan = self.runs.get(&command.execution).map(|live| &live.playbook.plan);
        if plan.is_some_and(|plan| !plan.keychain.is_empty()) || !self.case.keychain.is_empty() {
            names.insert("keychain".into(), View::Lazy(self.keychain.clone()));
        }
        names
    }

    fn job(&mut self, work: Work) -> Option<&mut Job> {
        let live = self.runs.get_mut(&work.execution)?;
        live.jobs.get_mut(&work.command).filter(|job| job.attempt == work.attempt)
    }

    /// Goes on with a command until it waits for something or is over.
    pub(super) fn work(&mut self, work: Work) {
        while self.problem.is_none() {
            let now = self.now;
            let Some(next) = self.job(work).map(|job| job.pipeline.next(now)) else {
                return;
            };
            if let Some(entry) = self.keychain.missing() {
                self.problem = Some(self.missing_entry(work, &entry));
                return;
            }
            match next {
                Next::Call(calls) => {
                    for call in calls {
                        if call.delay_seconds > 0.0 {
                            let at = later(now, call.delay_seconds);
                            self.agenda.put(at, Happening::CallBegins { work, call: Box::new(call) });
                        } else {
                            self.call(work, call);
                        }
                    }
                }
                Next::Wait => return,
                Next::Load(missing) => self.shelf.fetch(&missing, self.runs.values()),
                Next::Report(outcome) => {
                    self.report(work, *outcome);
                    return;
                }
            }
        }
    }

    /// The command is over, or waits for something outside.
    fn report(&mut self, work: Work, outcome: Outcome) {
        if let Outcome::Suspended { on, .. } = &outcome {
            self.suspend(work, on);
        }
        if let Some(live) = self.runs.get_mut(&work.execution) {
            live.jobs.remove(&work.command);
        }
        let input = Input::Ended { command: work.command, attempt: work.attempt, outcome };
        self.inbox.push_back((work.execution, input));
    }

    /// Makes a call: a mock answers, or the tool itself.
    pub(super) fn call(&mut self, work: Work, call: TaskCall) {
        let Some(situation) = self.situation_of(work, &call) else {
            return;
        };
        self.note_call(&situation);
        let mocked = match self.mocked(&situation) {
            Ok(mocked) => mocked,
            Err(problem) => {
                self.problem = Some(*problem);
                return;
            }
        };
        let (mut report, mut delay) = match mocked {
            Some(answer) => answer,
            None if &*call.kind == "noop" || self.case.allow.contains(&call.kind) => {
                (self.call_for_real(&situation, &call), 0.0)
            }
            None => {
                self.problem = Some(self.unanswered(&situation));
                return;
            }
        };
        if let Some(limit) = call.timeout.filter(|limit| delay > *limit) {
            let message = format!("the {} call was stopped at its timeout of {limit} s", call.kind);
            report = Report::failure(ToolError::new(ErrorKind::Timeout, message).with_code("TIMEOUT"));
            delay = limit;
        }
        report.duration_ms = delay * 1000.0;
        if delay > 0.0 {
            let at = later(self.now, delay);
            let (call, report) = (Box::new(call), Box::new(report));
            self.agenda.put(at, Happening::CallEnds { work, call, report });
        } else {
            self.end_call(work, &call, report);
        }
    }

    pub(super) fn end_call(&mut self, work: Work, call: &TaskCall, report: Report) {
        if let Some(job) = self.job(work) {
            job.pipeline.finished(call, report);
        }
    }

    fn call_for_real(&self, situation: &Situation, call: &TaskCall) -> Report {
        let context = &situation.context;
        let mut names = context.identity.as_map().cloned().unwrap_or_default();
        names.insert("step".into(), Value::Text(situation.address.step.clone()));
        names.insert("worker_id".into(), WORKER.into());
        if call.code.is_some() {
            let mut variables = context.workload.as_map().cloned().unwrap_or_default();
            variables.extend(context_at_hand(context));
            names.insert("variables".into(), variables.into());
        }
        self.tools.call(RealCall {
            task: call,
            playbook: &situation.address.playbook,
            names: names.into(),
            credentials: &self.case.credentials,
        })
    }

    fn situation_of(&mut self, work: Work, call: &TaskCall) -> Option<Situation> {
        let job = self.job(work)?;
        let is_claim = matches!(job.command.key.item, Item::Claim(_));
        let command = job.command.clone();
        self.situation(work.execution, &command, call.task, is_claim, Some(call.item)).map(|situation| {
            Situation {
                input: call.input.clone(),
                settings: call.config.clone(),
                attempt: call.attempt,
                ..situation
            }
        })
    }

    /// What is known of a call from where it is made. `item` is the place in the task's own loop, if it has one.
    pub(super) fn situation(
        &self,
        execution: ExecutionId,
        command: &Command,
        task: usize,
        is_claim: bool,
        item: Option<u32>,
    ) -> Option<Situation> {
        let playbook = &self.runs.get(&execution)?.playbook;
        let step: &Step = playbook.plan.steps.get(command.step_index as usize)?;
        let task: &Task = if is_claim { claim_of(step)? } else { step.tasks.get(task)? };
        let looped = command.item.as_ref();
        Some(Situation {
            address: Address {
                playbook: playbook.plan.path.clone(),
                step: step.name.clone(),
                task: Some(task.label.clone()),
            },
            is_single: step.single && !is_claim,
            kind: task.kind.clone(),
            input: Value::Null,
            settings: Value::Null,
            attempt: 1,
            index: item.filter(|_| task.looping.is_some()).or(looped.map(|item| item.index)),
            item: looped.and_then(|item| item.value.as_inline()).cloned().unwrap_or_default(),
            context: command.context.clone(),
            source: Source {
                file: playbook.file.clone(),
                line: task.line,
                what: if step.single && !is_claim {
                    format!("step {}", step.name)
                } else {
                    format!("step {}, task {}", step.name, task.label)
                },
            },
        })
    }

    pub(super) fn note_call(&mut self, situation: &Situation) {
        self.calls.push(MadeCall {
            address: situation.address.clone(),
            kind: situation.kind.clone(),
            input: situation.input.clone(),
            settings: situation.settings.clone(),
        });
    }

    /// Notes what a command waits for, and sees to it that what the case has for it comes.
    fn suspend(&mut self, work: Work, on: &Await) {
        let Some(job) = self.job(work) else {
            return;
        };
        let place = job.pipeline.place();
        let command = job.command.clone();
        let Some(situation) = self.situation(work.execution, &command, place.task, false, place.item) else {
            return;
        };
        let situation = Situation { attempt: place.attempt, ..situation };
        self.wait_for(work, on, situation);
    }

    fn missing_entry(&mut self, work: Work, entry: &str) -> Problem {
        let place = self.case.place;
        let command = self.job(work).map(|job| job.command.clone());
        let situation = command.and_then(|command| self.situation(work.execution, &command, 0, false, None));
        Problem::new(
            "keychain",
            format!("a template reads `keychain.{entry}`, which the case does not give"),
            place,
        )
        .with_help(format!("add `keychain: {{{entry}: {{…}}}}` to the case or to the file"))
        .at(situation.map(|situation| situation.source))
    }
}

/// What is under `ctx`, as far as it is at hand.
pub(super) fn context_at_hand(context: &CommandContext) -> Map {
    context.ctx.iter().filter_map(|(key, slot)| Some((key.clone(), slot.as_inline()?.clone()))).collect()
}
