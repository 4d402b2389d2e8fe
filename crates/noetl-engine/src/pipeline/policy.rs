//! Judges the rules of a task: the first that matches decides.

use std::sync::Arc;

use noetl_dsl::plan::{Action, Backoff, Retry};
use noetl_types::{ErrorKind, Report, Timestamp, ToolError};

use super::{Pipeline, SetsOf};
use crate::decide::{count, number};
use crate::values::Resolver;

/// What happens after a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    Continue,
    /// Call again after this many seconds.
    Retry(f64),
    Break,
    Jump(usize),
    Fail,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Continue => "continue",
            Verdict::Retry(_) => "retry",
            Verdict::Break => "break",
            Verdict::Jump(_) => "jump",
            Verdict::Fail => "fail",
        }
    }
}

impl Pipeline {
    /// The verdict on a call and the rule it comes from. Applies the rule's `set`. When the verdict is to fail, the report
    /// has an error that says why.
    pub(super) fn verdict(
        &mut self,
        at: usize,
        item: Option<u32>,
        attempt: u32,
        report: &mut Report,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) -> (Verdict, Option<u32>) {
        let default = if report.is_error() { Verdict::Fail } else { Verdict::Continue };
        if self.tasks()[at].rules.is_empty() {
            return (default, None);
        }
        match self.matching_rule(at, item, attempt, report, now, resolver) {
            Ok(None) => (default, None),
            Ok(Some(rule)) => {
                let verdict = self.carry_out(at, item, rule, attempt, report, now, resolver);
                match verdict {
                    Ok(verdict) => (verdict, Some(rule as u32)),
                    Err(error) => {
                        report.error = Some(error);
                        (Verdict::Fail, Some(rule as u32))
                    }
                }
            }
            Err(error) => {
                report.error = Some(error);
                (Verdict::Fail, None)
            }
        }
    }

    fn matching_rule(
        &self,
        at: usize,
        item: Option<u32>,
        attempt: u32,
        report: &Report,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) -> Result<Option<usize>, ToolError> {
        let task = &self.tasks()[at];
        let scope = self.names(at, item, attempt, Some(report), resolver).scope(now);
        for (index, rule) in task.rules.iter().enumerate() {
            let holds = match &rule.when {
                None => true,
                Some(when) => when.holds(&scope).map_err(|error| {
                    let message = format!("{}, rule {}: {error}", self.subject(at), index + 1);
                    ToolError::new(ErrorKind::Template, message)
                })?,
            };
            if holds {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    #[expect(clippy::too_many_arguments, reason = "where the rule stands and what it sees")]
    fn carry_out(
        &mut self,
        at: usize,
        item: Option<u32>,
        rule: usize,
        attempt: u32,
        report: &mut Report,
        now: Timestamp,
        resolver: &Arc<Resolver>,
    ) -> Result<Verdict, ToolError> {
        self.assign_all(SetsOf::Rule(at, rule), at, item, attempt, report, now, resolver)?;
        let scope = self.names(at, item, attempt, Some(report), resolver).scope(now);
        let task = &self.tasks()[at];
        Ok(match &task.rules[rule].action {
            Action::Continue => Verdict::Continue,
            Action::Break => Verdict::Break,
            Action::Jump(to) => Verdict::Jump(*to),
            Action::Fail => {
                report.error.get_or_insert_with(|| {
                    let message = format!("rule {} of {} says fail", rule + 1, self.subject(at));
                    ToolError::new(ErrorKind::Policy, message)
                });
                Verdict::Fail
            }
            Action::Retry(retry) => {
                let attempts = count(&retry.attempts, "attempts", &scope)?;
                if attempt < attempts {
                    Verdict::Retry(delay(retry, attempt, number(&retry.delay, "delay", &scope)?))
                } else {
                    report.error.get_or_insert_with(|| {
                        let message = format!(
                            "{} was tried {attempts} times and rule {} still asks to retry",
                            self.subject(at),
                            rule + 1
                        );
                        ToolError::new(ErrorKind::Policy, message)
                    });
                    Verdict::Fail
                }
            }
        })
    }
}

/// How long to wait after this attempt.
fn delay(retry: &Retry, attempt: u32, seconds: f64) -> f64 {
    match retry.backoff {
        Backoff::None => 0.0,
        Backoff::Fixed => seconds,
        Backoff::Linear => seconds * f64::from(attempt),
        Backoff::Exponential => seconds * 2f64.powi(attempt.saturating_sub(1).min(62) as i32),
    }
}
