//! A worker's share of the simulation: one command, and the watch over the calls its pipeline asks for.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::{Action, Backoff, LoopSource, Retry, Task};
use noetl_engine::Values;
use noetl_engine::pipeline::{Pipeline, TaskCall};
use noetl_types::{Command, CommandKey, ExecutionId, Item, Outcome};

#[derive(Debug)]
pub struct Job {
    pub execution: ExecutionId,
    pub key: CommandKey,
    pub attempt: u16,
    pub begun: bool,
    /// Someone else may have the command by now.
    pub lease_expired: bool,
    pub pipeline: Pipeline,
    /// Calls under way.
    pub calls: Vec<TaskCall>,
    watch: Watch,
}

impl Job {
    pub fn new(plan: &Arc<Plan>, command: Command, values: Arc<dyn Values>) -> Job {
        let watch = Watch {
            plan: plan.clone(),
            step: command.step_index as usize,
            is_claim: matches!(command.key.item, Item::Claim(_)),
            resumed: command.resume.is_some(),
            tried: BTreeMap::new(),
            last: None,
        };
        Job {
            execution: command.execution,
            key: command.key,
            attempt: command.attempt,
            begun: false,
            lease_expired: false,
            pipeline: Pipeline::new(plan.clone(), command, BTreeMap::new(), values),
            calls: Vec::new(),
            watch,
        }
    }

    /// Takes on a call. Tells whether it is a repeated one.
    pub fn call(&mut self, call: TaskCall) -> Result<bool, String> {
        self.watch.call(&call)?;
        let again = call.attempt > 1;
        self.calls.push(call);
        Ok(again)
    }

    pub fn check_outcome(&self, outcome: &Outcome) -> Result<(), String> {
        if !self.calls.is_empty() {
            return Err(format!(
                "the pipeline of {} reports while {} calls are under way",
                self.key,
                self.calls.len()
            ));
        }
        self.watch.outcome(outcome)
    }
}

/// Checks attempts and delays of calls against the rules of their tasks.
#[derive(Debug)]
struct Watch {
    plan: Arc<Plan>,
    step: usize,
    is_claim: bool,
    /// The pipeline goes on from a suspension, and its next call may be a further attempt.
    resumed: bool,
    /// The last attempt at each task, or at each item of its loop.
    tried: BTreeMap<(usize, u32), u32>,
    last: Option<(usize, u32)>,
}

impl Watch {
    fn task(&self, at: usize) -> &Task {
        let step = &self.plan.steps[self.step];
        match step.looping.as_ref().map(|looping| &looping.source) {
            Some(LoopSource::Cursor(cursor)) if self.is_claim => &cursor.claim,
            _ => &step.tasks[at],
        }
    }

    fn retries(&self, at: usize) -> impl Iterator<Item = &Retry> {
        self.task(at).rules.iter().filter_map(|rule| match &rule.action {
            Action::Retry(retry) => Some(retry),
            _ => None,
        })
    }

    fn call(&mut self, call: &TaskCall) -> Result<(), String> {
        let place = (call.task, call.item);
        let in_loop = self.task(call.task).looping.is_some();
        let name = format!(
            "{}/{}#{} attempt {}",
            self.plan.steps[self.step].name, call.label, call.item, call.attempt
        );
        let resumed = std::mem::take(&mut self.resumed);
        if call.attempt > 1 && !resumed {
            let follows =
                self.tried.get(&place) == Some(&(call.attempt - 1)) && (in_loop || self.last == Some(place));
            if !follows {
                return Err(format!("call {name} does not follow the attempt before it"));
            }
            let as_ruled =
                |retry: &Retry| delay_of(retry, call.attempt).is_none_or(|delay| delay == call.delay_seconds);
            if !self.retries(call.task).any(as_ruled) {
                return Err(format!("call {name} waits {} s, which no rule says", call.delay_seconds));
            }
        }
        let most =
            self.retries(call.task).map(|retry| attempts_of(retry).unwrap_or(u32::MAX)).max().unwrap_or(1);
        if call.attempt > most {
            return Err(format!("call {name} is one more than the {most} that its rules allow"));
        }
        self.tried.insert(place, call.attempt);
        self.last = Some(place);
        Ok(())
    }

    /// A task that failed because its tries were used up was tried as often as its rule says.
    fn outcome(&self, outcome: &Outcome) -> Result<(), String> {
        let (Outcome::Finished { decisions, report, .. }, Some(last)) = (outcome, self.last) else {
            return Ok(());
        };
        let task = self.task(last.0);
        let Some(decision) =
            decisions.last().filter(|decision| &*decision.action == "fail" && report.is_error())
        else {
            return Ok(());
        };
        let rule = decision.rule.and_then(|rule| task.rules.get(rule as usize));
        let Some(Action::Retry(retry)) = rule.map(|rule| &rule.action) else {
            return Ok(());
        };
        let given_up_early = task.looping.is_none()
            && decision.task == task.label
            && attempts_of(retry)
                .is_some_and(|most| self.tried.get(&last).is_some_and(|&tried| tried < most));
        if given_up_early {
            let tried = self.tried.get(&last).copied().unwrap_or(0);
            return Err(format!(
                "task '{}' failed after {tried} tries, and its rule allows more",
                task.label
            ));
        }
        Ok(())
    }
}

/// The number of tries, unless a template says it.
fn attempts_of(retry: &Retry) -> Option<u32> {
    retry.attempts.as_literal().and_then(|attempts| u32::try_from(attempts.as_i64()?).ok())
}

/// The wait before this attempt.
fn delay_of(retry: &Retry, attempt: u32) -> Option<f64> {
    let delay = retry.delay.as_literal()?.as_f64()?;
    let before = f64::from(attempt - 1);
    Some(match retry.backoff {
        Backoff::None => 0.0,
        Backoff::Fixed => delay,
        Backoff::Linear => delay * before,
        Backoff::Exponential => delay * 2f64.powf(before - 1.0),
    })
}
