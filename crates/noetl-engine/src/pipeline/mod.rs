//! Interprets the tasks of one step: renders them, judges their rules, loops over them, and says what to call next.
//!
//! It is pure. A worker makes a [`Pipeline`] from a command, asks [`Pipeline::next`], makes the calls it is told to, and
//! feeds back what they came to with [`Pipeline::finished`]. A single tool is a pipeline of one task. What waits for
//! something outside (another playbook, a signal, a long delay) ends in a suspended outcome, from which a later command
//! goes on.

mod awaits;
mod nested;
mod policy;
mod scope;
mod shape;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::{LoopSource, Step, Task};
use noetl_expr::View;
use noetl_types::{
    Assignment, Await, Command, ErrorKind, Item, Outcome, Report, Resolution, StoredValue, Timestamp,
    ToolError, Value,
};

use crate::decide::number;
use crate::values::{Resolver, Values};
use policy::Verdict;
use state::PipelineState;

pub use state::TaskCall;

/// Calls a pipeline may make before it is taken for endless.
const MAX_CALLS: u64 = 1_000_000;

/// What a pipeline wants next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Make these calls, each after its delay, and feed back what they came to, in any order.
    Call(Vec<TaskCall>),
    /// Calls are under way; nothing else is to be done until one of them ends.
    Wait,
    /// The pipeline is over, or suspended.
    Report(Box<Outcome>),
    /// These values are needed; ask again once they are at hand.
    Load(Vec<Arc<StoredValue>>),
}

/// The task that a pipeline is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPlace {
    /// Its position in the pipeline.
    pub task: usize,
    /// The item of its own loop that waits.
    pub item: Option<u32>,
    /// From 1.
    pub attempt: u32,
}

/// The tasks of one step under interpretation.
#[derive(Debug)]
pub struct Pipeline {
    plan: Arc<Plan>,
    step: usize,
    command: Command,
    /// Names bound by the worker: `keychain`, `server_url`, `worker_id` and the like.
    extra: Arc<BTreeMap<Arc<str>, View>>,
    values: Arc<dyn Values>,
    state: PipelineState,
    /// Where things stand between calls; only [`PipelineState`] outlives a suspension.
    phase: Phase,
    /// Some of the data is stored aside, so an evaluation may have to be repeated.
    may_lack_values: bool,
}

#[derive(Clone, Debug)]
enum Phase {
    /// The task at the cursor is to be called, after a delay in seconds.
    Begin(f64),
    /// Calls are under way.
    Calling,
    /// A call has ended and is to be judged.
    Judge(Box<Report>),
    /// The wait at the cursor is over.
    Resume(Box<Resolution>),
    Over(Box<Outcome>),
}

impl Pipeline {
    pub fn new(
        plan: Arc<Plan>,
        command: Command,
        extra: BTreeMap<Arc<str>, View>,
        values: Arc<dyn Values>,
    ) -> Pipeline {
        let step = command.step_index as usize;
        let (state, phase) = match &command.resume {
            None => (PipelineState::default(), Phase::Begin(0.0)),
            Some(resume) => match PipelineState::from_value(&resume.pipeline) {
                Ok(state) => (state, Phase::Resume(Box::new(resume.with.clone()))),
                Err(error) => {
                    let report = Report::failure(ToolError::new(ErrorKind::Schema, error));
                    (PipelineState::default(), Phase::Over(Box::new(Outcome::finished(report))))
                }
            },
        };
        let may_lack_values = scope::has_stored(&command);
        Pipeline { plan, step, command, extra: Arc::new(extra), values, state, phase, may_lack_values }
    }

    fn step(&self) -> &Step {
        &self.plan.steps[self.step]
    }

    /// The tasks this command runs: the step's, or the claim of its cursor.
    fn tasks(&self) -> &[Task] {
        let step = self.step();
        match (self.command.key.item, step.looping.as_ref().map(|looping| &looping.source)) {
            (Item::Claim(_), Some(LoopSource::Cursor(cursor))) => std::slice::from_ref(&cursor.claim),
            _ => &step.tasks,
        }
    }

    /// The task it is at; for one that is suspended, the task that waits.
    pub fn place(&self) -> TaskPlace {
        let waiting = self.state.nested.as_ref().and_then(|nested| {
            let item = nested.waiting_item?;
            Some((item, nested.open.get(&item).map_or(1, |open| open.attempt)))
        });
        TaskPlace {
            task: self.state.at,
            item: waiting.map(|(item, _)| item),
            attempt: waiting.map_or(self.state.attempt, |(_, attempt)| attempt),
        }
    }

    /// How messages name a task: by its step when it is the only one.
    fn subject(&self, at: usize) -> String {
        if self.step().single {
            format!("step '{}'", self.step().name)
        } else {
            format!("task '{}'", self.tasks()[at].label)
        }
    }

    fn is_claim(&self) -> bool {
        matches!(self.command.key.item, Item::Claim(_))
    }

    /// Goes on as far as possible. Ask again after feeding something back.
    pub fn next(&mut self, now: Timestamp) -> Next {
        loop {
            if let Phase::Over(outcome) = &self.phase {
                return Next::Report(outcome.clone());
            }
            let resolver = Resolver::new(&self.values);
            let before = self.may_lack_values.then(|| (self.state.clone(), self.phase.clone()));
            let result = match std::mem::replace(&mut self.phase, Phase::Calling) {
                Phase::Begin(delay) => self.begin(delay, now, &resolver),
                Phase::Calling if self.state.nested.is_some() => self.continue_nested(now, &resolver),
                Phase::Calling => Ok(Some(Next::Wait)),
                Phase::Judge(report) => self.judge(*report, now, &resolver).map(|()| None),
                Phase::Resume(with) => self.resume(*with, now, &resolver).map(|()| None),
                Phase::Over(_) => Ok(None),
            };
            // An evaluation that lacked a value counts for nothing, whatever came of it.
            let missing = resolver.take_missing();
            if let (false, Some((state, phase))) = (missing.is_empty(), before) {
                self.state = state;
                self.phase = phase;
                return Next::Load(missing);
            }
            match result {
                Ok(Some(next)) => return next,
                Ok(None) => {}
                Err(error) => self.phase = Phase::Judge(Box::new(Report::failure(error))),
            }
        }
    }

    /// Feeds back what a call came to.
    pub fn finished(&mut self, call: &TaskCall, report: Report) {
        match &mut self.state.nested {
            Some(nested) => nested.ended(call.item, call.attempt, report),
            None => self.phase = Phase::Judge(Box::new(report)),
        }
    }

    /// Gives up waiting in place: instead of making a call after its delay, the pipeline is suspended until then. Only
    /// for a call that is the sole one.
    pub fn suspend_for_delay(&mut self, seconds: f64) -> Outcome {
        self.suspend(Await::Sleep { seconds })
    }

    fn suspend(&mut self, on: Await) -> Outcome {
        let sets = std::mem::take(&mut self.state.sets);
        let outcome = Outcome::Suspended { pipeline: self.state.to_value(), on, sets };
        self.phase = Phase::Over(Box::new(outcome.clone()));
        outcome
    }

    fn begin(
        &mut self,
        delay: f64,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) -> Result<Option<Next>, ToolError> {
        if self.state.at >= self.tasks().len() {
            self.complete();
            return Ok(None);
        }
        self.state.calls += 1;
        if self.state.calls > MAX_CALLS {
            let message = format!("the pipeline made more than {MAX_CALLS} calls; it looks endless");
            self.fail(Report::failure(ToolError::new(ErrorKind::Config, message)));
            return Ok(None);
        }
        let task = &self.tasks()[self.state.at];
        if task.looping.is_some() && self.state.nested.is_none() {
            self.begin_nested(now, resolver)?;
            return Ok(None);
        }
        let rendered = self.render(self.state.at, None, self.state.attempt, delay, now, resolver)?;
        self.phase = Phase::Calling;
        match awaits::of(&rendered, &self.command.step, &self.subject(self.state.at)) {
            // The delay before another try is waited out first; then the task is rendered anew.
            Some(Ok(_)) if delay > 0.0 => Ok(Some(Next::Report(Box::new(self.suspend_for_delay(delay))))),
            Some(Ok(on)) => {
                self.state.waiting = Some(on.clone());
                Ok(Some(Next::Report(Box::new(self.suspend(on)))))
            }
            Some(Err(error)) => Err(error),
            None => Ok(Some(Next::Call(vec![rendered]))),
        }
    }

    /// A task with everything in it evaluated.
    fn render(
        &self,
        at: usize,
        item: Option<u32>,
        attempt: u32,
        delay: f64,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) -> Result<TaskCall, ToolError> {
        let task = &self.tasks()[at];
        let names = self.names(at, item, attempt, None, resolver);
        let scope = names.clone().scope(now);
        let failed = |place: &str, error: noetl_expr::EvalError| {
            ToolError::new(ErrorKind::Template, format!("{}, {place}: {error}", self.subject(at)))
        };
        let input = task.input.render(&scope).map_err(|error| failed("input", error))?;
        let scope = scope::with_input(names, &input).scope(now);
        let config = task.config.render(&scope).map_err(|error| failed("settings", error))?;
        let code = match &task.code {
            Some(code) => {
                Some((code.template.render(&scope).map_err(|error| failed("code", error))?, code.line))
            }
            None => None,
        };
        let timeout = match &task.timeout {
            Some(template) => Some(number(template, "timeout", &scope)?),
            None => None,
        };
        let input = match &*task.kind {
            "python" | "rhai" => self.with_iteration_variables(input, item, resolver),
            _ => input,
        };
        Ok(TaskCall {
            task: at,
            label: task.label.clone(),
            kind: task.kind.clone(),
            item: item.unwrap_or(0),
            attempt,
            delay_seconds: delay,
            config,
            input,
            code: code.map(|(text, line)| (text.as_str().unwrap_or_default().into(), line)),
            timeout,
            line: task.line,
        })
    }

    fn judge(
        &mut self,
        mut report: Report,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) -> Result<(), ToolError> {
        if self.is_claim() {
            self.finish_claim(report);
            return Ok(());
        }
        let at = self.state.at;
        let attempt = self.state.attempt;
        if report.error.is_none() && !self.tasks()[at].set.is_empty() {
            match self.assign_all(SetsOf::Task(at), at, None, attempt, &report, now, resolver) {
                Ok(()) => {}
                Err(error) => report = Report { error: Some(error), ..report },
            }
        }
        let (verdict, rule) = self.verdict(at, None, attempt, &mut report, now, resolver);
        self.note(at, attempt, rule, verdict.name(), now);
        match verdict {
            Verdict::Retry(delay) => {
                self.state.attempt += 1;
                self.phase = Phase::Begin(delay);
            }
            Verdict::Continue => {
                self.keep(at, &report);
                self.go_to(at + 1);
            }
            Verdict::Jump(to) => {
                self.keep(at, &report);
                self.go_to(to);
            }
            Verdict::Break => {
                self.keep(at, &report);
                self.complete();
            }
            Verdict::Fail => {
                self.keep(at, &report);
                self.fail(report);
            }
        }
        Ok(())
    }

    fn go_to(&mut self, at: usize) {
        self.state.at = at;
        self.state.attempts = self.state.attempt;
        self.state.attempt = 1;
        self.phase = Phase::Begin(0.0);
    }

    fn keep(&mut self, at: usize, report: &Report) {
        let label = self.tasks()[at].label.clone();
        self.state.results.shift_remove(&label);
        self.state.results.insert(label, shape::kept(report));
        self.state.facets = report.facets.clone();
        self.state.duration_ms += report.duration_ms;
        self.state.attempts = self.state.attempt;
    }

    fn note(&mut self, at: usize, attempt: u32, rule: Option<u32>, action: &str, now: Timestamp) {
        let ordinary = rule.is_none() && action == "continue";
        if !ordinary && self.state.decisions.len() < state::DECISIONS_KEPT {
            let task = self.tasks()[at].label.clone();
            let action = action.into();
            let decision = noetl_types::PolicyDecision { task, attempt, rule, action, at: Some(now) };
            self.state.decisions.push(decision);
        }
    }

    fn complete(&mut self) {
        let data = shape::result(self.step(), &self.state);
        self.over(Report {
            data: data.into(),
            error: None,
            facets: self.state.facets.clone(),
            duration_ms: 0.0,
        });
    }

    fn fail(&mut self, mut report: Report) {
        // A whole step is let complete at its end; an item of a loop is counted by what it reports.
        let is_item = matches!(self.command.key.item, Item::At(_));
        if is_item && self.plan.executor.lenient && report.error.as_ref().is_some_and(|error| error.answered)
        {
            report.error = None;
        }
        let data = shape::failed(
            self.step(),
            &self.state,
            &report,
            &self.tasks()[self.state.at.min(self.tasks().len() - 1)],
        );
        self.over(Report { data: data.into(), ..report });
    }

    fn over(&mut self, mut report: Report) {
        report.duration_ms = self.state.duration_ms;
        let outcome = Outcome::Finished {
            report,
            sets: std::mem::take(&mut self.state.sets),
            attempts: self.state.attempts.max(1),
            decisions: std::mem::take(&mut self.state.decisions),
        };
        self.phase = Phase::Over(Box::new(outcome));
    }

    /// What a claim found, in the one form the engine reads.
    fn finish_claim(&mut self, report: Report) {
        let report = match (&report.error, &report.data) {
            (None, noetl_types::Slot::Inline(data)) => Report { data: shape::claimed(data).into(), ..report },
            _ => report,
        };
        self.over(report);
    }

    fn resume(
        &mut self,
        with: Resolution,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) -> Result<(), ToolError> {
        match self.state.waiting.take() {
            None => {
                // A delay before a retry is over.
                if self.state.nested.is_some() {
                    self.call_again();
                } else {
                    self.phase = Phase::Begin(0.0);
                }
                Ok(())
            }
            Some(on) => {
                let report = awaits::report(&on, awaits::with_data(with, resolver));
                if self.state.nested.is_some() {
                    self.resume_nested(report);
                    Ok(())
                } else {
                    self.judge(report, now, resolver)
                }
            }
        }
    }
}

/// Whose `set` is applied.
#[derive(Clone, Copy, Debug)]
enum SetsOf {
    Task(usize),
    Rule(usize, usize),
}

impl Pipeline {
    /// Applies `set` entries: `ctx` is remembered for the outcome and seen from here on, `iter` and `step` stay here.
    #[expect(clippy::too_many_arguments, reason = "where the entries stand and what they see")]
    fn assign_all(
        &mut self,
        of: SetsOf,
        at: usize,
        item: Option<u32>,
        attempt: u32,
        report: &Report,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) -> Result<(), ToolError> {
        let scope = self.names(at, item, attempt, Some(report), resolver).scope(now);
        let entries = match of {
            SetsOf::Task(at) => &self.tasks()[at].set,
            SetsOf::Rule(at, rule) => &self.tasks()[at].rules[rule].set,
        };
        let mut assigned = Vec::with_capacity(entries.len());
        for entry in entries {
            let value = entry.value.render(&scope).map_err(|error| {
                ToolError::new(
                    ErrorKind::Template,
                    format!("{}, set {}: {error}", self.subject(at), entry.path),
                )
            })?;
            assigned.push((entry.scope, entry.path.clone(), value));
        }
        for (scope, path, value) in assigned {
            self.assign(scope, path, value, item, resolver);
        }
        Ok(())
    }

    fn assign(
        &mut self,
        scope: noetl_dsl::plan::SetScope,
        path: Arc<str>,
        value: Value,
        item: Option<u32>,
        resolver: &Resolver,
    ) {
        use noetl_dsl::plan::SetScope;
        let (first, rest) = path.split_once('.').map_or((&*path, None), |(first, rest)| (first, Some(rest)));
        let whole = |below: Option<Value>| match rest {
            None => value.clone(),
            Some(rest) => {
                below.unwrap_or_default().with_path(&rest.split('.').collect::<Vec<_>>(), value.clone())
            }
        };
        match scope {
            SetScope::Ctx => {
                let below = self
                    .state
                    .ctx
                    .get(first)
                    .cloned()
                    .or_else(|| self.command.context.ctx.get(first).and_then(|slot| resolver.load(slot)));
                self.state.ctx.insert(first.into(), whole(below));
                self.state.sets.push(Assignment { path, value: value.into() });
            }
            SetScope::Iter | SetScope::Step => {
                let assigned = match (&mut self.state.nested, item) {
                    (Some(nested), Some(item)) if scope == SetScope::Iter => nested.assigned_of(item),
                    _ if scope == SetScope::Step => &mut self.state.step,
                    _ => &mut self.state.iter,
                };
                let below = assigned.get(first).cloned();
                assigned.insert(first.into(), whole(below));
            }
        }
    }
}
