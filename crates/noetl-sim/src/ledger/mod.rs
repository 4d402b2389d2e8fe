//! A second opinion on every run, folded from its events alone and in another way than the engine does it.
//!
//! [`Ledger::record`] refuses an event that must not happen where the run stands: a join entered too early, an outcome
//! applied twice, an item issued beyond the limit, anything after the end. [`Ledger::check_rest`] compares the whole with
//! the engine's state and the store after each commit, and finds what should have happened and did not.

mod arcs;
mod calls;
mod conditions;
mod context;
mod ending;
mod loops;
mod reach;
mod rest;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::StepIndex;
use noetl_types::{
    Await, CommandKey, Event, EventBody, ExecutionId, Item, LoopEntry, Report, RunStatus, Slot, Started,
    StoredValue, Value, VisitId,
};

use crate::tally::Tally;
use reach::Reach;

/// Loads a value that is stored aside.
pub type Load<'l> = dyn Fn(&StoredValue) -> Result<Value, String> + 'l;

#[derive(Debug)]
pub struct Ledger {
    plan: Arc<Plan>,
    reach: Reach,
    started: Started,
    status: RunStatus,
    seq: u64,
    /// Visits that have not ended.
    visits: BTreeMap<VisitId, OpenVisit>,
    last_visit: u32,
    /// Steps that an arc led to and that were not entered or skipped since.
    reached: BTreeSet<StepIndex>,
    commands: BTreeMap<(VisitId, Item), OpenCommand>,
    /// Attempts whose outcome is in the log.
    concluded: BTreeSet<CommandKey>,
    ctx: BTreeMap<Arc<str>, Slot>,
    /// Signals that came and that nobody has taken, by name.
    signals: BTreeMap<Arc<str>, usize>,
    /// Steps whose failure no arc took care of, in order.
    failures: Vec<StepIndex>,
    ran: BTreeSet<StepIndex>,
    leaf: Option<StepIndex>,
    final_step_done: bool,
    /// Arcs that have just fired and whose `set` must come next.
    owed: Option<(StepIndex, Vec<usize>)>,
    sets_of_step: BTreeMap<StepIndex, i64>,
    arcs_taken: BTreeMap<(StepIndex, usize), i64>,
}

#[derive(Debug)]
struct OpenVisit {
    step: StepIndex,
    looping: Option<OpenLoop>,
    /// What the work of a step without a loop came to.
    report: Option<Report>,
    set_applied: bool,
    timed_out: bool,
    has_deadline: bool,
}

#[derive(Debug)]
struct OpenLoop {
    entry: LoopEntry,
    /// Failures after which no further item may be issued.
    bears: Option<u32>,
    next_item: u32,
    next_claim: u32,
    /// What each item came to.
    results: BTreeMap<u32, Report>,
    failed: u32,
    failed_claims: u32,
    /// No further item may be issued.
    stopped: bool,
    drained: bool,
    /// Frames of a cursor that are not done with.
    frames: BTreeMap<u32, FrameNote>,
    /// Rows of the frames that are.
    done_rows: Vec<Value>,
}

#[derive(Debug)]
struct FrameNote {
    rows: Vec<Value>,
    /// Rows, or the frame as a whole, that no item was issued for.
    not_issued: u32,
    /// Items that work on it.
    items: BTreeSet<u32>,
}

#[derive(Debug)]
struct OpenCommand {
    key: CommandKey,
    attempt: u16,
    state: CommandState,
    child: Option<ExecutionId>,
}

#[derive(Clone, Debug, PartialEq)]
enum CommandState {
    Issued,
    Started,
    Waiting(Await),
    /// To be issued: its worker was lost, or its wait is over.
    Ready,
}

impl Ledger {
    pub fn new(plan: Arc<Plan>) -> Ledger {
        let reach = Reach::of(&plan);
        Ledger {
            plan,
            reach,
            started: Started::default(),
            status: RunStatus::Pending,
            seq: 0,
            visits: BTreeMap::new(),
            last_visit: 0,
            reached: BTreeSet::new(),
            commands: BTreeMap::new(),
            concluded: BTreeSet::new(),
            ctx: BTreeMap::new(),
            signals: BTreeMap::new(),
            failures: Vec::new(),
            ran: BTreeSet::new(),
            leaf: None,
            final_step_done: false,
            owed: None,
            sets_of_step: BTreeMap::new(),
            arcs_taken: BTreeMap::new(),
        }
    }

    pub fn is_over(&self) -> bool {
        self.status.is_terminal()
    }

    fn name(&self, step: StepIndex) -> &str {
        &self.plan.steps[step].name
    }

    fn index(&self, step: &str) -> Result<StepIndex, String> {
        self.plan
            .steps
            .iter()
            .position(|known| &*known.name == step)
            .ok_or_else(|| format!("there is no step '{step}'"))
    }

    /// Folds in one event, or says why it must not be there.
    pub fn record(&mut self, event: &Event, load: &Load<'_>, tally: &mut Tally) -> Result<(), String> {
        tally.events += 1;
        if event.seq != self.seq + 1 {
            return Err(format!("comes after event {}", self.seq));
        }
        self.seq = event.seq;
        if self.is_over() && !matches!(event.body, EventBody::CallIgnored { .. }) {
            return Err(format!("{} after the end", event.body.type_name()));
        }
        self.check_debt(&event.body)?;
        match &event.body {
            EventBody::PlaybookStarted(started) => self.begin(started),
            EventBody::StepEntered { step, visit, looping, is_final, deadline, .. } => {
                self.must_not_be_paused()?;
                self.enter(
                    step,
                    *visit,
                    looping.as_ref(),
                    *is_final,
                    deadline.map(|at| at.since(event.at)),
                    load,
                    tally,
                )
            }
            EventBody::StepSkipped { step, reason, taken } => {
                tally.steps_skipped += 1;
                self.skip(step, *reason, taken, load)
            }
            EventBody::CommandIssued { command, step, attempt, .. } => {
                self.must_not_be_paused()?;
                self.issue(*command, step, *attempt, tally)
            }
            EventBody::CommandStarted { command, attempt, .. } => self.work_began(*command, *attempt),
            EventBody::CallDone { command, attempt, outcome, .. } => {
                self.conclude(*command, *attempt, outcome, false, load, tally)
            }
            EventBody::CallFailed { command, attempt, outcome, .. } => {
                self.conclude(*command, *attempt, outcome, true, load, tally)
            }
            EventBody::CallSuspended { command, attempt, on, sets, .. } => {
                tally.suspensions += 1;
                self.suspend(*command, *attempt, on, sets)
            }
            EventBody::CallResumed { command, with, .. } => self.resume(*command, with),
            EventBody::CallIgnored { .. } => {
                tally.ignored_outcomes += 1;
                Ok(())
            }
            EventBody::CommandLost { command, attempt, .. } => self.lose(*command, *attempt),
            EventBody::ContextUpdated { step, cause, sets } => self.update_context(step, *cause, sets),
            EventBody::StepTimedOut { visit, .. } => {
                tally.timeouts += 1;
                self.time_out(*visit)
            }
            EventBody::StepExited { step, visit, status, taken, result, error, handled } => {
                tally.failures_handled += u64::from(*handled);
                let exit = ending::Exit {
                    status: *status,
                    taken,
                    result: result.as_ref(),
                    error: error.as_ref(),
                    handled: *handled,
                };
                self.exit(step, *visit, &exit, load, tally)
            }
            EventBody::StepKept { .. } => Err("no run repeats another here".to_owned()),
            EventBody::ChildStarted { command, child, .. } => self.child_started(*command, *child),
            EventBody::SignalReceived { name, .. } => {
                *self.signals.entry(name.clone()).or_default() += 1;
                Ok(())
            }
            EventBody::Paused { .. } => self.change_status(RunStatus::Running, RunStatus::Paused),
            EventBody::Resumed => self.change_status(RunStatus::Paused, RunStatus::Running),
            EventBody::PlaybookCompleted { from } => self.complete(from.as_deref()),
            EventBody::PlaybookFailed { error, failed_steps } => self.fail(error, failed_steps),
            EventBody::PlaybookCancelled { .. } => {
                self.status = RunStatus::Cancelled;
                Ok(())
            }
        }
    }

    fn begin(&mut self, started: &Started) -> Result<(), String> {
        self.change_status(RunStatus::Pending, RunStatus::Running)?;
        self.started = started.clone();
        let entry = match &started.entry {
            Some(entry) => self.index(entry)?,
            None => self.plan.executor.entry,
        };
        self.reached.insert(entry);
        Ok(())
    }

    fn change_status(&mut self, from: RunStatus, to: RunStatus) -> Result<(), String> {
        if self.status != from {
            return Err(format!("the run is {}, not {from}", self.status));
        }
        self.status = to;
        Ok(())
    }

    fn must_not_be_paused(&self) -> Result<(), String> {
        if self.status == RunStatus::Paused {
            Err("something begins in a paused run".to_owned())
        } else {
            Ok(())
        }
    }
}

/// A slot's value.
fn whole(slot: &Slot, load: &Load<'_>) -> Result<Value, String> {
    match slot {
        Slot::Inline(value) => Ok(value.clone()),
        Slot::Stored(stored) => load(stored),
    }
}
