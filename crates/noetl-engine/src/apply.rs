//! Folds events into a run.

use std::sync::Arc;

use noetl_types::{
    Assignment, CommandKey, Event, EventBody, Item, KeptStep, LoopEntry, Outcome, Report, Resume, RunStatus,
    Slot, Started, StepStatus, TakenArc, Timestamp, ToolError, Value, VisitId,
};

use crate::run::{Failure, Frame, LoopState, OpenCommand, OpenState, Pending, Run, StepRecord, Visit};

/// Results of a loop are kept in the state up to this many bytes together.
const INLINE_LOOP_RESULTS: usize = Slot::INLINE_LIMIT;

/// Signals kept for steps that do not wait yet. Beyond it the oldest is forgotten.
const SIGNALS_KEPT: usize = 1000;

/// Folds one recorded event into the run. Never refuses: what is stored has happened.
pub fn apply(run: &mut Run, event: &Event) {
    run.seq = event.seq;
    let at = event.at;
    match &event.body {
        EventBody::PlaybookStarted(started) => begin(run, started, at),
        EventBody::StepEntered { step, visit, from, looping, is_final, deadline } => {
            run.final_step_entered |= is_final;
            enter(run, step, *visit, from.as_ref(), looping.as_ref(), at);
            if let Some(visit) = run.visits.get_mut(visit) {
                visit.deadline = *deadline;
            }
        }
        EventBody::StepSkipped { step, taken, .. } => skip(run, step, taken, at),
        EventBody::StepKept { kept, .. } => keep(run, kept, at),
        EventBody::CommandIssued { command, attempt, .. } => issue(run, *command, *attempt),
        EventBody::CommandStarted { command, attempt, worker, .. } => {
            if let Some(open) = run.commands.get_mut(&(command.visit, command.item))
                && open.part == command.part
                && open.attempt == *attempt
            {
                open.state = OpenState::Started { worker: worker.clone() };
            }
        }
        EventBody::CallDone { command, outcome, .. } | EventBody::CallFailed { command, outcome, .. } => {
            finish_call(run, *command, outcome);
        }
        EventBody::CallSuspended { command, pipeline, on, sets, .. } => {
            assign(run, sets);
            if let Some(open) = run.commands.get_mut(&(command.visit, command.item)) {
                open.state = OpenState::Waiting { on: on.clone(), pipeline: pipeline.clone() };
                open.child = None;
            }
        }
        EventBody::CallResumed { command, with, .. } => {
            let key = (command.visit, command.item);
            if let Some(open) = run.commands.get_mut(&key)
                && let OpenState::Waiting { pipeline, .. } =
                    std::mem::replace(&mut open.state, OpenState::Ready)
            {
                open.part += 1;
                open.attempt = 1;
                open.child = None;
                open.resume = Some(Resume { pipeline, with: with.clone() });
                run.agenda.issue.insert(key);
            }
            if let noetl_types::Resolution::Signal { name, .. } = with {
                // The signal is used up by the step that takes it: the oldest of its name.
                if let Some(at) = run.signals.iter().position(|early| early.0 == *name) {
                    run.signals.remove(at);
                }
            }
        }
        EventBody::CallIgnored { .. } => {}
        EventBody::CommandLost { command, attempt, .. } => {
            let key = (command.visit, command.item);
            if let Some(open) = run.commands.get_mut(&key)
                && open.part == command.part
                && open.attempt == *attempt
            {
                open.attempt += 1;
                open.state = OpenState::Ready;
                run.agenda.issue.insert(key);
            }
        }
        EventBody::ContextUpdated { step, cause, sets } => {
            assign(run, sets);
            if *cause == noetl_types::ContextCause::Step {
                let current = run.steps.get(step).and_then(|record| record.current);
                if let Some(visit) = current.and_then(|visit| run.visits.get_mut(&visit)) {
                    visit.set_applied = true;
                }
            }
        }
        EventBody::StepTimedOut { step, visit, seconds } => time_out(run, step, *visit, *seconds),
        EventBody::StepExited { step, visit, status, taken, result, error, handled } => {
            exit(run, step, *visit, *status, taken, result.as_ref(), error.as_ref(), *handled, at);
        }
        EventBody::ChildStarted { command, child, .. } => {
            if let Some(open) = run.commands.get_mut(&(command.visit, command.item)) {
                open.child = Some(*child);
            }
        }
        EventBody::SignalReceived { name, payload } => {
            if run.signals.len() >= SIGNALS_KEPT {
                run.signals.pop_front();
            }
            run.signals.push_back((name.clone(), payload.clone()));
        }
        EventBody::Paused { .. } => run.status = RunStatus::Paused,
        EventBody::Resumed => run.status = RunStatus::Running,
        EventBody::PlaybookCompleted { from } => {
            run.last_leaf = from.clone();
            end(run, RunStatus::Completed, None, at);
        }
        EventBody::PlaybookFailed { error, .. } => end(run, RunStatus::Failed, Some(error.clone()), at),
        EventBody::PlaybookCancelled { reason } => {
            let error = ToolError::new(noetl_types::ErrorKind::Cancelled, reason.to_string());
            end(run, RunStatus::Cancelled, Some(error), at);
        }
    }
}

fn begin(run: &mut Run, started: &Started, at: Timestamp) {
    run.identity = crate::start::identity_of(started);
    run.started = Arc::new(started.clone());
    run.started_at = at;
    run.status = RunStatus::Running;
    for entry in started.entry.iter().chain(&started.also_at) {
        run.pending.insert(entry.clone(), Pending { from: None });
    }
    run.agenda.enter = true;
}

fn enter(
    run: &mut Run,
    step: &Arc<str>,
    visit: VisitId,
    from: Option<&Arc<str>>,
    looping: Option<&LoopEntry>,
    at: Timestamp,
) {
    run.pending.remove(step);
    run.next_visit = run.next_visit.max(visit.0 + 1);
    let record = run.steps.entry(step.clone()).or_insert_with(|| StepRecord {
        status: StepStatus::Running,
        runs: 0,
        result: None,
        error: None,
        started_at: at,
        ended_at: None,
        current: None,
    });
    record.status = StepStatus::Running;
    record.runs += 1;
    record.started_at = at;
    record.ended_at = None;
    record.error = None;
    record.current = Some(visit);
    run.visits.insert(
        visit,
        Visit {
            step: step.clone(),
            from: from.cloned(),
            entered_at: at,
            deadline: None,
            report: None,
            attempts: 0,
            set_applied: false,
            looping: looping.map(|entry| Box::new(LoopState::new(entry.clone()))),
        },
    );
    if looping.is_some_and(|entry| entry.total == Some(0)) {
        run.agenda.settle.insert(visit);
    }
    refresh_fill(run, visit);
}

fn skip(run: &mut Run, step: &Arc<str>, taken: &[TakenArc], at: Timestamp) {
    run.pending.remove(step);
    let record = run.steps.entry(step.clone()).or_insert_with(|| StepRecord {
        status: StepStatus::Skipped,
        runs: 0,
        result: None,
        error: None,
        started_at: at,
        ended_at: Some(at),
        current: None,
    });
    record.status = StepStatus::Skipped;
    record.result = None;
    follow(run, step, taken);
    run.agenda.enter = true;
}

/// A step that ended in an earlier run. It was not entered here, and nothing waits for it.
fn keep(run: &mut Run, kept: &KeptStep, at: Timestamp) {
    let record = StepRecord {
        status: kept.status,
        runs: 0,
        result: kept.result.clone(),
        error: kept.error.clone(),
        started_at: at,
        ended_at: Some(at),
        current: None,
    };
    run.steps.insert(kept.step.clone(), record);
}

fn issue(run: &mut Run, command: CommandKey, attempt: u16) {
    let key = (command.visit, command.item);
    run.agenda.issue.remove(&key);
    if let Some(open) = run.commands.get_mut(&key) {
        open.part = command.part;
        open.attempt = attempt;
        open.state = OpenState::Issued;
        return;
    }
    run.commands.insert(
        key,
        OpenCommand { part: command.part, attempt, state: OpenState::Issued, resume: None, child: None },
    );
    let Some(looping) = run.visits.get_mut(&command.visit).and_then(|visit| visit.looping.as_mut()) else {
        return;
    };
    match command.item {
        Item::Whole => {}
        Item::Claim(frame) => {
            if let Some(cursor) = &mut looping.cursor {
                cursor.frames = cursor.frames.max(frame + 1);
                cursor.claims_in_flight += 1;
            }
        }
        Item::At(index) => {
            let row_concurrency = looping.row_concurrency();
            looping.next = looping.next.max(index + 1);
            looping.in_flight += 1;
            if let Some(cursor) = &mut looping.cursor
                && let Some(number) = cursor.next_frame(row_concurrency)
                && let Some(frame) = cursor.open.get_mut(&number)
            {
                frame.item_rows.insert(index, frame.next_row);
                frame.next_row += 1;
                frame.in_flight += 1;
                cursor.item_frames.insert(index, number);
            }
        }
    }
    refresh_fill(run, command.visit);
}

/// Puts a loop on the agenda, or takes it off, by whether it can issue more now.
fn refresh_fill(run: &mut Run, visit: VisitId) {
    let looping = run.visits.get(&visit).and_then(|visit| visit.looping.as_ref());
    if looping.is_some_and(|looping| looping.has_next()) {
        run.agenda.fill.insert(visit);
    } else {
        run.agenda.fill.remove(&visit);
    }
}

fn finish_call(run: &mut Run, command: CommandKey, outcome: &Outcome) {
    let Outcome::Finished { report, sets, attempts, .. } = outcome else {
        return;
    };
    assign(run, sets);
    let key = (command.visit, command.item);
    run.commands.remove(&key);
    run.agenda.issue.remove(&key);
    let Some(visit) = run.visits.get_mut(&command.visit) else {
        return;
    };
    match (command.item, &mut visit.looping) {
        (Item::At(index), Some(looping)) => finish_item(looping, index, report),
        (Item::Claim(frame), Some(looping)) => finish_claim(looping, frame, report),
        _ => {
            visit.report = Some(report.clone());
            visit.attempts = *attempts;
            run.agenda.settle.insert(command.visit);
            return;
        }
    }
    if visit.looping.as_ref().is_some_and(|looping| looping.is_done()) {
        run.agenda.settle.insert(command.visit);
    }
    refresh_fill(run, command.visit);
}

fn finish_item(looping: &mut LoopState, index: u32, report: &Report) {
    looping.in_flight = looping.in_flight.saturating_sub(1);
    match &report.error {
        Some(error) => {
            looping.failed += 1;
            looping.first_error.get_or_insert_with(|| error.clone());
            looping.stopped |= looping.entry.failures_allowed.is_some_and(|allowed| looping.failed > allowed);
        }
        None => looping.success += 1,
    }
    if let Some(cursor) = &mut looping.cursor
        && let Some(number) = cursor.item_frames.remove(&index)
        && let Some(frame) = cursor.open.get_mut(&number)
    {
        frame.item_rows.remove(&index);
        frame.in_flight = frame.in_flight.saturating_sub(1);
        if frame.in_flight == 0 && frame.next_row >= frame.row_count {
            cursor.open.remove(&number);
        }
    }
    keep_result(looping, index, report);
}

/// Keeps an item's result in the state while all of them together are small.
fn keep_result(looping: &mut LoopState, index: u32, report: &Report) {
    let Some(results) = &mut looping.results else {
        return;
    };
    let value = match item_result(report) {
        Slot::Inline(value) => value,
        Slot::Stored(_) => {
            looping.results = None;
            return;
        }
    };
    looping.result_bytes += value.json_size_up_to(INLINE_LOOP_RESULTS) + 2;
    if looping.result_bytes > INLINE_LOOP_RESULTS {
        looping.results = None;
        return;
    }
    let at = index as usize;
    if results.len() <= at {
        results.resize(at + 1, Value::Null);
    }
    results[at] = value;
}

/// The entry of an iteration in its loop's `results`.
pub fn item_result(report: &Report) -> Slot {
    match &report.error {
        None => report.data.clone(),
        Some(error) => {
            let mut map = noetl_types::Map::new();
            map.insert("status".into(), "error".into());
            map.insert("error".into(), error.to_value());
            if let Slot::Inline(data) = &report.data
                && !data.is_null()
            {
                map.insert("data".into(), data.clone());
            }
            Slot::Inline(map.into())
        }
    }
}

fn finish_claim(looping: &mut LoopState, number: u32, report: &Report) {
    let Some(cursor) = &mut looping.cursor else {
        return;
    };
    cursor.claims_in_flight = cursor.claims_in_flight.saturating_sub(1);
    if let Some(error) = &report.error {
        // Rows that can't be claimed can't be worked on: the loop ends with what it has.
        looping.failed += 1;
        looping.first_error.get_or_insert_with(|| error.clone());
        looping.stopped = true;
        return;
    }
    // The worker reports the claimed rows as `{rows, row_count}`, so that the count is known even when they are stored aside.
    let row_count = match &report.data {
        Slot::Inline(data) => data.get("row_count").and_then(Value::as_i64).unwrap_or(0),
        Slot::Stored(stored) => stored.extract.get("row_count").and_then(Value::as_i64).unwrap_or(0),
    };
    let whole_frame = looping.entry.cursor.is_some_and(|entry| entry.whole_frame);
    match u32::try_from(row_count).unwrap_or(0) {
        0 => cursor.drained = true,
        row_count => {
            let row_count = if whole_frame { 1 } else { row_count };
            let frame = Frame {
                rows: report.data.clone(),
                row_count,
                next_row: 0,
                in_flight: 0,
                item_rows: Default::default(),
            };
            cursor.open.insert(number, frame);
        }
    }
}

fn time_out(run: &mut Run, step: &Arc<str>, visit: VisitId, seconds: f64) {
    close_commands(run, visit);
    if let Some(state) = run.visits.get_mut(&visit) {
        let message = format!("step '{step}' took longer than its timeout of {seconds} s");
        state.report = Some(Report::failure(ToolError::new(noetl_types::ErrorKind::Timeout, message)));
        state.looping = None;
        run.agenda.fill.remove(&visit);
        run.agenda.settle.insert(visit);
    }
}

fn close_commands(run: &mut Run, visit: VisitId) {
    let keys: Vec<_> = run.commands_of(visit).map(|(key, _)| (key.visit, key.item)).collect();
    for key in keys {
        run.commands.remove(&key);
        run.agenda.issue.remove(&key);
    }
}

#[expect(clippy::too_many_arguments, reason = "the fields of one event, taken apart once")]
fn exit(
    run: &mut Run,
    step: &Arc<str>,
    visit: VisitId,
    status: StepStatus,
    taken: &[TakenArc],
    result: Option<&Slot>,
    error: Option<&ToolError>,
    handled: bool,
    at: Timestamp,
) {
    close_commands(run, visit);
    run.agenda.settle.remove(&visit);
    run.agenda.fill.remove(&visit);
    let report = run.visits.remove(&visit).and_then(|visit| visit.report);
    if let Some(record) = run.steps.get_mut(step) {
        record.status = status;
        record.ended_at = Some(at);
        record.current = None;
        record.error = error.cloned();
        record.result = result.cloned().or_else(|| report.map(|report| report.data));
    }
    match error {
        Some(error) if !handled => run.failures.push(Failure { step: step.clone(), error: error.clone() }),
        _ if taken.iter().all(|arc| arc.to.is_none()) && run.last_leaf.as_deref() != Some("end") => {
            run.last_leaf = Some(step.clone());
        }
        _ => {}
    }
    if &**step == "end" && error.is_none() {
        run.last_leaf = Some(step.clone());
    }
    follow(run, step, taken);
    run.agenda.enter = true;
}

fn follow(run: &mut Run, from: &Arc<str>, taken: &[TakenArc]) {
    for to in taken.iter().filter_map(|arc| arc.to.as_ref()) {
        run.pending.entry(to.clone()).or_insert_with(|| Pending { from: Some(from.clone()) });
    }
}

/// Puts assigned values under `ctx`, making maps along dotted paths.
fn assign(run: &mut Run, sets: &[Assignment]) {
    if sets.is_empty() {
        return;
    }
    let ctx = Arc::make_mut(&mut run.ctx);
    for set in sets {
        match set.path.split_once('.') {
            None => {
                ctx.insert(set.path.clone(), set.value.clone());
            }
            Some((first, rest)) => {
                let below = match ctx.get(first) {
                    Some(Slot::Inline(value)) => value.clone(),
                    _ => Value::Null,
                };
                let Slot::Inline(value) = &set.value else {
                    continue;
                };
                let path: Vec<&str> = rest.split('.').collect();
                ctx.insert(Arc::from(first), Slot::Inline(below.with_path(&path, value.clone())));
            }
        }
    }
}

fn end(run: &mut Run, status: RunStatus, error: Option<ToolError>, at: Timestamp) {
    run.status = status;
    run.error = error;
    run.ended_at = Some(at);
    for visit in std::mem::take(&mut run.visits).into_values() {
        if let Some(record) = run.steps.get_mut(&visit.step) {
            record.current = None;
            record.ended_at = Some(at);
            record.status = StepStatus::Failed;
            record.error = run.error.clone();
        }
    }
    run.pending.clear();
    run.commands.clear();
    run.signals.clear();
    run.agenda = Default::default();
}
