//! Events and calls in words.

use noetl_engine::Run;
use noetl_engine::pipeline::TaskCall;
use noetl_types::{
    Assignment, CommandKey, EventBody, Item, LoopItems, Outcome, RunStatus, SkipReason, Slot, TakenArc, Value,
};

pub fn command(step: &str, key: CommandKey) -> String {
    match key.item {
        Item::Whole => step.to_owned(),
        Item::At(index) => format!("{step}[{index}]"),
        Item::Claim(frame) => format!("{step}.claim{frame}"),
    }
}

pub fn slot(slot: &Slot) -> String {
    match slot {
        Slot::Inline(value) => value.to_string(),
        Slot::Stored(stored) => format!("<{} {}>", stored.store, stored.extract),
    }
}

fn sets(sets: &[Assignment]) -> String {
    sets.iter().map(|set| format!("ctx.{} = {}", set.path, slot(&set.value))).collect::<Vec<_>>().join(", ")
}

fn arrows(taken: &[TakenArc]) -> String {
    if taken.is_empty() {
        return String::new();
    }
    let targets: Vec<&str> = taken.iter().map(|arc| arc.to.as_deref().unwrap_or("(end)")).collect();
    format!(" -> {}", targets.join(", "))
}

/// The line of an event, or nothing for events that every case would repeat.
pub fn event(body: &EventBody, run: &Run) -> Option<String> {
    Some(match body {
        EventBody::PlaybookStarted(_) => return None,
        EventBody::StepEntered { step, looping, is_final, .. } => {
            let mut line = format!("enter {step}");
            if *is_final {
                line.push_str(" (final)");
            }
            if let Some(entry) = looping {
                let items = match &entry.items {
                    LoopItems::Count(_) | LoopItems::List(_) => format!("{} items", entry.total.unwrap_or(0)),
                    LoopItems::Cursor => "a cursor".to_owned(),
                };
                line.push_str(&format!(" loop over {items}, {} at once", entry.max_in_flight));
            }
            line
        }
        EventBody::StepSkipped { step, reason, taken } => {
            let why = match reason {
                SkipReason::Guard => "its when is false",
                SkipReason::NotAdmitted => "not admitted",
                SkipReason::NotReached => "not reached",
                SkipReason::FailureBefore => "a failure before it",
            };
            format!("skip {step}: {why}{}", arrows(taken))
        }
        EventBody::StepKept { kept, .. } => {
            let result = kept.result.as_ref().map_or(String::new(), |result| format!(" {}", slot(result)));
            format!("keep {} {}{result}", kept.step, kept.status)
        }
        EventBody::CommandIssued { command: key, step, attempt, .. } => {
            let again = if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
            let part = if key.part > 0 { " (goes on)" } else { "" };
            format!("issue {}{again}{part}", command(step, *key))
        }
        EventBody::CommandStarted { command: key, step, worker, .. } => {
            format!("{} runs on {worker}", command(step, *key))
        }
        EventBody::CallDone { command: key, step, outcome, .. } => {
            let Outcome::Finished { report, sets: assigned, .. } = outcome else {
                return None;
            };
            let mut line = format!("done {} {}", command(step, *key), slot(&report.data));
            if !assigned.is_empty() {
                line.push_str(&format!(" setting {}", sets(assigned)));
            }
            line
        }
        EventBody::CallFailed { command: key, step, outcome, .. } => {
            let Outcome::Finished { report, sets: assigned, .. } = outcome else {
                return None;
            };
            let error = report.error.as_ref()?;
            let mut line = format!("error {} {}: {}", command(step, *key), error.kind, error.message);
            if !assigned.is_empty() {
                line.push_str(&format!(" setting {}", sets(assigned)));
            }
            line
        }
        EventBody::CallSuspended { command: key, step, sets: assigned, .. } => {
            let mut line = format!("suspend {}", command(step, *key));
            if !assigned.is_empty() {
                line.push_str(&format!(" setting {}", sets(assigned)));
            }
            line
        }
        EventBody::CallResumed { command: key, step, .. } => format!("resume {}", command(step, *key)),
        EventBody::CallIgnored { reason, .. } => format!("ignored: {reason}"),
        EventBody::CommandLost { command: key, step, attempt } => {
            format!("lost {} (attempt {attempt})", command(step, *key))
        }
        EventBody::ContextUpdated { sets: assigned, .. } => format!("set {}", sets(assigned)),
        EventBody::StepTimedOut { step, seconds, .. } => format!("timeout {step} after {seconds} s"),
        EventBody::StepExited { step, taken, result, error, handled, .. } => {
            let mut line = format!("exit {step}");
            match (error, handled) {
                (None, _) => {}
                (Some(_), true) => line.push_str(" failed, handled"),
                (Some(error), false) => line.push_str(&format!(" failed: {}", error.message)),
            }
            if let Some(result) = result {
                line.push_str(&format!(" {}", slot(result)));
            }
            line + &arrows(taken)
        }
        EventBody::ChildStarted { command: key, step, child } => {
            format!("child {child} of {} started", command(step, *key))
        }
        EventBody::SignalReceived { name, payload } => format!("signal {name} {}", slot(payload)),
        EventBody::Paused { .. } => "paused".to_owned(),
        EventBody::Resumed => "resumed".to_owned(),
        EventBody::PlaybookCompleted { .. } => {
            let result = run.result().map_or(Value::Null.to_string(), slot);
            format!("{} {result}", RunStatus::Completed)
        }
        EventBody::PlaybookFailed { error, failed_steps } => {
            format!("{} {} [{}]", RunStatus::Failed, error.message, failed_steps.join(", "))
        }
        EventBody::PlaybookCancelled { reason } => format!("{} {reason}", RunStatus::Cancelled),
    })
}

pub fn call(command: &str, call: &TaskCall) -> String {
    let mut line = format!("  call {command}");
    if !call.label.ends_with("_task") {
        line.push_str(&format!("/{}", call.label));
    }
    if call.item > 0 {
        line.push_str(&format!("#{}", call.item));
    }
    if call.attempt > 1 {
        line.push_str(&format!(" attempt {}", call.attempt));
    }
    if call.delay_seconds > 0.0 {
        line.push_str(&format!(" after {} s", call.delay_seconds));
    }
    line.push_str(&format!(": {}", call.kind));
    if call.config.as_map().is_some_and(|map| !map.is_empty()) {
        line.push_str(&format!(" {}", call.config));
    }
    if call.input.as_map().is_some_and(|map| !map.is_empty()) {
        line.push_str(&format!(" input {}", call.input));
    }
    if let Some((code, _)) = &call.code {
        line.push_str(&format!(" code {:?}", code.trim_end()));
    }
    line
}
