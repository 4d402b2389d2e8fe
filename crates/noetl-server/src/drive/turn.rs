//! What one commit is made of: decisions for some executions, and what is to be told once they are durable.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use noetl_engine::{Decision, Effect, Input, OpenState, Run, Values, accept, advance, command_for};
use noetl_store::{
    Batch, CommandClose, CommandFilter, CommandRow, CommandStatus, ExecutionWrite, Lease, Snapshot, TimerRow,
};
use noetl_types::{
    Await, Command, CommandKey, ErrorKind, Event, EventBody, EventId, ExecutionId, Outcome, Report,
    StoredValue, Timestamp, ToolError, Value,
};

use super::announce::announcement;
use super::aside::put_aside;
use super::dispatch::Dispatched;
use super::session::{Session, pool_of};
use super::sessions::Sessions;
use super::values::ValueCache;
use super::{Applied, Beginning, DriveError, Progress, Shared, Work};
use crate::catalog::{CatalogError, Playbook, Reference};

/// A finished run gets a snapshot when folding its events again would take longer than reading it.
const WORTH_A_SNAPSHOT: u64 = 64;

/// More commands than one run has open.
const ALL_OPEN: usize = 10_000_000;

/// The decisions of one turn.
pub struct Turn {
    shared: Arc<Shared>,
    now: Timestamp,
    parts: BTreeMap<ExecutionId, Part>,
    /// Executions whose part was given up half way. What was decided for them in this turn counts for nothing.
    broken: Vec<ExecutionId>,
}

/// What changes for one execution.
struct Part {
    session: Session,
    write: ExecutionWrite,
    dispatched: Vec<Command>,
    cancelled: Vec<(CommandKey, u16)>,
    news: Vec<(ExecutionId, Work)>,
}

/// What is to be told after a commit.
#[derive(Default)]
pub struct After {
    pub progress: Vec<Progress>,
    pub dispatched: Vec<Dispatched>,
    pub cancelled: Vec<(ExecutionId, CommandKey, u16)>,
    pub news: Vec<(ExecutionId, Work)>,
    pub timer_started: bool,
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
    pub fn new(shared: Arc<Shared>) -> Turn {
        let now = shared.clock.now();
        Turn { shared, now, parts: BTreeMap::new(), broken: Vec::new() }
    }

    /// Lets the engine decide about one piece of work.
    pub async fn handle(
        &mut self,
        sessions: &mut Sessions,
        execution: ExecutionId,
        work: Work,
    ) -> Result<Applied, DriveError> {
        let mut part = self.open(sessions, execution, &work).await?;
        let result = self.decide(&mut part, work).await;
        let applied = Applied {
            execution,
            seq: part.session.run.seq,
            status: part.session.run.status,
            events: part.write.events.len(),
            commands: part.write.issue.len(),
        };
        match result {
            Ok(()) => {
                self.parts.insert(execution, part);
                Ok(applied)
            }
            Err(error) => {
                self.broken.push(execution);
                Err(error)
            }
        }
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
        let session = match sessions.take(execution) {
            Some(session) => session,
            None => {
                match (Session::load(&*self.shared.store, &self.shared.playbooks, execution).await?, work) {
                    (Some(session), _) => session,
                    (None, Work::Start(start)) => {
                        let pool = pool_of(&start.started.meta, &start.started.path);
                        Session::new(Run::new(), start.playbook.clone(), pool, 0)
                    }
                    (None, _) => return Err(DriveError::NotFound(execution)),
                }
            }
        };
        let write = ExecutionWrite::new(execution, session.run.seq, session.row());
        Ok(Part { session, write, dispatched: Vec::new(), cancelled: Vec::new(), news: Vec::new() })
    }

    async fn decide(&self, part: &mut Part, work: Work) -> Result<(), DriveError> {
        match work {
            Work::Start(start) => {
                let Beginning { started, reserve, .. } = *start;
                if part.write.expected_seq == 0 {
                    part.write.reserve = reserve;
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
    async fn input(&self, part: &mut Part, input: Input) -> Result<(), DriveError> {
        let at_hand = AtHand::new(&self.shared.values);
        let values: Arc<dyn Values> = at_hand.clone();
        let mut inputs = std::collections::VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
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
                    inputs.extend(self.carry_out(part, effect).await?);
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

    /// Notes which attempts a decision stops, while the run still knows them.
    fn note_cancelled(&self, part: &mut Part, decision: &Decision) {
        for effect in &decision.effects {
            let Effect::CancelCommand(command) = effect else {
                continue;
            };
            if let Some(open) = part.session.run.find_command(*command) {
                let status = CommandStatus::Cancelled;
                let close = CommandClose { key: *command, attempt: open.attempt, status, at: self.now };
                part.cancelled.push((*command, open.attempt));
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
            close_commands(&body, self.now, &mut write.close);
            let event = Event { id: EventId(ids.next()), seq: run.seq + 1, at: self.now, body };
            write.events.push(event.clone());
            event
        };
        advance(&mut session.run, &plan, decision, self.now, values, &mut record)
    }

    /// Brings stored values to hand. One that is gone or damaged is named: the run can't go on without it.
    async fn load(
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

    /// Turns an effect into rows and news. Returns inputs for the same run.
    async fn carry_out(&self, part: &mut Part, effect: Effect) -> Result<Option<Input>, DriveError> {
        match effect {
            Effect::Dispatch(command) => {
                let row = self.command_row(part, &command);
                if let Some(address) = &self.shared.config.announce_as {
                    let trace = part.session.run.started.meta.get("trace");
                    part.write.outbox.push(announcement(part.write.execution, &row, address, trace));
                }
                part.write.issue.push(row);
                part.dispatched.push(*command);
            }
            Effect::CancelCommand(command) => {
                part.dispatched.retain(|waiting| waiting.key != command);
            }
            Effect::StartTimer { timer, at } => {
                part.write.start_timers.push(TimerRow { key: timer, due: at });
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
                return self.start_child(part, command, reference, payload, parent).await.map(Some);
            }
            Effect::CancelChild(child) => {
                let reason = format!("execution {} that called it stopped", part.write.execution);
                let input = Input::Cancel { reason: reason.into() };
                part.news.push((child, Work::Input(Box::new(input))));
            }
            Effect::Ended(ended) => {
                if let Some(parent) = ended.parent.filter(|parent| !parent.detached) {
                    let input = Input::ChildEnded {
                        command: parent.command,
                        child: part.write.execution,
                        status: ended.status,
                        report: ended.report,
                    };
                    part.news.push((parent.execution, Work::Input(Box::new(input))));
                }
            }
        }
        Ok(None)
    }

    /// Decides on the child's id together with the parent, so that starting it again after a crash finds it.
    async fn start_child(
        &self,
        part: &mut Part,
        command: CommandKey,
        reference: Reference,
        payload: Value,
        parent: noetl_types::ParentLink,
    ) -> Result<Input, DriveError> {
        let refused = |kind: ErrorKind, message: String| Input::ChildRefused {
            command,
            error: ToolError::new(kind, message),
        };
        let playbook = match self.shared.playbooks.get(&reference).await {
            Ok(playbook) => playbook,
            Err(CatalogError::Store(error)) => return Err(error.into()),
            Err(error) => return Ok(refused(ErrorKind::NotFound, error.to_string())),
        };
        let child = ExecutionId(self.shared.ids.next());
        match self.child_start(child, &playbook, payload, parent, &part.session.run.started.meta) {
            Ok(work) => {
                part.news.push((child, work));
                Ok(Input::ChildStarted { command, child })
            }
            Err(error) => Ok(Input::ChildRefused { command, error }),
        }
    }

    fn child_start(
        &self,
        child: ExecutionId,
        playbook: &Playbook,
        payload: Value,
        parent: noetl_types::ParentLink,
        parent_meta: &Value,
    ) -> Result<Work, ToolError> {
        // A child works in the pool and the trace of its parent.
        let inherited = ["execution_pool", "trace"]
            .into_iter()
            .filter_map(|key| parent_meta.get(key).map(|value| (key, value.clone())));
        let request = noetl_engine::StartRequest {
            execution: child,
            path: playbook.path.clone(),
            version: playbook.version,
            catalog_id: playbook.catalog_id,
            payload,
            entry: None,
            also_at: Vec::new(),
            rerun_of: None,
            parent: Some(parent),
            meta: Value::map(inherited),
        };
        let started = noetl_engine::start(&playbook.plan, request, self.now)?;
        Ok(Work::Start(Box::new(Beginning { playbook: playbook.clone(), started, reserve: None })))
    }

    fn command_row(&self, part: &Part, command: &Command) -> CommandRow {
        let issued = part.write.events.iter().rev().find_map(|event| match &event.body {
            EventBody::CommandIssued { command: key, tool, .. } if *key == command.key => {
                Some((event.id, tool.clone()))
            }
            _ => None,
        });
        let (event, tool) = issued.unwrap_or((EventId(self.shared.ids.next()), "unknown".into()));
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

    /// Takes up what a crash left lying. The workers of the process died with it, so their commands are given out again,
    /// like those that nobody had. Workers elsewhere go on with theirs.
    async fn recover(&self, part: &mut Part) -> Result<(), DriveError> {
        let mut children = Vec::new();
        let mut lost = Vec::new();
        for (&(visit, item), open) in &part.session.run.commands {
            let key = CommandKey { visit, item, part: open.part };
            match (&open.state, open.child) {
                (OpenState::Issued | OpenState::Started { .. }, _) => lost.push((key, open.attempt)),
                (OpenState::Waiting { on: on @ Await::Child { .. }, .. }, Some(child)) => {
                    children.push((key, child, on.clone()));
                }
                _ => {}
            }
        }
        if !lost.is_empty() {
            let elsewhere = self.held_elsewhere(part.write.execution).await?;
            lost.retain(|command| !elsewhere.contains(command));
        }
        for (key, attempt) in lost {
            self.give_out_again(part, key, attempt).await?;
        }
        for (key, child, on) in children {
            self.recover_child(part, key, child, on).await?;
        }
        Ok(())
    }

    /// The attempts that workers of other processes have leases of. Leases of workers that died with a process are given
    /// up, unless this process has workers of the same name.
    async fn held_elsewhere(&self, execution: ExecutionId) -> Result<HashSet<(CommandKey, u16)>, DriveError> {
        let process_worker = self.shared.dispatcher.process_worker();
        let given_up = self.shared.dispatcher.holder().is_none();
        let filter = CommandFilter { execution: Some(execution), ..CommandFilter::default() };
        let mut elsewhere = HashSet::new();
        for command in self.shared.store.list_open_commands(&filter, ALL_OPEN).await? {
            let (key, attempt) = (command.row.key, command.row.attempt);
            match command.row.lease {
                Some(lease) if lease.worker != process_worker => {
                    elsewhere.insert((key, attempt));
                }
                Some(lease) if given_up => {
                    self.shared.store.release_command(execution, key, attempt, &lease.worker).await?;
                }
                _ => {}
            }
        }
        Ok(elsewhere)
    }

    async fn give_out_again(&self, part: &mut Part, key: CommandKey, attempt: u16) -> Result<(), DriveError> {
        let at_hand = AtHand::new(&self.shared.values);
        let values: Arc<dyn Values> = at_hand.clone();
        let plan = part.session.playbook.plan.clone();
        loop {
            match command_for(&part.session.run, &plan, key, attempt, &values) {
                Ok(Some(command)) => {
                    part.dispatched.push(command);
                    return Ok(());
                }
                Ok(None) => return Ok(()),
                Err(missing) => {
                    if let Some(lost) = self.load(&at_hand, &missing).await? {
                        let report = Report::failure(storage_error(&lost));
                        let outcome = Outcome::finished(report);
                        return self.input(part, Input::Ended { command: key, attempt, outcome }).await;
                    }
                }
            }
        }
    }

    /// A child may have ended without its parent hearing of it, or never have begun.
    async fn recover_child(
        &self,
        part: &mut Part,
        command: CommandKey,
        child: ExecutionId,
        on: Await,
    ) -> Result<(), DriveError> {
        match super::session::load_run(&*self.shared.store, child).await? {
            Some((run, _)) if run.status.is_terminal() => {
                let wanted = run.started.parent.as_ref().and_then(|parent| parent.return_step.clone());
                let data = match wanted {
                    Some(step) => run.result_of(&step).cloned(),
                    None => run.result().cloned(),
                };
                let report =
                    Report { data: data.unwrap_or_default(), error: run.error.clone(), ..Report::default() };
                let input = Input::ChildEnded { command, child, status: run.status, report };
                self.input(part, input).await
            }
            Some(_) => Ok(()),
            None => {
                let Await::Child { path, catalog_id, version, payload, return_step, detached, .. } = on
                else {
                    return Ok(());
                };
                let reference = match (catalog_id, version) {
                    (Some(id), _) => Reference::Id(id),
                    (None, Some(version)) => Reference::Version(path.to_string(), version),
                    (None, None) => Reference::Latest(path.to_string()),
                };
                let parent = noetl_types::ParentLink {
                    execution: part.write.execution,
                    command,
                    detached,
                    return_step,
                };
                let playbook = self.shared.playbooks.get(&reference).await?;
                let meta = part.session.run.started.meta.clone();
                match self.child_start(child, &playbook, payload, parent, &meta) {
                    Ok(work) => {
                        part.news.push((child, work));
                        Ok(())
                    }
                    Err(error) => self.input(part, Input::ChildRefused { command, error }).await,
                }
            }
        }
    }

    pub fn broken(&self) -> &[ExecutionId] {
        &self.broken
    }

    /// The writes of this turn.
    pub fn batch(&mut self) -> Batch {
        let mut batch = Batch::default();
        for part in self.parts.values_mut() {
            if part.write.events.is_empty() && part.write.cancel_timers.is_empty() {
                continue;
            }
            part.write.row = part.session.row();
            part.write.snapshot = snapshot(&part.session, &self.shared, &part.write);
            batch.executions.push(part.write.clone());
        }
        batch
    }

    /// Puts the runs back and says what is to be told, for all executions that did not lose their race.
    pub fn finish(self, sessions: &mut Sessions, lost: &[ExecutionId]) -> After {
        let mut after = After::default();
        for (execution, mut part) in self.parts {
            if lost.contains(&execution) {
                continue;
            }
            if let Some(snapshot) = &part.write.snapshot {
                part.session.snapshot_seq = snapshot.seq;
            }
            let playbook = &part.session.playbook;
            let pool = &part.session.pool;
            after.dispatched.extend(part.dispatched.drain(..).map(|command| Dispatched {
                command,
                plan: playbook.plan.clone(),
                catalog_id: playbook.catalog_id,
                pool: pool.clone(),
            }));
            after
                .cancelled
                .extend(part.cancelled.iter().map(|&(command, attempt)| (execution, command, attempt)));
            after.news.append(&mut part.news);
            after.timer_started |= !part.write.start_timers.is_empty();
            if !part.write.events.is_empty() {
                after.progress.push(Progress { execution, events: part.write.events.into() });
            }
            if !part.session.is_over() {
                sessions.put(execution, part.session);
            }
        }
        after
    }
}

fn storage_error(error: &noetl_store::Error) -> ToolError {
    ToolError::new(ErrorKind::StorageAccess, format!("a stored value can't be read: {error}"))
}

fn value_lost(error: &noetl_store::Error) -> Decision {
    let event = EventBody::PlaybookFailed { error: storage_error(error), failed_steps: Vec::new() };
    Decision { events: vec![event], ..Decision::default() }
}

/// The rows of attempts that this event brings to an end.
fn close_commands(body: &EventBody, at: Timestamp, close: &mut Vec<CommandClose>) {
    let (key, attempt, status) = match body {
        EventBody::CallDone { command, attempt, .. } => (*command, *attempt, CommandStatus::Completed),
        EventBody::CallFailed { command, attempt, .. } => (*command, *attempt, CommandStatus::Failed),
        EventBody::CallSuspended { command, attempt, .. } => (*command, *attempt, CommandStatus::Suspended),
        EventBody::CommandLost { command, attempt, .. } => (*command, *attempt, CommandStatus::Lost),
        _ => return,
    };
    if attempt > 0 {
        close.push(CommandClose { key, attempt, status, at });
    }
}

fn snapshot(session: &Session, shared: &Shared, write: &ExecutionWrite) -> Option<Snapshot> {
    let since = session.run.seq - session.snapshot_seq;
    let due = since >= shared.config.snapshot_every || (session.is_over() && since >= WORTH_A_SNAPSHOT);
    if !due {
        return None;
    }
    let last_event = write.events.iter().map(|event| event.id).max()?;
    match serde_json::to_vec(&session.run) {
        Ok(state) => Some(Snapshot { seq: session.run.seq, last_event, state: state.into() }),
        Err(error) => {
            tracing::warn!(execution = %write.execution, %error, "no snapshot could be made");
            None
        }
    }
}
