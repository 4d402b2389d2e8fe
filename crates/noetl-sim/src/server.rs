//! The server: feeds inputs to runs, commits what follows, and crashes.

use std::sync::Arc;

use noetl_dsl::Plan;
use noetl_engine::{
    Decision, Input, Run, StartRequest, Values, accept, advance, apply, command_for, decide, start,
};
use noetl_types::{
    Command, CommandKey, ErrorKind, Event, EventBody, EventId, ExecutionId, ParentLink, StoredValue,
    TimerKey, Timestamp, ToolError, Value,
};

use crate::ledger::Ledger;
use crate::store::{Commit, Errand};
use crate::values::put_aside;
use crate::witness::same;
use crate::world::{Letter, World};

/// Decisions in a row after which a run is taken for one that never comes to rest.
const MANY_DECISIONS: usize = 20_000;

impl World {
    /// Starts a run. A start that was committed before is not repeated.
    pub fn start(
        &mut self,
        execution: ExecutionId,
        plan: &Arc<Plan>,
        payload: Value,
        parent: Option<ParentLink>,
    ) -> Result<Result<bool, ToolError>, String> {
        let request = StartRequest {
            execution,
            path: plan.path.clone(),
            version: 1,
            catalog_id: 1,
            payload,
            parent: parent.clone(),
            ..StartRequest::default()
        };
        let started = match start(plan, request, self.now) {
            Ok(started) => started,
            Err(error) => return Ok(Err(error)),
        };
        self.ledgers.insert(execution, Ledger::new(plan.clone()));
        self.witnesses.insert(execution, Default::default());
        self.live.insert(execution, Run::new());
        let survived = self.handle(execution, plan.clone(), Input::Start(Box::new(started)))?;
        if self.store.runs.contains_key(&execution) {
            self.tally.runs += 1;
            if let Some(parent) = parent {
                self.tally.children += 1;
                self.store.children.insert((parent.execution, parent.command), execution);
            }
        } else {
            self.ledgers.remove(&execution);
            self.witnesses.remove(&execution);
        }
        Ok(Ok(survived))
    }

    /// Gives an input to a run. False when the server crashed over it, so that it will come again.
    pub fn feed(&mut self, execution: ExecutionId, input: Input) -> Result<bool, String> {
        let plan = self.store.file(execution)?.plan.clone();
        self.bring_to_life(execution)?;
        self.handle(execution, plan, input)
    }

    fn handle(&mut self, execution: ExecutionId, plan: Arc<Plan>, input: Input) -> Result<bool, String> {
        self.trace.say(|| format!("[{execution}] {}", words(&input)));
        if self.random.chance(self.faults.forgetting) {
            self.at_hand.forget_all();
        }
        let mut run = self.live.remove(&execution).ok_or("the run is not in memory")?;
        let answered = match &input {
            Input::TimerFired(timer) => Some(*timer),
            _ => None,
        };
        let commit = self.decide_all(&mut run, &plan, input)?;
        if self.random.chance(self.faults.crash_before) {
            self.tally.crashes_before += 1;
            self.trace.say(|| "  crash before the commit".to_owned());
            self.crash();
            return Ok(false);
        }
        self.commit(execution, &plan, &run, Commit { answered, ..commit })?;
        self.live.insert(execution, run);
        if self.random.chance(self.faults.crash_after) {
            self.tally.crashes_after += 1;
            self.trace.say(|| "  crash after the commit".to_owned());
            self.crash();
            return Ok(false);
        }
        Ok(true)
    }

    /// Everything in memory is gone.
    pub fn crash(&mut self) {
        self.live.clear();
        self.at_hand.forget_all();
    }

    fn bring_to_life(&mut self, execution: ExecutionId) -> Result<(), String> {
        if self.live.contains_key(&execution) {
            return Ok(());
        }
        let snapshots = self.store.file(execution)?.snapshots.len();
        let snapshot =
            if snapshots > 0 && self.random.chance(700) { Some(self.random.below(snapshots)) } else { None };
        match snapshot {
            Some(_) => self.tally.rebuilt_from_snapshot += 1,
            None => self.tally.rebuilt_from_zero += 1,
        }
        self.trace.say(|| match snapshot {
            Some(at) => format!("[{execution}] is rebuilt from snapshot {at}"),
            None => format!("[{execution}] is rebuilt from its first event"),
        });
        let run = self.store.rebuild(execution, snapshot)?;
        if let Some(witness) = self.witnesses.get(&execution) {
            witness.compare(&run)?;
        }
        self.live.insert(execution, run);
        Ok(())
    }

    /// Everything that follows from an input. Each question is asked twice, to see that the answer is the same.
    fn decide_all(&mut self, run: &mut Run, plan: &Plan, input: Input) -> Result<Commit, String> {
        let values: Arc<dyn Values> = self.at_hand.clone();
        let mut commit = Commit::default();
        let mut first = self.ask(|now| accept(run, plan, input.clone(), now, &values))?;
        if self.random.chance(250) {
            // The engine's own loop does the same as the one below.
            while !first.is_empty() {
                let (now, limit) = (self.now, self.faults.inline_limit);
                let (events, stored, at_hand) = (&mut commit.events, &mut commit.values, &self.at_hand);
                let mut record = |run: &Run, body: EventBody| {
                    let event = record(run, body, now, limit, stored, at_hand);
                    events.push(event.clone());
                    event
                };
                let (effects, missing) = advance(run, plan, first, now, &values, &mut record);
                commit.effects.extend(effects);
                self.load(&missing, &commit)?;
                first = decide(run, plan, now, &values);
                if missing.is_empty() && !first.is_empty() {
                    return Err(format!("a run that has advanced goes on: {first:?}"));
                }
            }
            return Ok(commit);
        }
        let mut decision = first;
        for _ in 0..MANY_DECISIONS {
            for body in decision.events {
                let event =
                    record(run, body, self.now, self.faults.inline_limit, &mut commit.values, &self.at_hand);
                apply(run, &event);
                commit.events.push(event);
            }
            commit.effects.extend(decision.effects);
            decision = decide(run, plan, self.now, &values);
            if decide(run, plan, self.now, &values) != decision {
                return Err("the same question has two answers".to_owned());
            }
            if !decision.missing.is_empty() {
                if !decision.events.is_empty() || !decision.effects.is_empty() {
                    return Err(format!("a decision that lacks values has more in it: {decision:?}"));
                }
                self.load(&decision.missing, &commit)?;
                decision = Decision::default();
            } else if decision.is_empty() {
                return Ok(commit);
            }
        }
        Err(format!("the run decides and decides: {:?}", noetl_engine::explain(run, plan)))
    }

    /// Asks until no value is missing.
    fn ask(&mut self, question: impl Fn(Timestamp) -> Decision) -> Result<Decision, String> {
        loop {
            let decision = question(self.now);
            if question(self.now) != decision {
                return Err("the same input comes to two different things".to_owned());
            }
            if decision.missing.is_empty() {
                return Ok(decision);
            }
            self.load(&decision.missing, &Commit::default())?;
        }
    }

    fn load(&mut self, missing: &[Arc<StoredValue>], open: &Commit) -> Result<(), String> {
        for stored in missing {
            self.tally.values_loaded += 1;
            let value = self.store.load(stored, open)?;
            self.at_hand.keep(&stored.uri, value);
        }
        Ok(())
    }

    fn commit(
        &mut self,
        execution: ExecutionId,
        plan: &Arc<Plan>,
        run: &Run,
        commit: Commit,
    ) -> Result<(), String> {
        self.tally.commits += 1;
        self.tally.values_aside += commit.values.len() as u64;
        let before = self.store.runs.get(&execution).map_or(0, |file| file.log.len());
        let timers: Vec<TimerKey> =
            self.store.runs.get(&execution).map_or(Vec::new(), |file| file.timers.keys().copied().collect());
        for event in &commit.events {
            self.trace.say(|| format!("  {}", event_words(event)));
        }
        let errands = self.store.commit(execution, plan, commit)?;
        let file = self.store.file(execution)?;
        let gone: Vec<TimerKey> =
            timers.into_iter().filter(|timer| !file.timers.contains_key(timer)).collect();
        let fresh: Vec<Event> = file.log[before..].to_vec();
        for timer in gone {
            self.remember_timer(execution, timer);
        }
        self.bear_witness(execution, run, &fresh)?;
        if self.random.chance(self.faults.snapshots) {
            self.take_snapshot(execution, run)?;
        }
        for errand in errands {
            self.run_errand(execution, errand);
        }
        Ok(())
    }

    /// Checks everything that must hold after a commit.
    fn bear_witness(&mut self, execution: ExecutionId, run: &Run, fresh: &[Event]) -> Result<(), String> {
        let witness = self.witnesses.entry(execution).or_default();
        for event in fresh {
            witness.record(event);
        }
        witness.compare(run)?;
        let ledger = self.ledgers.get_mut(&execution).ok_or("a run without a ledger")?;
        let (store, tally) = (&self.store, &mut self.tally);
        for event in fresh {
            let load = |stored: &StoredValue| store.load(stored, &Commit::default());
            ledger.record(event, &load, tally).map_err(|error| format!("event {}: {error}", event.seq))?;
        }
        ledger.check_rest(run, store.file(execution)?)
    }

    fn take_snapshot(&mut self, execution: ExecutionId, run: &Run) -> Result<(), String> {
        let json = serde_json::to_string(run).map_err(|error| format!("the run as JSON: {error}"))?;
        self.tally.snapshots += 1;
        let read: Run =
            serde_json::from_str(&json).map_err(|error| format!("reading a snapshot: {error}"))?;
        same("reading a snapshot", &read, run)?;
        if let Some(witness) = self.witnesses.get_mut(&execution) {
            witness.follow(run.seq, &json)?;
        }
        if let Some(file) = self.store.runs.get_mut(&execution) {
            file.snapshots.push((run.seq, json));
        }
        Ok(())
    }

    fn run_errand(&mut self, execution: ExecutionId, errand: Errand) {
        match errand {
            Errand::StartChild { command, path, payload, parent } => {
                self.mail.push(Letter::StartChild { command, path, payload, parent });
            }
            Errand::CancelChild(child) if self.is_detached(child) => {}
            Errand::CancelChild(child) => {
                let reason = "the run that called it stopped".into();
                self.send(child, Input::Cancel { reason });
            }
            Errand::StopJob(job) => {
                if !self.random.chance(self.faults.deaf_jobs) {
                    self.jobs.remove(&job);
                }
            }
            Errand::Ended(ended) => {
                let Some(parent) = ended.parent else {
                    return;
                };
                // A parent that did not wait hears of the end now and then, and must not mind.
                if !parent.detached || self.random.chance(300) {
                    let news = Input::ChildEnded {
                        command: parent.command,
                        child: execution,
                        status: ended.status,
                        report: ended.report,
                    };
                    self.send(parent.execution, news);
                }
            }
        }
    }

    fn is_detached(&self, child: ExecutionId) -> bool {
        let begun = self.store.runs.get(&child).and_then(|file| file.log.first());
        match begun.map(|event| &event.body) {
            Some(EventBody::PlaybookStarted(started)) => {
                started.parent.as_ref().is_some_and(|parent| parent.detached)
            }
            _ => false,
        }
    }

    /// Starts the run that a command waits for, or finds it when it was started before.
    pub fn start_child(
        &mut self,
        command: CommandKey,
        path: &str,
        payload: Value,
        parent: ParentLink,
    ) -> Result<bool, String> {
        let caller = parent.execution;
        let known = self.store.children.get(&(caller, command)).copied();
        if let Some(child) = known.filter(|_| !self.random.chance(self.faults.double_starts)) {
            self.send(caller, Input::ChildStarted { command, child });
            return Ok(true);
        }
        self.tally.double_starts += u64::from(known.is_some());
        let Some(plan) = self.catalog.get(path).cloned() else {
            let error = ToolError::new(ErrorKind::NotFound, format!("there is no playbook '{path}'"));
            self.send(caller, Input::ChildRefused { command, error });
            return Ok(true);
        };
        let child = self.new_child();
        match self.start(child, &plan, payload, Some(parent))? {
            Err(error) => {
                self.send(caller, Input::ChildRefused { command, error });
                Ok(true)
            }
            Ok(false) => Ok(false),
            Ok(true) => {
                self.send(caller, Input::ChildStarted { command, child });
                Ok(true)
            }
        }
    }

    /// The command as it would be put together now; it differs from the one that was issued in nothing but the data.
    pub fn command_now(&mut self, issued: &Command) -> Result<Command, String> {
        let execution = issued.execution;
        self.bring_to_life(execution)?;
        let plan = self.store.file(execution)?.plan.clone();
        let values: Arc<dyn Values> = self.at_hand.clone();
        loop {
            let run = self.live.get(&execution).ok_or("the run is not in memory")?;
            match command_for(run, &plan, issued.key, issued.attempt, &values) {
                Err(missing) => self.load(&missing, &Commit::default())?,
                Ok(None) => {
                    return Err(format!("an issued command can't be put together again: {}", issued.key));
                }
                Ok(Some(command)) => {
                    let with_old_data = Command { context: issued.context.clone(), ..command.clone() };
                    if with_old_data != *issued {
                        return Err(format!(
                            "command {} is another when it is put together again",
                            issued.key
                        ));
                    }
                    return Ok(command);
                }
            }
        }
    }
}

/// An event with its number, and large values put aside.
fn record(
    run: &Run,
    mut body: EventBody,
    at: Timestamp,
    limit: usize,
    stored: &mut Vec<(String, Value)>,
    at_hand: &crate::values::AtHand,
) -> Event {
    let execution = match &body {
        EventBody::PlaybookStarted(started) => started.execution,
        _ => run.execution(),
    };
    for (number, slot) in body.slots_mut().into_iter().enumerate() {
        let uri = format!("noetl://execution/{execution}/result/{}/{number}", run.seq + 1);
        if let Some((uri, value)) = put_aside(slot, limit, uri) {
            at_hand.keep(&uri, value.clone());
            stored.push((uri, value));
        }
    }
    Event { id: EventId(execution.0 * 1_000_000 + run.seq as i64 + 1), seq: run.seq + 1, at, body }
}

pub(crate) fn words(input: &Input) -> String {
    match input {
        Input::Start(_) => "starts".to_owned(),
        Input::Began { command, attempt, .. } => {
            format!("hears that {command} (attempt {attempt}) has begun")
        }
        Input::Ended { command, attempt, .. } => {
            format!("hears of the outcome of {command} (attempt {attempt})")
        }
        Input::LeaseExpired { command, attempt } => {
            format!("hears that the lease of {command} ({attempt}) is over")
        }
        Input::TimerFired(timer) => format!("hears the timer {timer}"),
        Input::ChildStarted { command, child } => format!("hears that {child} was started for {command}"),
        Input::ChildRefused { command, .. } => format!("hears that nothing could be started for {command}"),
        Input::ChildEnded { command, child, status, .. } => {
            format!("hears that {child} of {command} is {status}")
        }
        Input::Signal { name, .. } => format!("hears the signal '{name}'"),
        Input::Pause { .. } => "is paused".to_owned(),
        Input::Resume => "is resumed".to_owned(),
        Input::Cancel { .. } => "is cancelled".to_owned(),
        Input::Finalize { .. } => "is finalized".to_owned(),
    }
}

fn event_words(event: &Event) -> String {
    let mut json = serde_json::to_value(&event.body).unwrap_or_default();
    if let Some(map) = json.as_object_mut() {
        map.remove("type");
        map.remove("pipeline");
    }
    format!("{} {} {json}", event.seq, event.body.type_name())
}
