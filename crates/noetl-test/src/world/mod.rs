//! A world for one case: the real engine and the real interpreter, mocked tools, and a clock that jumps to the next thing.

mod agenda;
mod answers;
mod calls;
mod children;
mod keychain;
mod values;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use noetl_engine::{Effect, Input, Run, StartRequest, Values, accept, apply, decide, explain, start};
use noetl_types::{
    CommandKey, Event, EventBody, EventId, ExecutionId, ParentLink, RunStatus, Slot, Timestamp, Value,
};

use crate::address::{Playbook, Playbooks};
use crate::problem::Problem;
use crate::suite::{Case, Signal};
use crate::tools::RealTools;
use crate::trace::{MadeCall, RunTrace, Trace};
use agenda::{Agenda, Happening};
use calls::{Job, Situation};
use keychain::Keychain;
use values::Shelf;

/// The run under test. Those that it starts are counted from here.
const MAIN: ExecutionId = ExecutionId(1);

/// Events after which a run is taken for endless.
const MOST_EVENTS: usize = 100_000;

/// Runs a case to where nothing more happens.
pub fn play(case: &Case, playbooks: &Playbooks, tools: &dyn RealTools) -> Trace {
    let mut world = World {
        case,
        playbooks,
        tools,
        now: case.clock,
        runs: BTreeMap::new(),
        next_execution: MAIN.0,
        inbox: VecDeque::new(),
        agenda: Agenda::default(),
        shelf: Arc::default(),
        keychain: Arc::new(Keychain::new(case.keychain.clone())),
        suspended: BTreeMap::new(),
        signals: case.signals.clone(),
        answered: BTreeMap::new(),
        calls: Vec::new(),
        problem: None,
    };
    if let Err(error) = world.begin(playbooks.main(), case.payload.clone(), case.entry.clone(), None) {
        let message = format!("the run can't start: {error}");
        world.problem = Some(Problem::new("start", message, case.place));
    }
    world.go_on();
    world.into_trace()
}

struct World<'w> {
    case: &'w Case,
    playbooks: &'w Playbooks,
    tools: &'w dyn RealTools,
    now: Timestamp,
    runs: BTreeMap<ExecutionId, Live>,
    next_execution: i64,
    /// What runs are to be told now, in order.
    inbox: VecDeque<(ExecutionId, Input)>,
    agenda: Agenda,
    shelf: Arc<Shelf>,
    keychain: Arc<Keychain>,
    /// Tasks that wait for a playbook they called.
    suspended: BTreeMap<(ExecutionId, CommandKey), Situation>,
    /// Signals that nobody has waited for yet.
    signals: Vec<Signal>,
    /// How often each mock has answered.
    answered: BTreeMap<usize, usize>,
    calls: Vec<MadeCall>,
    /// Why the case can't go on.
    problem: Option<Problem>,
}

/// A run under way.
#[derive(Debug)]
struct Live {
    playbook: Playbook,
    run: Run,
    log: Vec<Event>,
    /// Commands that are worked on.
    jobs: BTreeMap<CommandKey, Job>,
}

impl Live {
    /// Notes what has happened and folds it into the run.
    fn record(&mut self, happened: Vec<EventBody>, at: Timestamp) {
        for body in happened {
            let seq = self.run.seq + 1;
            let event = Event { id: EventId(seq as i64), seq, at, body };
            apply(&mut self.run, &event);
            self.log.push(event);
        }
    }
}

impl World<'_> {
    fn begin(
        &mut self,
        playbook: &Playbook,
        payload: Value,
        entry: Option<Arc<str>>,
        parent: Option<ParentLink>,
    ) -> Result<ExecutionId, noetl_types::ToolError> {
        let execution = self.new_execution();
        let request = StartRequest {
            execution,
            path: playbook.plan.path.clone(),
            version: 1,
            catalog_id: execution.0,
            payload,
            entry,
            parent,
            ..StartRequest::default()
        };
        let started = start(&playbook.plan, request, self.now)?;
        let live =
            Live { playbook: playbook.clone(), run: Run::new(), log: Vec::new(), jobs: BTreeMap::new() };
        self.runs.insert(execution, live);
        self.inbox.push_back((execution, Input::Start(Box::new(started))));
        Ok(execution)
    }

    fn new_execution(&mut self) -> ExecutionId {
        let execution = ExecutionId(self.next_execution);
        self.next_execution += 1;
        execution
    }

    /// Goes on until nothing is left to happen, or the case can't go on.
    fn go_on(&mut self) {
        while self.problem.is_none() {
            if let Some((execution, input)) = self.inbox.pop_front() {
                self.tell(execution, input);
            } else if let Some((at, happening)) = self.agenda.next() {
                self.now = self.now.max(at);
                self.happen(happening);
            } else {
                return;
            }
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::CallBegins { work, call } => {
                self.call(work, *call);
                self.work(work);
            }
            Happening::CallEnds { work, call, report } => {
                self.end_call(work, &call, *report);
                self.work(work);
            }
            Happening::TimerFires { execution, timer } => {
                self.inbox.push_back((execution, Input::TimerFired(timer)));
            }
            Happening::SignalComes { execution, name, payload } => {
                self.inbox.push_back((execution, Input::Signal { name, payload: payload.into() }));
            }
            Happening::ChildAnswers { execution, command, child, answer } => {
                self.answer_for_child(execution, command, child, answer);
            }
        }
    }

    /// Gives a run an input, lets the engine decide, and sees to what it wants done.
    fn tell(&mut self, execution: ExecutionId, input: Input) {
        let values: Arc<dyn Values> = self.shelf.clone();
        let Some(mut live) = self.runs.remove(&execution) else {
            return;
        };
        let plan = live.playbook.plan.clone();
        let mut decision = accept(&live.run, &plan, input.clone(), self.now, &values);
        while !decision.missing.is_empty() {
            self.fetch(&decision.missing, &live);
            decision = accept(&live.run, &plan, input.clone(), self.now, &values);
        }
        let mut effects = Vec::new();
        // The engine is asked bit by bit: a cycle of steps that need no tool would keep it deciding for ever.
        while !decision.is_empty() && live.log.len() <= MOST_EVENTS {
            if decision.missing.is_empty() {
                live.record(decision.events, self.now);
                effects.append(&mut decision.effects);
            } else {
                self.fetch(&decision.missing, &live);
            }
            decision = decide(&live.run, &plan, self.now, &values);
        }
        let endless = live.log.len() > MOST_EVENTS;
        self.runs.insert(execution, live);
        if endless {
            let message = format!("the run had more than {MOST_EVENTS} events; it looks endless");
            self.problem = Some(Problem::new("end", message, self.case.place));
            return;
        }
        for effect in effects {
            self.see_to(execution, effect);
        }
    }

    fn fetch(&self, missing: &[Arc<noetl_types::StoredValue>], live: &Live) {
        self.shelf.fetch(missing, self.runs.values().chain([live]));
    }

    fn see_to(&mut self, execution: ExecutionId, effect: Effect) {
        match effect {
            Effect::Dispatch(command) => self.take(*command),
            Effect::CancelCommand(command) => {
                if let Some(live) = self.runs.get_mut(&execution) {
                    live.jobs.remove(&command);
                }
            }
            Effect::StartTimer { timer, at } => self.agenda.start_timer(execution, timer, at),
            Effect::CancelTimer(timer) => self.agenda.cancel_timer(execution, timer),
            Effect::StartChild { command, path, payload, parent, .. } => {
                self.start_child(execution, command, &path, payload, parent);
            }
            Effect::CancelChild(child) => {
                let detached = self.runs.get(&child).and_then(|live| live.run.started.parent.as_ref());
                if detached.is_none_or(|parent| !parent.detached) {
                    let reason = format!("execution {execution} that called it stopped");
                    self.inbox.push_back((child, Input::Cancel { reason: reason.into() }));
                }
            }
            Effect::Ended(ended) => {
                self.agenda.forget_timers(execution);
                if let Some(parent) = ended.parent.filter(|parent| !parent.detached) {
                    let input = Input::ChildEnded {
                        command: parent.command,
                        child: execution,
                        status: ended.status,
                        report: ended.report,
                    };
                    self.inbox.push_back((parent.execution, input));
                }
            }
        }
    }

    fn into_trace(self) -> Trace {
        let shelf = self.shelf;
        let (mut main, mut others) = (None, Vec::new());
        for (execution, live) in self.runs {
            let waits = if live.run.status == RunStatus::Running {
                explain(&live.run, &live.playbook.plan)
            } else {
                Vec::new()
            };
            let until = live.run.ended_at.unwrap_or(self.now);
            let trace = RunTrace {
                elapsed: until.since(live.run.started_at),
                result: live.run.result().map(|slot| shelf.whole(slot)),
                results: results(&live.run, &shelf),
                context: live.run.ctx.iter().map(|(key, slot)| (key.clone(), shelf.whole(slot))).collect(),
                playbook: live.playbook,
                run: live.run,
                log: live.log,
                waits,
            };
            if execution == MAIN {
                main = Some(trace);
            } else {
                others.push(trace);
            }
        }
        Trace { main, others, calls: self.calls, problem: self.problem }
    }
}

fn results(run: &Run, shelf: &Shelf) -> BTreeMap<Arc<str>, Value> {
    let result = |slot: &Option<Slot>| slot.as_ref().map(|slot| shelf.whole(slot));
    run.steps.iter().filter_map(|(name, step)| Some((name.clone(), result(&step.result)?))).collect()
}
