//! Holds what happened in a case against what it expects.

use std::sync::Arc;

use noetl_dsl::plan::Plan;
use noetl_types::{EventBody, Outcome, RunStatus, Value};

use crate::address::{Address, ArcAddress, Playbook, Playbooks, target};
use crate::problem::{Problem, Source};
use crate::read::facts_of;
use crate::suite::{Case, Expectations, ExpectedCall, ExpectedError, Placed};
use crate::trace::{MadeCall, RunTrace, Trace};

/// Everything that is not as expected. What kept the case from going on stands for all the rest.
pub fn judge(case: &Case, playbooks: &Playbooks, trace: &Trace) -> Vec<Problem> {
    if let Some(problem) = &trace.problem {
        return vec![problem.clone()];
    }
    let Some(main) = &trace.main else {
        return Vec::new();
    };
    let mut judge = Judge { expect: &case.expect, playbooks, trace, main, problems: Vec::new() };
    judge.ending();
    judge.results();
    judge.steps();
    judge.arcs();
    judge.calls();
    judge.context();
    judge.elapsed();
    judge.problems
}

struct Judge<'j> {
    expect: &'j Expectations,
    playbooks: &'j Playbooks,
    trace: &'j Trace,
    main: &'j RunTrace,
    problems: Vec<Problem>,
}

impl Judge<'_> {
    fn ending(&mut self) {
        let (expected, place) = match (&self.expect.status, &self.expect.error) {
            (Some(status), _) => (&*status.is, status.place),
            (None, Some(error)) => ("failed", error.place),
            (None, None) => ("completed", self.expect.place),
        };
        let actual = word(self.main.run.status);
        if expected != actual {
            let problem = Problem::new(
                "status",
                format!("the run {}, and should have {}", self.how_it_ended(), should(expected)),
                place,
            );
            self.problems.push(problem.at(self.where_it_ended()));
        }
        if let Some(error) = &self.expect.error {
            self.error(error);
        }
        // A run that was to complete and did not has no result, which was just said.
        if let Some(result) =
            self.expect.result.as_ref().filter(|_| expected == actual || self.main.result.is_some())
        {
            let actual = self.main.result.clone().unwrap_or_default();
            if let Err(wanted) = result.is.judge(&actual) {
                let from =
                    self.main.run.last_leaf.as_ref().and_then(|step| step_source(&self.main.playbook, step));
                let problem = Problem::new("result", "the result is not as expected", result.place);
                self.problems.push(problem.with_difference(wanted, actual).at(from));
            }
        }
    }

    fn how_it_ended(&self) -> String {
        let run = &self.main.run;
        let why = run.error.as_ref().map_or(String::new(), |error| format!(": {}", error.message));
        match run.status {
            RunStatus::Completed => "completed".to_owned(),
            RunStatus::Failed => format!("failed{why}"),
            RunStatus::Cancelled => format!("was cancelled{why}"),
            _ => format!("waits: {}", self.main.waits.join("; ")),
        }
    }

    /// The step at which a run failed or waits, or whose data is its result.
    fn where_it_ended(&self) -> Option<Source> {
        let run = &self.main.run;
        let failed = run.failures.first().map(|failure| &failure.step);
        let waiting = || run.visits.values().next().map(|visit| &visit.step);
        let step = failed.or_else(waiting).or(run.last_leaf.as_ref())?;
        step_source(&self.main.playbook, step)
    }

    fn error(&mut self, expected: &Placed<ExpectedError>) {
        let run = &self.main.run;
        let Some(error) = &run.error else {
            return;
        };
        let facts = facts_of(error);
        if let Err(wanted) = expected.is.facts.judge(&facts) {
            let problem = Problem::new("error", "the error is not as expected", expected.place);
            self.problems.push(problem.with_difference(wanted, facts).at(self.where_it_ended()));
        }
        let failed = run.failures.first().map(|failure| failure.step.clone());
        if let Some(step) = expected.is.step.as_ref().filter(|step| failed.as_ref() != Some(step)) {
            let failed = failed.map_or("no step".to_owned(), |failed| format!("step `{failed}`"));
            let message = format!("{failed} failed, and it should have been `{step}`");
            self.problems.push(Problem::new("error", message, expected.place).at(self.where_it_ended()));
        }
    }

    fn results(&mut self) {
        for (address, expected) in &self.expect.results {
            let result = self.runs_of(address).rev().find_map(|run| run.results.get(&address.step));
            let source = self.source(address);
            let problem = match result {
                None => {
                    Problem::new("results", format!("step `{}` has no result", address.step), expected.place)
                }
                Some(actual) => match expected.is.judge(actual) {
                    Ok(()) => continue,
                    Err(wanted) => {
                        let message = format!("the result of step `{}` is not as expected", address.step);
                        Problem::new("results", message, expected.place)
                            .with_difference(wanted, actual.clone())
                    }
                },
            };
            self.problems.push(problem.at(source));
        }
    }

    fn runs_of(&self, address: &Address) -> impl DoubleEndedIterator<Item = &RunTrace> {
        let path = address.playbook.clone();
        let runs: Vec<&RunTrace> = self.trace.runs().filter(|run| run.playbook.plan.path == path).collect();
        runs.into_iter()
    }

    fn source(&self, address: &Address) -> Option<Source> {
        step_source(self.playbooks.by_path.get(&address.playbook)?, &address.step)
    }

    fn steps(&mut self) {
        if let Some(expected) = &self.expect.steps {
            let actual: Vec<&Arc<str>> = self.main.entered().collect();
            let differs = (0..expected.is.len().max(actual.len()))
                .find(|&at| expected.is.get(at) != actual.get(at).copied());
            if let Some(at) = differs {
                let step = actual.get(at).copied().or_else(|| expected.is.get(at));
                let source = step.and_then(|step| step_source(&self.main.playbook, step));
                let message = format!("the steps are not as expected, from number {} on", at + 1);
                let expected_list = Value::list(expected.is.iter().cloned().map(Value::Text));
                let actual_list = Value::list(actual.into_iter().cloned().map(Value::Text));
                let problem = Problem::new("steps", message, expected.place);
                self.problems.push(problem.with_difference(expected_list, actual_list).at(source));
            }
        }
        for (expected, wanted) in self
            .expect
            .ran
            .iter()
            .map(|step| (step, true))
            .chain(self.expect.not_run.iter().map(|step| (step, false)))
        {
            let address = &expected.is;
            let ran = self.runs_of(address).any(|run| run.entered().any(|step| *step == address.step));
            if ran != wanted {
                let (about, message) = match wanted {
                    true => ("ran", format!("step `{}` did not run, and should have", address.step)),
                    false => ("not_run", format!("step `{}` ran, and should not have", address.step)),
                };
                let problem = Problem::new(about, message, expected.place).at(self.source(address));
                self.problems.push(problem);
            }
        }
    }

    fn arcs(&mut self) {
        let expected = self.expect.arcs.iter().map(|arc| (arc, true));
        for (expected, wanted) in expected.chain(self.expect.not_taken.iter().map(|arc| (arc, false))) {
            let arc = &expected.is;
            let Some(playbook) = self.playbooks.by_path.get(&arc.playbook) else {
                continue;
            };
            let positions: Vec<usize> = arc.positions(&playbook.plan).collect();
            let followed = self.followed(arc);
            let is_followed = followed.iter().any(|at| positions.contains(at));
            if is_followed == wanted {
                continue;
            }
            let line = positions.first().and_then(|&at| arc_line(&playbook.plan, &arc.from, at));
            let source =
                line.map(|line| Source { file: playbook.file.clone(), line, what: format!("arc {arc}") });
            let problem = match wanted {
                true => Problem::new(
                    "arcs",
                    format!("the arc `{arc}` was not followed, and should have been"),
                    expected.place,
                )
                .with_help(instead(&playbook.plan, arc, &followed, self.did_run(arc))),
                false => Problem::new(
                    "not_taken",
                    format!("the arc `{arc}` was followed, and should not have been"),
                    expected.place,
                ),
            };
            self.problems.push(problem.at(source));
        }
    }

    /// The positions of the arcs that were followed from the step that an arc comes from.
    fn followed(&self, arc: &ArcAddress) -> Vec<usize> {
        let runs = self.trace.runs().filter(|run| run.playbook.plan.path == arc.playbook);
        runs.flat_map(RunTrace::followed)
            .filter(|(from, _)| **from == arc.from)
            .map(|(_, taken)| taken.arc as usize)
            .collect()
    }

    fn did_run(&self, arc: &ArcAddress) -> bool {
        let mut runs = self.trace.runs().filter(|run| run.playbook.plan.path == arc.playbook);
        runs.any(|run| run.entered().any(|step| *step == arc.from))
    }

    fn calls(&mut self) {
        for expected in &self.expect.calls {
            let call = &expected.is;
            let made: Vec<&MadeCall> =
                self.trace.calls.iter().filter(|made| is_of(made, &call.address)).collect();
            let others: Vec<&&MadeCall> =
                made.iter().filter(|made| difference(call, made).is_some()).collect();
            let matching = made.len() - others.len();
            let holds = match call.times {
                Some(times) => matching == times as usize,
                None => matching > 0,
            };
            if holds {
                continue;
            }
            let name = &call.address.step;
            let as_expected = if others.is_empty() { "" } else { ", such as this is about" };
            let wanted = call.times.map_or("at least one".to_owned(), |times| times.to_string());
            let message = match (made.len(), matching) {
                (0, _) => format!("no call of `{name}` was made, and there should be {wanted}"),
                (_, 0) => format!("no call of `{name}` is as expected, of {} that were made", made.len()),
                (_, matching) => format!(
                    "`{name}` was called {matching} times{as_expected}, and should have been {wanted}"
                ),
            };
            let mut problem = Problem::new("calls", message, expected.place).at(self.source(&call.address));
            if matching == 0
                && let Some((wanted, actual)) = made.first().and_then(|made| difference(call, made))
            {
                problem = problem.with_difference(wanted, actual);
            }
            self.problems.push(problem);
        }
    }

    fn context(&mut self) {
        for (key, expected) in &self.expect.ctx {
            let actual = self.main.context.get(key);
            let problem = match actual {
                None => Problem::new("ctx", format!("nothing was set under `ctx.{key}`"), expected.place),
                Some(actual) => match expected.is.judge(actual) {
                    Ok(()) => continue,
                    Err(wanted) => {
                        let message = format!("`ctx.{key}` is not as expected");
                        Problem::new("ctx", message, expected.place).with_difference(wanted, actual.clone())
                    }
                },
            };
            let setter = setter_of(self.main, key);
            self.problems.push(problem.at(setter.and_then(|step| step_source(&self.main.playbook, step))));
        }
    }

    fn elapsed(&mut self) {
        let Some(expected) = &self.expect.elapsed else {
            return;
        };
        let actual = Value::from(self.main.elapsed.as_secs_f64());
        if let Err(wanted) = expected.is.judge(&actual) {
            let problem = Problem::new("elapsed", "the time that passed is not as expected", expected.place);
            self.problems.push(problem.with_difference(wanted, actual).at(self.where_it_ended()));
        }
    }
}

/// The word of a test file for how a run ended.
pub fn word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Completed => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
        RunStatus::Pending | RunStatus::Running | RunStatus::Paused => "waiting",
    }
}

fn should(status: &str) -> &str {
    match status {
        "cancelled" => "been cancelled",
        "waiting" => "waited",
        other => other,
    }
}

fn step_source(playbook: &Playbook, step: &str) -> Option<Source> {
    let at = playbook.plan.find_step(step)?;
    let line = playbook.plan.steps[at].line;
    Some(Source { file: playbook.file.clone(), line, what: format!("step {step}") })
}

fn arc_line(plan: &Plan, from: &str, at: usize) -> Option<u32> {
    let step = &plan.steps[plan.find_step(from)?];
    step.router.arcs.get(at).map(|arc| arc.line)
}

/// Where the run went instead of following an arc.
fn instead(plan: &Plan, arc: &ArcAddress, followed: &[usize], did_run: bool) -> String {
    let step = plan.find_step(&arc.from).map(|at| &plan.steps[at]);
    let targets: Vec<String> = step
        .into_iter()
        .flat_map(|step| followed.iter().filter_map(|&at| step.router.arcs.get(at)))
        .map(|taken| format!("`{} -> {}` (line {})", arc.from, target(plan, taken.target), taken.line))
        .collect();
    match targets.as_slice() {
        [] if did_run => format!("step `{}` ran and no arc of it was followed", arc.from),
        [] => format!("step `{}` did not run", arc.from),
        targets => format!("followed instead: {}", targets.join(", ")),
    }
}

fn is_of(made: &MadeCall, address: &Address) -> bool {
    made.address.playbook == address.playbook
        && made.address.step == address.step
        && (address.task.is_none() || made.address.task == address.task)
}

/// What a call should have been and what it was, where the two differ.
fn difference(expected: &ExpectedCall, made: &MadeCall) -> Option<(Value, Value)> {
    let parts = [("input", &expected.input, &made.input), ("settings", &expected.settings, &made.settings)];
    let (mut wanted, mut actual, mut differs) = (Vec::new(), Vec::new(), false);
    for (name, matcher, value) in parts {
        let Some(matcher) = matcher else {
            continue;
        };
        let judged = matcher.judge(value);
        differs |= judged.is_err();
        wanted.push((name, judged.err().unwrap_or_else(|| value.clone())));
        actual.push((name, value.clone()));
    }
    differs.then(|| (Value::map(wanted), Value::map(actual)))
}

/// The step that last set a key under `ctx`.
fn setter_of<'r>(run: &'r RunTrace, key: &str) -> Option<&'r Arc<str>> {
    run.log.iter().rev().find_map(|event| {
        let sets = match &event.body {
            EventBody::ContextUpdated { sets, .. }
            | EventBody::CallSuspended { sets, .. }
            | EventBody::CallDone { outcome: Outcome::Finished { sets, .. }, .. }
            | EventBody::CallFailed { outcome: Outcome::Finished { sets, .. }, .. } => sets,
            _ => return None,
        };
        let is_set = sets.iter().any(|set| set.path.split('.').next() == Some(key));
        event.body.step().filter(|_| is_set)
    })
}
