//! The spans of a run, from its events: one for the run, and within it one for each visit of a step, each item of a loop,
//! each attempt at a command, and each try at a task that was tried again.

use std::collections::BTreeMap;
use std::sync::Arc;

use noetl_types::{
    CommandKey, Event, EventBody, ExecutionId, Item, Outcome, PolicyDecision, RunTrace, SpanId, Started,
    Timestamp, ToolError, Value, VisitId,
};

use super::span::{Ending, Span};

/// Takes the events of one run in their order and gives spans as they come to their end.
#[derive(Debug)]
pub struct Derivation {
    execution: ExecutionId,
    trace: RunTrace,
    run: Open,
    visits: BTreeMap<VisitId, Open>,
    items: BTreeMap<(VisitId, u32), Open>,
    attempts: BTreeMap<(CommandKey, u16), Open>,
    ended: Vec<Span>,
    is_over: bool,
}

/// A span that has not ended.
#[derive(Debug, Default)]
struct Open {
    name: String,
    since: Timestamp,
    attributes: Vec<(&'static str, Value)>,
}

impl Derivation {
    /// Begins with the first event of a run. Nothing for a run that nobody wants to see.
    pub fn begin(first: &Event) -> Option<Derivation> {
        let EventBody::PlaybookStarted(started) = &first.body else {
            return None;
        };
        let trace = RunTrace::given(&started.meta).unwrap_or_else(|| RunTrace::own(started.execution));
        trace.is_sampled.then(|| Derivation {
            execution: started.execution,
            trace,
            run: Open {
                name: format!("playbook {}", started.path),
                since: first.at,
                attributes: facts_of(started),
            },
            visits: BTreeMap::new(),
            items: BTreeMap::new(),
            attempts: BTreeMap::new(),
            ended: Vec::new(),
            is_over: false,
        })
    }

    /// Whether the run has come to its end. What comes later is of no interest.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The spans that have ended since this was asked before.
    pub fn take(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.ended)
    }

    pub fn add(&mut self, event: &Event) {
        if self.is_over {
            return;
        }
        let at = event.at;
        match &event.body {
            EventBody::StepEntered { step, visit, .. } => {
                let attributes = vec![
                    ("noetl.step", Value::Text(step.clone())),
                    ("noetl.visit", Value::from(i64::from(visit.0))),
                ];
                self.visits.insert(*visit, Open { name: format!("step {step}"), since: at, attributes });
            }
            EventBody::CommandIssued { command, step, attempt, tool } => {
                self.issued(*command, step, *attempt, tool, at);
            }
            EventBody::CommandStarted { command, attempt, worker, .. } => {
                if let Some(open) = self.attempts.get_mut(&(*command, *attempt)) {
                    open.attributes.push(("noetl.worker", Value::Text(worker.clone())));
                }
            }
            EventBody::CallDone { command, attempt, outcome, .. }
            | EventBody::CallFailed { command, attempt, outcome, .. } => {
                self.called(*command, *attempt, outcome, at);
            }
            EventBody::CallSuspended { command, attempt, .. } => {
                if let Some(mut open) = self.attempts.remove(&(*command, *attempt)) {
                    open.attributes.push(("noetl.suspended", true.into()));
                    self.end_attempt(*command, *attempt, open, at, Ending::Well);
                }
            }
            EventBody::CommandLost { command, attempt, .. } => {
                if let Some(open) = self.attempts.remove(&(*command, *attempt)) {
                    let ending = Ending::Badly("its worker went silent".to_owned());
                    self.end_attempt(*command, *attempt, open, at, ending);
                }
            }
            EventBody::StepExited { visit, status, error, .. } => {
                self.exited(*visit, status.as_str(), error.as_ref(), at);
            }
            EventBody::PlaybookCompleted { .. } => self.over("COMPLETED", Ending::Well, at),
            EventBody::PlaybookFailed { error, .. } => {
                self.run.attributes.push(("error.type", error.kind.as_str().into()));
                self.over("FAILED", Ending::Badly(error.message.clone()), at);
            }
            EventBody::PlaybookCancelled { .. } => self.over("CANCELLED", Ending::Stopped, at),
            _ => {}
        }
    }

    fn issued(&mut self, command: CommandKey, step: &Arc<str>, attempt: u16, tool: &Arc<str>, at: Timestamp) {
        let about = ("noetl.step", Value::Text(step.clone()));
        if let Item::At(index) = command.item {
            self.items.entry((command.visit, index)).or_insert_with(|| Open {
                name: format!("item {step}"),
                since: at,
                attributes: vec![about.clone(), ("noetl.item.index", Value::from(i64::from(index)))],
            });
        }
        let attributes = vec![
            about,
            ("noetl.tool", Value::Text(tool.clone())),
            ("noetl.attempt", Value::from(i64::from(attempt))),
        ];
        let open = Open { name: format!("attempt {step}"), since: at, attributes };
        self.attempts.insert((command, attempt), open);
    }

    /// The command has its outcome, and with it the item that it was a share of.
    fn called(&mut self, command: CommandKey, attempt: u16, outcome: &Outcome, at: Timestamp) {
        let Outcome::Finished { report, decisions, .. } = outcome else {
            return;
        };
        let ending = ending_of(report.error.as_ref());
        if let Some(mut open) = self.attempts.remove(&(command, attempt)) {
            if let Some(error) = &report.error {
                open.attributes.push(("error.type", error.kind.as_str().into()));
            }
            open.attributes.push(("noetl.duration_ms", report.duration_ms.into()));
            self.end_tries(command, attempt, decisions, open.since, at, &ending);
            self.end_attempt(command, attempt, open, at, ending.clone());
        }
        if let Item::At(index) = command.item {
            self.end_item(command.visit, index, at, ending);
        }
    }

    /// Tries at tasks that were tried again. Those before the attempt began belong to the attempt that was suspended then.
    fn end_tries(
        &mut self,
        command: CommandKey,
        attempt: u16,
        decisions: &[PolicyDecision],
        began: Timestamp,
        ended: Timestamp,
        ending: &Ending,
    ) {
        let seen = || decisions.iter().filter(|decision| decision.at.is_some_and(|at| at >= began));
        let retried = |task: &Arc<str>| seen().any(|other| other.task == *task && &*other.action == "retry");
        let mut since = began;
        let mut open = None;
        for (place, decision) in (0..).zip(seen()) {
            let at = decision.at.unwrap_or(since).min(ended);
            let again = &*decision.action == "retry";
            if retried(&decision.task) {
                let how = if again { Ending::Badly("it was tried again".to_owned()) } else { ending.clone() };
                self.end_try(command, attempt, (place, decision), (since, at), how);
            }
            open = again.then(|| (place + 1, decision.clone()));
            since = at;
        }
        // The last try went as it should, so that no rule had to decide about it.
        if let Some((place, mut decision)) = open {
            decision.attempt += 1;
            self.end_try(command, attempt, (place, &decision), (since, ended), ending.clone());
        }
    }

    fn end_try(
        &mut self,
        command: CommandKey,
        attempt: u16,
        (place, decision): (u32, &PolicyDecision),
        (since, until): (Timestamp, Timestamp),
        ending: Ending,
    ) {
        let task = &decision.task;
        let attributes = vec![
            ("noetl.task", Value::Text(task.clone())),
            ("noetl.try", i64::from(decision.attempt).into()),
        ];
        let open = Open { name: format!("try {task}"), since, attributes };
        let id = SpanId::of_try(self.execution, command, attempt, place);
        self.end(id, Some(SpanId::of_attempt(self.execution, command, attempt)), open, until, ending);
    }

    fn end_attempt(&mut self, command: CommandKey, attempt: u16, open: Open, at: Timestamp, ending: Ending) {
        let id = SpanId::of_attempt(self.execution, command, attempt);
        self.end(id, Some(SpanId::of_share(self.execution, command)), open, at, ending);
    }

    fn end_item(&mut self, visit: VisitId, index: u32, at: Timestamp, ending: Ending) {
        if let Some(open) = self.items.remove(&(visit, index)) {
            let id = SpanId::of_item(self.execution, visit, index);
            self.end(id, Some(SpanId::of_visit(self.execution, visit)), open, at, ending);
        }
    }

    fn exited(&mut self, visit: VisitId, status: &str, error: Option<&ToolError>, at: Timestamp) {
        self.stop_work(Some(visit), at);
        if let Some(mut open) = self.visits.remove(&visit) {
            open.attributes.push(("noetl.status", status.to_uppercase().into()));
            if let Some(error) = error {
                open.attributes.push(("error.type", error.kind.as_str().into()));
            }
            self.end_visit(visit, open, at, ending_of(error));
        }
    }

    fn end_visit(&mut self, visit: VisitId, open: Open, at: Timestamp, ending: Ending) {
        let id = SpanId::of_visit(self.execution, visit);
        self.end(id, Some(SpanId::of_execution(self.execution)), open, at, ending);
    }

    /// Ends what is under way in a visit, or in all of them.
    fn stop_work(&mut self, of: Option<VisitId>, at: Timestamp) {
        let is_meant = |visit: VisitId| of.is_none_or(|of| of == visit);
        let attempts: Vec<_> =
            self.attempts.keys().copied().filter(|(command, _)| is_meant(command.visit)).collect();
        for (command, attempt) in attempts {
            if let Some(open) = self.attempts.remove(&(command, attempt)) {
                self.end_attempt(command, attempt, open, at, Ending::Stopped);
            }
        }
        let items: Vec<_> = self.items.keys().copied().filter(|(visit, _)| is_meant(*visit)).collect();
        for (visit, index) in items {
            self.end_item(visit, index, at, Ending::Stopped);
        }
    }

    fn over(&mut self, status: &'static str, ending: Ending, at: Timestamp) {
        self.stop_work(None, at);
        for (visit, open) in std::mem::take(&mut self.visits) {
            self.end_visit(visit, open, at, Ending::Stopped);
        }
        let mut run = std::mem::take(&mut self.run);
        run.attributes.push(("noetl.status", status.into()));
        self.end(SpanId::of_execution(self.execution), self.trace.parent, run, at, ending);
        self.is_over = true;
    }

    fn end(&mut self, id: SpanId, parent: Option<SpanId>, open: Open, at: Timestamp, ending: Ending) {
        let Open { name, since, mut attributes } = open;
        attributes.push(("noetl.execution_id", self.execution.to_string().into()));
        self.ended.push(Span {
            trace: self.trace.trace,
            id,
            parent,
            state: self.trace.state.clone(),
            name,
            start: since,
            end: at.max(since),
            attributes,
            ending,
        });
    }
}

fn facts_of(started: &Started) -> Vec<(&'static str, Value)> {
    let mut facts =
        vec![("noetl.path", Value::Text(started.path.clone())), ("noetl.version", started.version.into())];
    if let Some(parent) = &started.parent {
        facts.push(("noetl.parent_execution_id", parent.execution.to_string().into()));
    }
    if let Some(earlier) = started.rerun_of {
        facts.push(("noetl.rerun_of", earlier.to_string().into()));
    }
    facts
}

fn ending_of(error: Option<&ToolError>) -> Ending {
    error.map_or(Ending::Well, |error| Ending::Badly(error.message.clone()))
}
