//! The loop of a task inside a pipeline.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use noetl_dsl::plan::{LoopFailure, LoopMode, LoopSource};
use noetl_types::{ErrorKind, LoopItems, Report, Slot, Timestamp, ToolError, Value};

use super::policy::Verdict;
use super::state::{Nested, OpenItem};
use super::{Next, Phase, Pipeline, SetsOf, awaits, shape};
use crate::apply::item_result;
use crate::decide::{count, failures_allowed, items};
use crate::values::Resolver;

/// Calls of a parallel task loop that may be under way at once unless it says otherwise.
const DEFAULT_IN_FLIGHT: u32 = 16;

impl Pipeline {
    /// Works out the items of the loop at the cursor.
    pub(super) fn begin_nested(&mut self, now: Timestamp, resolver: &Arc<Resolver>) -> Result<(), ToolError> {
        let at = self.state.at;
        let task = &self.tasks()[at];
        let Some(looping) = &task.looping else {
            return Ok(());
        };
        let LoopSource::In(source) = &looping.source else {
            let message =
                format!("{} has a cursor loop of its own; only steps can have one", self.subject(at));
            return Err(ToolError::new(ErrorKind::Config, message));
        };
        let scope = self.names(at, None, 1, None, resolver).scope(now);
        let value = source.render(&scope).map_err(|error| {
            ToolError::new(ErrorKind::Template, format!("{}, loop.in: {error}", self.subject(at)))
        })?;
        let (items, total) = items(value)?;
        let limit = match &looping.max_in_flight {
            Some(template) => Some(count(template, "loop.spec.max_in_flight", &scope)?),
            None => None,
        };
        let nested = Nested {
            items: match items {
                LoopItems::List(Slot::Inline(list)) => Some(list),
                _ => None,
            },
            total,
            max_in_flight: match looping.mode {
                LoopMode::Parallel => limit.unwrap_or(DEFAULT_IN_FLIGHT),
                _ => 1,
            },
            failures_allowed: failures_allowed(looping.on_error, total),
            next: 0,
            open: BTreeMap::new(),
            results: Vec::new(),
            success: 0,
            failed: 0,
            stopped: false,
            first_error: None,
            ended: VecDeque::new(),
            again: Vec::new(),
            waiting_item: None,
        };
        self.state.nested = Some(nested);
        self.phase = Phase::Calling;
        Ok(())
    }

    /// Judges items that have ended and starts further ones.
    pub(super) fn continue_nested(
        &mut self,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) -> Result<Option<Next>, ToolError> {
        self.phase = Phase::Calling;
        while let Some((item, attempt, report)) = self.nested().ended.pop_front() {
            self.judge_item(item, attempt, report, now, resolver);
        }
        let mut calls = Vec::new();
        for (item, delay) in std::mem::take(&mut self.nested().again) {
            if delay > 0.0 && awaits::is_wait(&self.tasks()[self.state.at].kind) {
                // Waits are under way one at a time, so nothing else is while this one is delayed.
                self.nested().again.push((item, 0.0));
                return Ok(Some(Next::Report(Box::new(self.suspend_for_delay(delay)))));
            }
            self.call_item(item, delay, &mut calls, now, resolver);
        }
        loop {
            let nested = self.nested();
            let room = nested.open.len() < nested.max_in_flight as usize;
            if nested.stopped || !room || nested.next >= nested.total || nested.waiting_item.is_some() {
                break;
            }
            let item = nested.next;
            nested.next += 1;
            nested.open.insert(item, OpenItem { attempt: 1, assigned: BTreeMap::new() });
            self.call_item(item, 0.0, &mut calls, now, resolver);
        }
        if !self.nested().ended.is_empty() {
            // A call that could not even be made has ended already.
            return if calls.is_empty() { Ok(None) } else { Ok(Some(Next::Call(calls))) };
        }
        if !calls.is_empty() {
            return Ok(Some(Next::Call(calls)));
        }
        if let Some(on) = self.state.waiting.clone() {
            // Others must have ended first: a suspended pipeline has no calls under way.
            if self.nested().open.len() == 1 {
                return Ok(Some(Next::Report(Box::new(self.suspend(on)))));
            }
        }
        if !self.nested().open.is_empty() {
            return Ok(Some(Next::Wait));
        }
        self.end_nested();
        Ok(None)
    }

    fn nested(&mut self) -> &mut Nested {
        self.state.nested.as_mut().expect("only called while the task at the cursor loops")
    }

    fn call_item(
        &mut self,
        item: u32,
        delay: f64,
        calls: &mut Vec<super::TaskCall>,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) {
        self.state.calls += 1;
        let at = self.state.at;
        let attempt = self.nested().open.get(&item).map_or(1, |open| open.attempt);
        let rendered = self.render(at, Some(item), attempt, delay, now, resolver);
        let awaited =
            rendered.as_ref().ok().and_then(|call| awaits::of(call, &self.command.step, &self.subject(at)));
        match (rendered, awaited) {
            (Ok(call), None) => calls.push(call),
            (Ok(_), Some(Ok(on))) => {
                self.state.waiting = Some(on);
                self.nested().waiting_item = Some(item);
            }
            (Err(error), _) | (_, Some(Err(error))) => {
                self.nested().ended(item, attempt, Report::failure(error))
            }
        }
    }

    /// The delay before the one item that is under way is called again is over.
    pub(super) fn call_again(&mut self) {
        self.phase = Phase::Calling;
        let nested = self.nested();
        if nested.again.is_empty() {
            nested.again = nested.open.keys().map(|&item| (item, 0.0)).collect();
        }
    }

    /// The wait of the one item that was suspended is over.
    pub(super) fn resume_nested(&mut self, report: Report) {
        self.phase = Phase::Calling;
        let nested = self.nested();
        if let Some(item) = nested.waiting_item.take() {
            let attempt = nested.open.get(&item).map_or(1, |open| open.attempt);
            nested.ended(item, attempt, report);
        }
    }

    fn judge_item(
        &mut self,
        item: u32,
        attempt: u32,
        mut report: Report,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) {
        let at = self.state.at;
        if self.nested().open.get(&item).is_none_or(|open| open.attempt != attempt) {
            return;
        }
        if report.error.is_none() && !self.tasks()[at].set.is_empty() {
            let assigned = self.assign_all(SetsOf::Task(at), at, Some(item), attempt, &report, now, resolver);
            report.error = assigned.err();
        }
        let (verdict, rule) = self.verdict(at, Some(item), attempt, &mut report, now, resolver);
        self.note(at, attempt, rule, verdict.name(), now);
        match verdict {
            Verdict::Retry(delay) => {
                let nested = self.nested();
                if let Some(open) = nested.open.get_mut(&item) {
                    open.attempt += 1;
                }
                nested.again.push((item, delay));
                return;
            }
            Verdict::Continue | Verdict::Jump(_) => {
                // An error that a rule lets pass is data.
                let data = shape::kept(&report);
                report = Report { data: data.into(), error: None, ..report };
            }
            Verdict::Break => {
                let data = shape::kept(&report);
                report = Report { data: data.into(), error: None, ..report };
                self.nested().stopped = true;
            }
            Verdict::Fail => {}
        }
        self.state.duration_ms += report.duration_ms;
        let nested = self.nested();
        nested.open.remove(&item);
        match &report.error {
            Some(error) => {
                nested.failed += 1;
                nested.first_error.get_or_insert_with(|| error.clone());
                nested.stopped |= nested.failures_allowed.is_some_and(|allowed| nested.failed > allowed);
            }
            None => nested.success += 1,
        }
        let value = match item_result(&report) {
            Slot::Inline(value) => value,
            Slot::Stored(_) => shape::kept(&report),
        };
        let at = item as usize;
        if nested.results.len() <= at {
            nested.results.resize(at + 1, Value::Null);
        }
        nested.results[at] = value;
    }

    /// All items are done: the task has its result and the pipeline goes on, or fails.
    fn end_nested(&mut self) {
        let Some(nested) = self.state.nested.take() else {
            return;
        };
        let at = self.state.at;
        let task = &self.tasks()[at];
        let on_error = task.looping.as_ref().map_or(LoopFailure::Report, |looping| looping.on_error);
        let fails = match on_error {
            LoopFailure::Continue => false,
            LoopFailure::Threshold(share) => f64::from(nested.failed) > share * f64::from(nested.total),
            LoopFailure::Report | LoopFailure::Fail => nested.failed > 0,
        };
        let error = nested.first_error.as_ref().filter(|_| fails).map(|first| {
            let message = format!(
                "{} of {} iterations of {} failed; the first: {}",
                nested.failed,
                nested.next,
                self.subject(at),
                first.message
            );
            let mut error = ToolError::new(ErrorKind::Loop, message);
            error.retryable = first.retryable;
            error
        });
        let results = Value::from(nested.results);
        let data = Value::map([
            ("status", Value::from(if error.is_some() { "error" } else { "success" })),
            (
                "stats",
                Value::map([
                    ("total", Value::from(nested.total)),
                    ("success", Value::from(nested.success)),
                    ("failed", Value::from(nested.failed)),
                    ("skipped", Value::from(nested.total - nested.next)),
                ]),
            ),
            ("iterations", Value::from(nested.next)),
            ("results", results.clone()),
            ("data", results),
        ]);
        let report = Report { data: data.into(), error, ..Report::default() };
        self.keep(at, &report);
        if report.is_error() {
            self.fail(report);
        } else {
            self.go_to(at + 1);
        }
    }
}
