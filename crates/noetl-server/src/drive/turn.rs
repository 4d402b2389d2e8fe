//! The decisions of one commit, for some executions.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use noetl_engine::{Decision, Effect, Input, Run, Values, accept, advance};
use noetl_store::{Batch, CommandClose, CommandRow, CommandStatus, Lease, TimerRow};
use noetl_types::{
    Command, ErrorKind, Event, EventBody, EventId, ExecutionId, StoredValue, Timestamp, ToolError, Value,
};

use super::announce::announcement;
use super::aside::put_aside;
use super::changes::Changes;
use super::committing::{Committing, Told};
use super::lenders::lenders;
use super::session::{Session, pool_of};
use super::sessions::Sessions;
use super::trace::of_attempt;
use super::values::ValueCache;
use super::{Applied, Beginning, DriveError, Shared, Work};
use crate::catalog::Reference;

/// Commands that one input may have run at once, and all inputs of a turn together. More than that go to the workers, so
/// that a run with much of such work lets others have their turn, and what it did becomes durable now and then.
const AT_ONCE_PER_INPUT: usize = 128;
const AT_ONCE_PER_TURN: usize = 256;

/// A turn that has taken this long does no more of them: templates may take their time.
const TIME_FOR_AT_ONCE: Duration = Duration::from_millis(10);

/// The decisions of one turn.
pub struct Turn {
    pub(super) shared: Arc<Shared>,
    pub(super) now: Timestamp,
    /// A run that is to start is taken for new without a look into the store. Should it exist, its commit loses the race
    /// and the next turn looks.
    trusts_starts: bool,
    parts: BTreeMap<ExecutionId, Part>,
    /// Executions whose part was given up half way. What was decided for them in this turn counts for nothing.
    broken: Vec<ExecutionId>,
    /// Commands that may still be run at once.
    at_once_left: AtomicUsize,
}

/// What is left to do for one input.
enum Todo {
    Feed(Box<Input>),
    /// A command that may need no worker.
    Run(Box<Command>),
}

/// What changes for one execution.
pub(super) struct Part {
    pub(super) session: Session,
    /// The run is known to be as it is stored.
    checked: bool,
    pub(super) write: Changes,
    pub(super) told: Told,
}

/// Stored values at hand for the decisions of one input, whatever the shared cache forgets meanwhile.
#[derive(Debug)]
pub(crate) struct AtHand {
    cache: Arc<ValueCache>,
    pinned: Mutex<HashMap<String, Value>>,
}

impl AtHand {
    pub(crate) fn new(cache: &Arc<ValueCache>) -> Arc<AtHand> {
        Arc::new(AtHand { cache: cache.clone(), pinned: Mutex::default() })
    }

    pub(crate) fn pin(&self, uri: &str, value: Value) {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner).insert(uri.to_owned(), value);
    }
}

impl Values for AtHand {
    fn find(&self, stored: &StoredValue) -> Option<Value> {
        let pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner).get(&stored.uri).cloned();
        pinned.or_else(|| self.cache.find(stored))
    }
}

impl Turn {
    pub fn new(shared: Arc<Shared>, trusts_starts: bool) -> Turn {
        let now = shared.clock.now();
        Turn {
            shared,
            now,
            trusts_starts,
            parts: BTreeMap::new(),
            broken: Vec::new(),
            at_once_left: AtomicUsize::new(AT_ONCE_PER_TURN),
        }
    }

    /// Lets the engine decide about one piece of work.
    pub async fn handle(
        &mut self,
        sessions: &mut Sessions,
        execution: ExecutionId,
        work: &Work,
    ) -> Result<Applied, DriveError> {
        loop {
            let mut part = self.open(sessions, execution, work).await?;
            let (events, commands) = (part.write.events.len(), part.write.issue.len());
            let decided = self.decide(&mut part, work.clone()).await;
            if decided.is_ok() && !self.is_current(&mut part).await? {
                // Others moved the run since it was put into memory; it is loaded anew.
                continue;
            }
            let applied = Applied {
                execution,
                seq: part.session.run.seq,
                status: part.session.run.status,
                events: part.write.events.len() - events,
                commands: part.write.issue.len() - commands,
            };
            return match decided {
                Ok(()) => {
                    self.parts.insert(execution, part);
                    Ok(applied)
                }
                Err(error) => {
                    self.broken.push(execution);
                    Err(error)
                }
            };
        }
    }

    /// Whether a decision rests on the run as it is stored. What is written is checked with the commit; when nothing is
    /// to be written, this is the only check.
    async fn is_current(&self, part: &mut Part) -> Result<bool, DriveError> {
        if part.checked || !part.write.is_empty() {
            return Ok(true);
        }
        let stored = self.shared.store.find_execution(part.write.execution).await?;
        part.checked = stored.is_some_and(|stored| stored.seq == part.session.run.seq);
        Ok(part.checked)
    }

    async fn open(
        &mut self,
        sessions: &mut Sessions,
        execution: ExecutionId,
        work: &Work,
    ) -> Result<Part, DriveError> {
        if let Some(part) = self.parts.remove(&execution) {
            return Ok(part);
        }
        let (session, checked) = match (sessions.take(execution), work) {
            (Some(session), _) => (session, false),
            (None, Work::Start(start)) if self.trusts_starts => (new_session(start), false),
            (None, work) => {
                let loaded = Session::load(&*self.shared.store, &self.shared.playbooks, execution).await?;
                match (loaded, work) {
                    (Some(session), _) => (session, true),
                    (None, Work::Start(start)) => (new_session(start), true),
                    (None, _) => return Err(DriveError::NotFound(execution)),
                }
            }
        };
        let write = Changes::new(execution, session.run.seq);
        Ok(Part { session, checked, write, told: Told::default() })
    }

    async fn decide(&self, part: &mut Part, work: Work) -> Result<(), DriveError> {
        match work {
            Work::Start(start) => {
                let Beginning { started, reserve, audit, .. } = *start;
                if part.write.expected_seq == 0 {
                    part.write.reserve = reserve;
                    part.write.audit = audit;
                    part.write.borrows_from = lenders(&started);
                }
                self.input(part, Input::Start(Box::new(started))).await
            }
            Work::Input(input) => {
                if let Input::TimerFired(timer) = &*input {
                    // Whatever comes of it, the timer has been answered.
                    part.write.cancel_timers.push(*timer);
                }
                self.input(part, *input).await
            }
            Work::Recover => self.recover(part).await,
        }
    }

    /// Feeds one input and everything that follows from it at once.
    pub(super) async fn input(&self, part: &mut Part, input: Input) -> Result<(), DriveError> {
        let at_hand = AtHand::new(&self.shared.values);
        let values: Arc<dyn Values> = at_hand.clone();
        let mut todo = VecDeque::from([Todo::Feed(Box::new(input))]);
        let mut at_once_left = AT_ONCE_PER_INPUT;
        while let Some(next) = todo.pop_front() {
            let input = match next {
                Todo::Feed(input) => *input,
                Todo::Run(command) => {
                    let began = self.run_at_once(part, *command, &mut at_once_left, &values);
                    let Some((began, ended)) = began else {
                        continue;
                    };
                    todo.push_front(Todo::Feed(Box::new(ended)));
                    began
                }
            };
            let playbook = part.session.playbook.clone();
            let mut decision = accept(&part.session.run, &playbook.plan, input.clone(), self.now, &values);
            while !decision.missing.is_empty() {
                if let Some(lost) = self.load(&at_hand, &decision.missing).await? {
                    decision = value_lost(&lost);
                    break;
                }
                decision = accept(&part.session.run, &playbook.plan, input.clone(), self.now, &values);
            }
            self.note_cancelled(part, &decision);
            loop {
                let (effects, missing) = self.advance(part, decision, &at_hand, &values);
                for effect in effects {
                    todo.extend(self.carry_out(part, effect).await?);
                }
                if missing.is_empty() {
                    break;
                }
                decision = match self.load(&at_hand, &missing).await? {
                    Some(lost) => value_lost(&lost),
                    None => Decision::default(),
                };
            }
        }
        Ok(())
    }

    /// Runs a command that needs no worker, and says what is to be fed for it. Gives others to the workers.
    fn run_at_once(
        &self,
        part: &mut Part,
        command: Command,
        left: &mut usize,
        values: &Arc<dyn Values>,
    ) -> Option<(Input, Input)> {
        let (key, attempt) = (command.key, command.attempt);
        if !part.session.run.is_open(key, attempt) {
            // What was done before it has put an end to it.
            return None;
        }
        let Session { playbook, pool, .. } = &part.session;
        let outcome = self
            .shared
            .dispatcher
            .at_once()
            .filter(|_| *left > 0 && self.at_once_left.load(Ordering::Relaxed) > 0)
            .filter(|_| self.shared.clock.now().since(self.now) < TIME_FOR_AT_ONCE)
            .and_then(|(at_once, worker)| {
                let outcome = at_once.run(&command, &playbook.plan, pool, values, self.now)?;
                Some((worker, outcome))
            });
        let Some((worker, outcome)) = outcome else {
            part.told.dispatched.push(command);
            return None;
        };
        *left -= 1;
        part.told.done_at_once += 1;
        self.at_once_left.fetch_sub(1, Ordering::Relaxed);
        let began = Input::Began { command: key, attempt, worker };
        Some((began, Input::Ended { command: key, attempt, outcome }))
    }

    /// Notes which attempts a decision stops, while the run still knows them.
    fn note_cancelled(&self, part: &mut Part, decision: &Decision) {
        for effect in &decision.effects {
            let Effect::CancelCommand(command) = effect else {
                continue;
            };
            if let Some(open) = part.session.run.find_command(*command) {
                let status = CommandStatus::Cancelled;
                let close = CommandClose { key: *command, attempt: open.attempt, status, at: self.now };
                part.told.cancelled.push((*command, open.attempt));
                part.write.close.push(close);
            }
        }
    }

    fn advance(
        &self,
        part: &mut Part,
        decision: Decision,
        at_hand: &AtHand,
        values: &Arc<dyn Values>,
    ) -> (Vec<Effect>, Vec<Arc<StoredValue>>) {
        let Part { session, write, .. } = part;
        let execution = write.execution;
        let plan = session.playbook.plan.clone();
        let ids = &self.shared.ids;
        let mut record = |run: &Run, mut body: EventBody| {
            let rows = put_aside(&mut body, &plan, execution, self.now, &mut || ids.next());
            for (row, uri, value) in rows {
                at_hand.pin(&uri, value.clone());
                self.shared.values.keep(&uri, value);
                write.results.push(row);
            }
            let event = Event { id: EventId(ids.next()), seq: run.seq + 1, at: self.now, body };
            write.note_commands(&event);
            write.events.push(event.clone());
            event
        };
        advance(&mut session.run, &plan, decision, self.now, values, &mut record)
    }

    /// Brings stored values to hand. One that is gone or damaged is named: the run can't go on without it.
    pub(super) async fn load(
        &self,
        at_hand: &AtHand,
        missing: &[Arc<StoredValue>],
    ) -> Result<Option<noetl_store::Error>, DriveError> {
        for stored in missing {
            match self.shared.values.load(&*self.shared.store, stored).await {
                Ok(value) => at_hand.pin(&stored.uri, value),
                Err(error) if error.is_retryable() => return Err(error.into()),
                Err(error) => return Ok(Some(error)),
            }
        }
        Ok(None)
    }

    /// Turns an effect into rows and news. Returns what is to be done for the same run.
    async fn carry_out(&self, part: &mut Part, effect: Effect) -> Result<Option<Todo>, DriveError> {
        match effect {
            Effect::Dispatch(command) => {
                let row = self.command_row(part, &command);
                if let Some(address) = &self.shared.config.announce_as {
                    let started = &part.session.run.started;
                    let (execution, traces) = (part.write.execution, self.shared.config.traces);
                    let trace = of_attempt(started, traces, execution, row.key, row.attempt)
                        // What is no trace context here may be one for others.
                        .or_else(|| started.meta.get("trace").cloned());
                    part.write.outbox.push(announcement(execution, &row, address, trace));
                }
                part.write.issue.push(row);
                return Ok(Some(Todo::Run(command)));
            }
            Effect::CancelCommand(command) => {
                part.told.dispatched.retain(|waiting| waiting.key != command);
            }
            Effect::StartTimer { timer, at } => {
                part.write.start_timers.push(TimerRow { key: timer, due: at });
                part.told.timer_started = true;
            }
            Effect::CancelTimer(timer) => {
                part.write.start_timers.retain(|row| row.key != timer);
                part.write.cancel_timers.push(timer);
            }
            Effect::StartChild { command, path, catalog_id, version, payload, parent } => {
                let reference = match (catalog_id, version) {
                    (Some(id), _) => Reference::Id(id),
                    (None, Some(version)) => Reference::Version(path.to_string(), version),
                    (None, None) => Reference::Latest(path.to_string()),
                };
                let heard = self.start_child(part, command, reference, payload, parent).await?;
                return Ok(Some(Todo::Feed(Box::new(heard))));
            }
            Effect::CancelChild(child) => {
                let reason = format!("execution {} that called it stopped", part.write.execution);
                let input = Input::Cancel { reason: reason.into() };
                part.told.news.push((child, Work::Input(Box::new(input))));
            }
            Effect::Ended(ended) => {
                if let Some(parent) = ended.parent.filter(|parent| !parent.detached) {
                    let input = Input::ChildEnded {
                        command: parent.command,
                        child: part.write.execution,
                        status: ended.status,
                        report: ended.report,
                    };
                    part.told.news.push((parent.execution, Work::Input(Box::new(input))));
                }
            }
        }
        Ok(None)
    }

    fn command_row(&self, part: &Part, command: &Command) -> CommandRow {
        let issued = part.write.issued.get(&command.key).cloned();
        let (event, tool) = issued.unwrap_or_else(|| (EventId(self.shared.ids.next()), "unknown".into()));
        let lease = self
            .shared
            .dispatcher
            .holder()
            .map(|worker| Lease { worker, until: self.now.after(self.shared.config.lease) });
        CommandRow {
            key: command.key,
            attempt: command.attempt,
            event,
            step: command.step.clone(),
            tool,
            pool: part.session.pool.clone(),
            priority: 0,
            issued_at: self.now,
            lease,
            body: Arc::from([]),
        }
    }

    /// The writes of this turn, and what is left to do once they are durable.
    pub fn into_commit(self) -> (Batch, Committing) {
        let mut batch = Batch::default();
        let mut committing = Committing {
            runs: Vec::with_capacity(self.parts.len()),
            broken: self.broken,
            traces: self.shared.config.traces,
        };
        for (execution, part) in self.parts {
            if committing.broken.contains(&execution) {
                continue;
            }
            let Part { mut session, write, told, .. } = part;
            if !write.is_empty() {
                let write = write.into_row(&session, &self.shared.config);
                if let Some(snapshot) = &write.snapshot {
                    session.snapshot_seq = snapshot.seq;
                }
                batch.executions.push(write);
            }
            committing.runs.push((execution, session, told));
        }
        (batch, committing)
    }
}

fn new_session(start: &Beginning) -> Session {
    let pool = pool_of(&start.started.meta, &start.started.path);
    Session::new(Run::new(), start.playbook.clone(), pool, 0)
}

pub(super) fn storage_error(error: &noetl_store::Error) -> ToolError {
    ToolError::new(ErrorKind::StorageAccess, format!("a stored value can't be read: {error}"))
}

fn value_lost(error: &noetl_store::Error) -> Decision {
    let event = EventBody::PlaybookFailed { error: storage_error(error), failed_steps: Vec::new() };
    Decision { events: vec![event], ..Decision::default() }
}
