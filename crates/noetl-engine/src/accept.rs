//! Turns what comes from outside into events, leaving out what has been dealt with before.

use std::sync::Arc;
use std::time::Duration;

use noetl_dsl::Plan;
use noetl_types::{
    Await, CommandKey, ContextCause, ErrorKind, EventBody, ExecutionId, Kept, Outcome, ParentLink, Report,
    Resolution, RunStatus, Slot, Started, TimerKey, Timestamp, ToolError, VisitId,
};

use crate::decide::ended;
use crate::decide::whole_keys;
use crate::effect::{Decision, Effect};
use crate::run::{OpenState, Run};
use crate::values::{Resolver, Values};

/// Something that happened outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Start(Box<Started>),
    /// A worker has begun with a command.
    Began {
        command: CommandKey,
        attempt: u16,
        worker: Arc<str>,
    },
    /// A worker is done with a command.
    Ended {
        command: CommandKey,
        attempt: u16,
        outcome: Outcome,
    },
    /// The worker that held this attempt has gone quiet.
    LeaseExpired {
        command: CommandKey,
        attempt: u16,
    },
    TimerFired(TimerKey),
    ChildStarted {
        command: CommandKey,
        child: ExecutionId,
    },
    ChildRefused {
        command: CommandKey,
        error: ToolError,
    },
    ChildEnded {
        command: CommandKey,
        child: ExecutionId,
        status: RunStatus,
        report: Report,
    },
    Signal {
        name: Arc<str>,
        payload: Slot,
    },
    Pause {
        reason: Arc<str>,
    },
    Resume,
    Cancel {
        reason: Arc<str>,
    },
    /// End the run where it stands: as completed, or as failed with this error.
    Finalize {
        error: Option<ToolError>,
    },
}

/// The events that an input comes to. Repeats, and news for work that is over, come to nothing or to a note.
pub fn accept(run: &Run, plan: &Plan, input: Input, now: Timestamp, values: &Arc<dyn Values>) -> Decision {
    if run.status == RunStatus::Pending {
        return match input {
            Input::Start(started) => begin(plan, *started, now),
            _ => Decision::default(),
        };
    }
    if run.status.is_terminal() {
        return after_the_end(input);
    }
    match input {
        Input::Start(_) => Decision::default(),
        Input::Began { command, attempt, worker } => began(run, command, attempt, worker),
        Input::Ended { command, attempt, outcome } => {
            if run.is_open(command, attempt) {
                outcome_of(run, command, attempt, outcome, now, values)
            } else {
                ignored(command, attempt, "the attempt is no longer open")
            }
        }
        Input::LeaseExpired { command, attempt } => lease_expired(run, plan, command, attempt),
        Input::TimerFired(timer) => timer_fired(run, plan, timer),
        Input::ChildStarted { command, child } => child_started(run, command, child),
        Input::ChildRefused { command, error } => resumed(run, command, Resolution::Refused { error }),
        Input::ChildEnded { command, child, status, report } => {
            let expected = run.find_command(command).and_then(|open| open.child);
            if expected.is_some_and(|expected| expected != child) {
                return Decision::default();
            }
            resumed(run, command, Resolution::Child { execution: child, status, report })
        }
        Input::Signal { name, payload } => signal(run, name, payload),
        Input::Pause { reason } if run.status == RunStatus::Running => one(EventBody::Paused { reason }),
        Input::Resume if run.status == RunStatus::Paused => one(EventBody::Resumed),
        Input::Pause { .. } | Input::Resume => Decision::default(),
        Input::Cancel { reason } => cancel(run, plan, reason),
        Input::Finalize { error } => finalize(run, plan, error),
    }
}

fn one(event: EventBody) -> Decision {
    Decision { events: vec![event], ..Decision::default() }
}

fn ignored(command: CommandKey, attempt: u16, reason: &str) -> Decision {
    one(EventBody::CallIgnored { command, attempt, reason: reason.into() })
}

fn begin(plan: &Plan, mut started: Started, now: Timestamp) -> Decision {
    let Kept { steps, ctx } = std::mem::take(&mut started.kept);
    let (from, entry) = (started.rerun_of, started.entry.clone());
    let mut decision = one(EventBody::PlaybookStarted(started));
    if let Some(from) = from {
        decision.events.extend(steps.into_iter().map(|kept| EventBody::StepKept { kept, from }));
    }
    if let Some(step) = entry.filter(|_| !ctx.is_empty()) {
        decision.events.push(EventBody::ContextUpdated { step, cause: ContextCause::Kept, sets: ctx });
    }
    if let Some(seconds) = plan.executor.timeout {
        let at = crate::command::deadline(now, seconds);
        decision.effects.push(Effect::StartTimer { timer: TimerKey::Run, at });
    }
    decision
}

/// Nothing changes a run that is over. An outcome that comes late is noted, and a child that starts late is stopped.
fn after_the_end(input: Input) -> Decision {
    match input {
        Input::Ended { command, attempt, .. } => ignored(command, attempt, "the run is over"),
        Input::ChildStarted { child, .. } => {
            Decision { effects: vec![Effect::CancelChild(child)], ..Decision::default() }
        }
        _ => Decision::default(),
    }
}

fn began(run: &Run, command: CommandKey, attempt: u16, worker: Arc<str>) -> Decision {
    let issued = run
        .find_command(command)
        .is_some_and(|open| open.attempt == attempt && open.state == OpenState::Issued);
    match step_of(run, command.visit) {
        Some(step) if issued => one(EventBody::CommandStarted { command, step, attempt, worker }),
        _ => Decision::default(),
    }
}

fn step_of(run: &Run, visit: VisitId) -> Option<Arc<str>> {
    run.visits.get(&visit).map(|visit| visit.step.clone())
}

fn outcome_of(
    run: &Run,
    command: CommandKey,
    attempt: u16,
    outcome: Outcome,
    now: Timestamp,
    values: &Arc<dyn Values>,
) -> Decision {
    let Some(step) = step_of(run, command.visit) else {
        return ignored(command, attempt, "the step is over");
    };
    let resolver = Resolver::new(values);
    let decision = match outcome {
        Outcome::Finished { report, sets, attempts, decisions } => {
            let failed = report.is_error();
            let sets = whole_keys(run, sets, &resolver);
            let outcome = Outcome::Finished { report, sets, attempts, decisions };
            one(if failed {
                EventBody::CallFailed { command, step, attempt, outcome }
            } else {
                EventBody::CallDone { command, step, attempt, outcome }
            })
        }
        Outcome::Suspended { pipeline, on, sets } => {
            let sets = whole_keys(run, sets, &resolver);
            suspend(run, command, attempt, step, pipeline, on, sets, now)
        }
    };
    match resolver.take_missing() {
        missing if missing.is_empty() => decision,
        missing => Decision::needs(missing),
    }
}

#[expect(clippy::too_many_arguments, reason = "the fields of one outcome, taken apart once")]
fn suspend(
    run: &Run,
    command: CommandKey,
    attempt: u16,
    step: Arc<str>,
    pipeline: noetl_types::Value,
    on: Await,
    sets: Vec<noetl_types::Assignment>,
    now: Timestamp,
) -> Decision {
    let mut decision = Decision::default();
    let seconds = match &on {
        Await::Sleep { seconds } => Some(*seconds),
        Await::Signal { seconds, .. } | Await::Child { seconds, .. } => *seconds,
    };
    if let Some(seconds) = seconds {
        let at = now.after(Duration::from_secs_f64(seconds.clamp(0.0, 1.0e9)));
        decision.effects.push(Effect::StartTimer { timer: TimerKey::Wake(command), at });
    }
    if let Await::Child { path, catalog_id, version, payload, return_step, detached, .. } = &on {
        decision.effects.push(Effect::StartChild {
            command,
            path: path.clone(),
            catalog_id: *catalog_id,
            version: *version,
            payload: payload.clone(),
            parent: ParentLink {
                execution: run.execution(),
                command,
                detached: *detached,
                return_step: return_step.clone(),
            },
        });
    }
    let early = match &on {
        Await::Signal { name, .. } => run.signals.iter().find(|signal| signal.0 == *name).cloned(),
        _ => None,
    };
    decision.events.push(EventBody::CallSuspended {
        command,
        step: step.clone(),
        attempt,
        pipeline,
        on,
        sets,
    });
    if let Some((name, payload)) = early {
        decision.effects.clear();
        decision.events.push(EventBody::CallResumed {
            command,
            step,
            with: Resolution::Signal { name, payload },
        });
    }
    decision
}

/// Takes up a suspended command, if it still waits.
fn resumed(run: &Run, command: CommandKey, with: Resolution) -> Decision {
    let Some(open) = run.find_command(command) else {
        return Decision::default();
    };
    let (OpenState::Waiting { on, .. }, Some(step)) = (&open.state, step_of(run, command.visit)) else {
        return Decision::default();
    };
    let timed = match on {
        Await::Sleep { .. } => false,
        Await::Signal { seconds, .. } | Await::Child { seconds, .. } => seconds.is_some(),
    };
    let mut decision = one(EventBody::CallResumed { command, step, with });
    if timed {
        decision.effects.push(Effect::CancelTimer(TimerKey::Wake(command)));
    }
    decision
}

fn lease_expired(run: &Run, plan: &Plan, command: CommandKey, attempt: u16) -> Decision {
    if !run.is_open(command, attempt) {
        return Decision::default();
    }
    let Some(step) = step_of(run, command.visit) else {
        return Decision::default();
    };
    let max_attempts = plan.find_step(&step).map_or(1, |index| plan.steps[index].max_attempts);
    let mut decision = one(EventBody::CommandLost { command, step: step.clone(), attempt });
    if attempt >= max_attempts {
        let message = match attempt {
            1 => "the worker went away before it reported an outcome".to_owned(),
            _ => format!("the workers of all {attempt} attempts went away before they reported an outcome"),
        };
        let report = Report::failure(ToolError::new(ErrorKind::WorkerLost, message));
        let outcome = Outcome::finished(report);
        decision.events.push(EventBody::CallFailed { command, step, attempt, outcome });
    }
    decision
}

fn timer_fired(run: &Run, plan: &Plan, timer: TimerKey) -> Decision {
    match timer {
        TimerKey::Run => {
            let seconds = plan.executor.timeout.unwrap_or_default();
            let message = format!("the run took longer than its timeout of {seconds} s");
            let error = ToolError::new(ErrorKind::Timeout, message);
            let failed_steps = run.visits.values().map(|visit| visit.step.clone()).collect();
            let mut decision = one(EventBody::PlaybookFailed { error: error.clone(), failed_steps });
            decision.effects = stop_everything(run);
            decision.effects.extend(ended(run, plan, RunStatus::Failed, Some(error)));
            decision
        }
        TimerKey::Step(visit) => {
            let Some(state) = run.visits.get(&visit).filter(|state| !is_settling(run, visit, state)) else {
                return Decision::default();
            };
            let deadline = state.deadline.unwrap_or(state.entered_at);
            let seconds = deadline.since(state.entered_at).as_secs_f64();
            let mut decision = one(EventBody::StepTimedOut { step: state.step.clone(), visit, seconds });
            decision.effects = stop_commands(run.commands_of(visit));
            decision
        }
        TimerKey::Wake(command) => {
            let Some(open) = run.find_command(command) else {
                return Decision::default();
            };
            let mut decision = resumed(run, command, Resolution::Elapsed);
            decision.effects.clear();
            if !decision.events.is_empty() {
                decision.effects.extend(open.child.map(Effect::CancelChild));
            }
            decision
        }
    }
}

/// Whether the visit's work is done and only its arcs are left.
fn is_settling(run: &Run, visit: VisitId, _state: &crate::run::Visit) -> bool {
    run.agenda.settle.contains(&visit)
}

fn child_started(run: &Run, command: CommandKey, child: ExecutionId) -> Decision {
    let waiting =
        run.find_command(command).filter(|open| open.child.is_none()).and_then(|open| match &open.state {
            OpenState::Waiting { on: Await::Child { detached, .. }, .. } => Some(*detached),
            _ => None,
        });
    let (Some(detached), Some(step)) = (waiting, step_of(run, command.visit)) else {
        // The step is over, or has a child already: this one is of no use.
        let known = run.commands.values().any(|open| open.child == Some(child));
        let effects = if known { Vec::new() } else { vec![Effect::CancelChild(child)] };
        return Decision { effects, ..Decision::default() };
    };
    let mut decision = one(EventBody::ChildStarted { command, step, child });
    if detached {
        let resumed = resumed(run, command, Resolution::Started { execution: child });
        decision.events.extend(resumed.events);
        decision.effects.extend(resumed.effects);
    }
    decision
}

fn signal(run: &Run, name: Arc<str>, payload: Slot) -> Decision {
    let waiting = run.commands.iter().find_map(|(&(visit, item), open)| match &open.state {
        OpenState::Waiting { on: Await::Signal { name: wanted, .. }, .. } if *wanted == name => {
            Some(CommandKey { visit, item, part: open.part })
        }
        _ => None,
    });
    let received = EventBody::SignalReceived { name: name.clone(), payload: payload.clone() };
    let mut decision = one(received);
    if let Some(command) = waiting {
        let resumed = resumed(run, command, Resolution::Signal { name, payload });
        decision.events.extend(resumed.events);
        decision.effects.extend(resumed.effects);
    }
    decision
}

fn cancel(run: &Run, plan: &Plan, reason: Arc<str>) -> Decision {
    let error = ToolError::new(ErrorKind::Cancelled, reason.to_string());
    let mut decision = one(EventBody::PlaybookCancelled { reason });
    decision.effects = stop_everything(run);
    decision.effects.extend(ended(run, plan, RunStatus::Cancelled, Some(error)));
    decision
}

fn finalize(run: &Run, plan: &Plan, error: Option<ToolError>) -> Decision {
    let (event, status) = match &error {
        None => (EventBody::PlaybookCompleted { from: run.last_leaf.clone() }, RunStatus::Completed),
        Some(error) => {
            let failed_steps = run.visits.values().map(|visit| visit.step.clone()).collect();
            (EventBody::PlaybookFailed { error: error.clone(), failed_steps }, RunStatus::Failed)
        }
    };
    let mut decision = one(event);
    decision.effects = stop_everything(run);
    decision.effects.extend(ended(run, plan, status, error));
    decision
}

fn stop_everything(run: &Run) -> Vec<Effect> {
    let mut effects: Vec<Effect> = Vec::new();
    for (&visit, state) in &run.visits {
        effects.extend(stop_commands(run.commands_of(visit)));
        if state.deadline.is_some() {
            effects.push(Effect::CancelTimer(TimerKey::Step(visit)));
        }
    }
    effects
}

fn stop_commands<'r>(
    commands: impl Iterator<Item = (CommandKey, &'r crate::run::OpenCommand)>,
) -> Vec<Effect> {
    let mut effects = Vec::new();
    for (command, open) in commands {
        match &open.state {
            OpenState::Waiting { on, .. } => {
                let timed = match on {
                    Await::Sleep { .. } => true,
                    Await::Signal { seconds, .. } | Await::Child { seconds, .. } => seconds.is_some(),
                };
                if timed {
                    effects.push(Effect::CancelTimer(TimerKey::Wake(command)));
                }
                effects.extend(open.child.map(Effect::CancelChild));
            }
            OpenState::Ready => {}
            OpenState::Issued | OpenState::Started { .. } => effects.push(Effect::CancelCommand(command)),
        }
    }
    effects
}
