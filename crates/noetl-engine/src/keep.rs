//! What a run that begins in the middle takes over from an earlier one.
//!
//! The steps that the new run can come to are done again; the others keep what they came to. A step within a cycle may be
//! both: then what it came to before the run arrived at the beginning counts. The earlier run is known by its events, and
//! the new one may follow another version of the playbook.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_dsl::plan::StepIndex;
use noetl_types::{Assignment, Event, EventBody, Kept, KeptStep, Outcome, Slot, StepStatus};

use crate::apply::apply;
use crate::run::Run;

/// The earlier run, event by event.
#[derive(Clone, Debug, Default)]
pub struct History {
    run: Run,
    /// Where each step was entered last.
    entered: BTreeMap<Arc<str>, u64>,
    unfinished: Vec<Arc<str>>,
}

impl History {
    pub fn new() -> History {
        History::default()
    }

    pub fn add(&mut self, event: &Event) {
        if let EventBody::StepEntered { step, .. } = &event.body {
            self.entered.insert(step.clone(), event.seq);
        }
        if event.body.is_end() {
            self.unfinished = unfinished(&self.run);
        }
        apply(&mut self.run, event);
    }

    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Where the run stopped: steps that failed without an arc to take care of it, and those under way or waiting when
    /// it ended. Empty for a run that completed, or is not over.
    pub fn unfinished(&self) -> &[Arc<str>] {
        &self.unfinished
    }
}

fn unfinished(run: &Run) -> Vec<Arc<str>> {
    let failed = run.failures.iter().map(|failure| &failure.step);
    let under_way = run.visits.values().map(|visit| &visit.step);
    let mut steps: Vec<Arc<str>> = Vec::new();
    for step in failed.chain(under_way).chain(run.pending.keys()) {
        if !steps.contains(step) {
            steps.push(step.clone());
        }
    }
    steps
}

/// Gathers what is taken over. Fed with the same events as the history before it.
#[derive(Clone, Debug)]
pub struct Keeper<'p> {
    plan: &'p Plan,
    run: Run,
    /// What steps that are done again came to from this event on does not count.
    cutoffs: BTreeMap<StepIndex, u64>,
    steps: BTreeMap<StepIndex, KeptStep>,
    ctx: BTreeMap<Arc<str>, Slot>,
}

impl<'p> Keeper<'p> {
    /// For a run of `plan` that begins at these steps.
    pub fn new(plan: &'p Plan, history: &History, begins_at: &[StepIndex]) -> Keeper<'p> {
        let mut cutoffs: BTreeMap<StepIndex, u64> = BTreeMap::new();
        for &beginning in begins_at {
            let name = &plan.steps[beginning].name;
            let entered = history.entered.get(name).copied().unwrap_or(u64::MAX);
            let again = (0..plan.steps.len())
                .filter(|&step| step == beginning || plan.graph.reaches(beginning, step));
            for step in again {
                let cutoff = cutoffs.entry(step).or_insert(entered);
                *cutoff = entered.min(*cutoff);
            }
        }
        Keeper { plan, run: Run::new(), cutoffs, steps: BTreeMap::new(), ctx: BTreeMap::new() }
    }

    pub fn add(&mut self, event: &Event) {
        apply(&mut self.run, event);
        let Some(name) = event.body.step() else {
            return;
        };
        let Some(step) = self.plan.find_step(name) else {
            // The new playbook has no such step. What it has set is still there.
            self.assign(&event.body);
            return;
        };
        if self.cutoffs.get(&step).is_some_and(|&cutoff| event.seq >= cutoff) {
            return;
        }
        self.assign(&event.body);
        self.note(step, name, &event.body);
    }

    /// Notes how a step ended. A failure that no arc took care of is none to be kept.
    fn note(&mut self, step: StepIndex, name: &Arc<str>, body: &EventBody) {
        let is_kept = match body {
            EventBody::StepExited { error, handled, .. } => error.is_none() || *handled,
            EventBody::StepSkipped { .. } | EventBody::StepKept { .. } => true,
            EventBody::StepEntered { .. } => false,
            _ => return,
        };
        self.steps.remove(&step);
        // The final step runs at the end of every run.
        if !is_kept || self.plan.executor.final_step == Some(step) {
            return;
        }
        if let Some(record) = self.run.steps.get(name) {
            let kept = KeptStep {
                step: name.clone(),
                status: record.status,
                result: record.result.clone(),
                error: record.error.clone().filter(|_| record.status == StepStatus::Failed),
            };
            self.steps.insert(step, kept);
        }
    }

    fn assign(&mut self, body: &EventBody) {
        let sets: &[Assignment] = match body {
            EventBody::CallDone { outcome: Outcome::Finished { sets, .. }, .. }
            | EventBody::CallFailed { outcome: Outcome::Finished { sets, .. }, .. }
            | EventBody::CallSuspended { sets, .. }
            | EventBody::ContextUpdated { sets, .. } => sets,
            _ => return,
        };
        // The run has just applied them, by whole top-level keys.
        for set in sets {
            let key = set.path.split('.').next().unwrap_or(&set.path);
            if let Some((key, value)) = self.run.ctx.get_key_value(key) {
                self.ctx.insert(key.clone(), value.clone());
            }
        }
    }

    /// In the order of the workflow.
    pub fn finish(self) -> Kept {
        let ctx = self.ctx.into_iter().map(|(path, value)| Assignment { path, value });
        Kept { steps: self.steps.into_values().collect(), ctx: ctx.collect() }
    }
}
