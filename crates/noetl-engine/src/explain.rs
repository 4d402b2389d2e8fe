//! Says in words why a run is where it is.

use noetl_dsl::Plan;
use noetl_types::{Await, Item, RunStatus, VisitId};

use crate::decide::blocker;
use crate::run::{LoopState, OpenCommand, OpenState, Run};

/// A sentence for each step that is under way or waits, in the order of the workflow; one sentence for a run that is over.
pub fn explain(run: &Run, plan: &Plan) -> Vec<String> {
    match run.status {
        RunStatus::Pending => return vec!["the run has not started".to_owned()],
        RunStatus::Completed => {
            return vec![match &run.last_leaf {
                Some(step) => format!("the run completed; its result is the data of step '{step}'"),
                None => "the run completed without a result".to_owned(),
            }];
        }
        RunStatus::Failed | RunStatus::Cancelled => {
            let how = if run.status == RunStatus::Failed { "failed" } else { "was cancelled" };
            let why = run.error.as_ref().map_or(String::new(), |error| format!(": {}", error.message));
            return vec![format!("the run {how}{why}")];
        }
        RunStatus::Running | RunStatus::Paused => {}
    }
    let mut lines = Vec::new();
    if run.status == RunStatus::Paused {
        lines.push(
            "the run is paused: work under way goes on, nothing new begins until it is resumed".to_owned(),
        );
    }
    for (&visit, state) in &run.visits {
        match &state.looping {
            Some(looping) => {
                let wait = first_wait(run, visit).unwrap_or_default();
                lines.push(format!("step '{}' {}{wait}", state.step, loop_progress(looping)));
            }
            None => lines.push(format!("step '{}' {}", state.step, progress(run, visit))),
        }
    }
    for name in run.pending.keys() {
        let Some(index) = plan.find_step(name) else {
            continue;
        };
        let under_way = run.steps.get(name).is_some_and(|record| record.current.is_some());
        lines.push(match blocker(run, plan, index) {
            _ if under_way => {
                format!("step '{name}' was reached again and waits for its visit under way to end")
            }
            Some(other) if plan.graph.is_join(index) => {
                format!("step '{name}' waits for step '{other}', which can still reach it")
            }
            _ => format!("step '{name}' is about to begin"),
        });
    }
    if let Some(failure) = run.failures.first() {
        let what = &failure.error.message;
        lines.push(format!("step '{}' failed ({what}); the run fails when the rest has ended", failure.step));
    }
    lines
}

fn progress(run: &Run, visit: VisitId) -> String {
    match run.commands_of(visit).next() {
        Some((_, open)) => standing(open),
        None => "has done its work and its arcs are to be judged".to_owned(),
    }
}

/// What the first iteration that is suspended waits for.
fn first_wait(run: &Run, visit: VisitId) -> Option<String> {
    run.commands_of(visit).find_map(|(command, open)| match (command.item, &open.state) {
        (Item::At(index), OpenState::Waiting { .. }) => {
            Some(format!("; iteration {index} {}", standing(open)))
        }
        _ => None,
    })
}

fn standing(open: &OpenCommand) -> String {
    match &open.state {
        OpenState::Ready => "is to be given to a worker".to_owned(),
        OpenState::Issued => format!("waits for a worker to take it{}", attempt(open.attempt)),
        OpenState::Started { worker } => format!("runs on worker '{worker}'{}", attempt(open.attempt)),
        OpenState::Waiting { on, .. } => match on {
            Await::Sleep { seconds } => format!("waits {seconds} s before it goes on"),
            Await::Signal { name, seconds: None, .. } => format!("waits for the signal '{name}'"),
            Await::Signal { name, seconds: Some(seconds), .. } => {
                format!("waits for the signal '{name}', for {seconds} s at most")
            }
            Await::Child { path, .. } => match open.child {
                Some(child) => format!("waits for playbook '{path}' (execution {child})"),
                None => format!("is starting playbook '{path}'"),
            },
        },
    }
}

fn attempt(attempt: u16) -> String {
    if attempt > 1 { format!(" (attempt {attempt})") } else { String::new() }
}

fn loop_progress(looping: &LoopState) -> String {
    let done = looping.success + looping.failed;
    let mut text = match looping.entry.total {
        Some(total) => format!("has done {done} of {total} iterations"),
        None => format!("has done {done} rows of its cursor"),
    };
    if looping.in_flight > 0 {
        text.push_str(&format!(", {} under way", looping.in_flight));
        if looping.in_flight >= looping.entry.max_in_flight && looping.cursor.is_none() {
            text.push_str(&format!(" (at most {} at once)", looping.entry.max_in_flight));
        }
    }
    if looping.cursor.as_ref().is_some_and(|cursor| cursor.claims_in_flight > 0) {
        text.push_str(", claiming rows");
    }
    if looping.failed > 0 {
        text.push_str(&format!(", {} failed", looping.failed));
    }
    if looping.stopped {
        text.push_str("; no further ones begin");
    }
    text
}
