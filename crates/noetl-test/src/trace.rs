//! What happened in a case, for those who judge it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use noetl_engine::Run;
use noetl_types::{Event, EventBody, Outcome, PolicyDecision, TakenArc, Value};

use crate::address::{Address, Playbook};
use crate::problem::Problem;

#[derive(Debug)]
pub struct Trace {
    /// The run under test; nothing when it could not start.
    pub main: Option<RunTrace>,
    /// Runs of playbooks that were called.
    pub others: Vec<RunTrace>,
    /// In the order in which they were made.
    pub calls: Vec<MadeCall>,
    /// Why the case could not go on.
    pub problem: Option<Problem>,
}

impl Trace {
    pub fn runs(&self) -> impl Iterator<Item = &RunTrace> {
        self.main.iter().chain(&self.others)
    }
}

/// One run, after everything has happened.
#[derive(Debug)]
pub struct RunTrace {
    pub playbook: Playbook,
    pub run: Run,
    pub log: Vec<Event>,
    pub result: Option<Value>,
    /// The latest result of each step.
    pub results: BTreeMap<Arc<str>, Value>,
    pub context: BTreeMap<Arc<str>, Value>,
    /// On the case's own clock.
    pub elapsed: Duration,
    /// What a run that has not ended waits for, in sentences.
    pub waits: Vec<String>,
}

impl RunTrace {
    /// The steps in the order in which they were entered.
    pub fn entered(&self) -> impl Iterator<Item = &Arc<str>> {
        self.log.iter().filter_map(|event| match &event.body {
            EventBody::StepEntered { step, .. } => Some(step),
            _ => None,
        })
    }

    /// The arcs that were followed, each with the step it comes from.
    pub fn followed(&self) -> impl Iterator<Item = (&Arc<str>, &TakenArc)> {
        self.log.iter().flat_map(|event| match &event.body {
            EventBody::StepExited { step, taken, .. } | EventBody::StepSkipped { step, taken, .. } => {
                taken.iter().map(|arc| (step, arc)).collect()
            }
            _ => Vec::new(),
        })
    }

    /// What rules decided, each with the step it was in.
    pub fn decisions(&self) -> impl Iterator<Item = (&Arc<str>, &PolicyDecision)> {
        self.log.iter().flat_map(|event| match &event.body {
            EventBody::CallDone { step, outcome: Outcome::Finished { decisions, .. }, .. }
            | EventBody::CallFailed { step, outcome: Outcome::Finished { decisions, .. }, .. } => {
                decisions.iter().map(|decision| (step, decision)).collect()
            }
            _ => Vec::new(),
        })
    }
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct MadeCall {
    /// The task is always named.
    pub address: Address,
    pub kind: Arc<str>,
    pub input: Value,
    pub settings: Value,
}
