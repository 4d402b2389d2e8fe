//! The run and everything around it, driven by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use noetl_dsl::Plan;
use noetl_engine::pipeline::{Next, Pipeline, TaskCall};
use noetl_engine::{
    Decision, Effect, History, Input, Keeper, Run, StartRequest, Values, accept, advance, apply, command_for,
    decide, item_result, start,
};
use noetl_types::{
    Command, CommandKey, Event, EventBody, EventId, ExecutionId, Item, Outcome, ParentLink, Report, Slot,
    StoredValue, TimerKey, Timestamp, Value,
};

use super::words;

/// Values that are at hand. What a case stores aside gets here when somebody asks for it.
#[derive(Debug, Default)]
pub struct Shelf(Mutex<BTreeMap<String, Value>>);

impl Shelf {
    fn put(&self, uri: &str, value: Value) {
        self.0.lock().expect("no case panics while it holds the lock").insert(uri.to_owned(), value);
    }
}

impl Values for Shelf {
    fn find(&self, stored: &StoredValue) -> Option<Value> {
        self.0.lock().expect("no case panics while it holds the lock").get(&stored.uri).cloned()
    }
}

/// One run under test.
pub struct World {
    pub plan: Arc<Plan>,
    pub run: Run,
    pub log: Vec<Event>,
    pub now: Timestamp,
    pub timers: BTreeMap<TimerKey, Timestamp>,
    /// Calls that wait for the script to say what they came to.
    pub calls: Vec<(CommandKey, u16, TaskCall)>,
    pub pipelines: BTreeMap<CommandKey, (u16, Pipeline)>,
    pub children: Vec<CommandKey>,
    pub last_outcome: Option<(CommandKey, u16, Outcome)>,
    pub shelf: Arc<Shelf>,
    /// Values stored aside, until somebody asks for them.
    far: BTreeMap<String, Value>,
    /// Values larger than this many bytes are stored aside.
    pub inline_limit: usize,
    pub transcript: Vec<String>,
    next_child: i64,
}

impl World {
    pub fn new(plan: Arc<Plan>) -> World {
        World {
            plan,
            run: Run::new(),
            log: Vec::new(),
            now: Timestamp::from_millis(1_700_000_000_000),
            timers: BTreeMap::new(),
            calls: Vec::new(),
            pipelines: BTreeMap::new(),
            children: Vec::new(),
            last_outcome: None,
            shelf: Arc::default(),
            far: BTreeMap::new(),
            inline_limit: usize::MAX,
            transcript: Vec::new(),
            next_child: 101,
        }
    }

    pub fn say(&mut self, line: impl Into<String>) {
        self.transcript.push(line.into());
    }

    pub fn start(&mut self, payload: Value, entry: Option<&str>, parent: Option<ParentLink>) {
        let request = StartRequest {
            execution: ExecutionId(7),
            path: self.plan.path.clone(),
            version: 1,
            catalog_id: 5,
            payload,
            entry: entry.map(Arc::from),
            parent,
            ..StartRequest::default()
        };
        match start(&self.plan, request, self.now) {
            Ok(started) => self.feed(Input::Start(Box::new(started))),
            Err(error) => self.say(format!("can't start: {}", error.message)),
        }
    }

    /// Begins a new run at a step, or where the run stopped, that keeps what it can of this one.
    pub fn rerun(&mut self, from: Option<&str>) {
        let mut history = History::new();
        self.log.iter().for_each(|event| history.add(event));
        let steps = from.map_or_else(|| history.unfinished().to_vec(), |step| vec![step.into()]);
        let indices: Vec<usize> = steps.iter().filter_map(|step| self.plan.find_step(step)).collect();
        let mut keeper = Keeper::new(&self.plan, &history, &indices);
        self.log.iter().for_each(|event| keeper.add(event));
        let mut steps = steps.into_iter();
        let request = StartRequest {
            execution: ExecutionId(8),
            path: self.plan.path.clone(),
            version: 1,
            catalog_id: 5,
            payload: self.run.started.payload.clone().unwrap_or(self.run.started.workload.clone()),
            entry: steps.next(),
            also_at: steps.collect(),
            rerun_of: Some((self.run.execution(), keeper.finish())),
            ..StartRequest::default()
        };
        let fresh = World::new(self.plan.clone());
        let before = std::mem::replace(self, fresh);
        (self.transcript, self.shelf, self.far) = (before.transcript, before.shelf, before.far);
        (self.now, self.inline_limit) = (before.now, before.inline_limit);
        match start(&self.plan, request, self.now) {
            Ok(started) => self.feed(Input::Start(Box::new(started))),
            Err(error) => self.say(format!("can't start: {}", error.message)),
        }
    }

    /// Gives the run an input and carries out everything that follows.
    pub fn feed(&mut self, input: Input) {
        let values: Arc<dyn Values> = self.shelf.clone();
        let mut decision = accept(&self.run, &self.plan, input.clone(), self.now, &values);
        while !decision.missing.is_empty() {
            self.load(&decision.missing);
            decision = accept(&self.run, &self.plan, input.clone(), self.now, &values);
        }
        self.carry_on(decision);
    }

    /// Goes on as often as values were missing, then carries out what is to be done.
    fn carry_on(&mut self, mut decision: Decision) {
        let values: Arc<dyn Values> = self.shelf.clone();
        let mut effects = Vec::new();
        loop {
            let (further, missing) = self.record(decision, &values);
            effects.extend(further);
            if missing.is_empty() {
                break;
            }
            self.load(&missing);
            decision = Decision::default();
        }
        for effect in effects {
            self.carry_out(effect);
        }
        assert!(
            decide(&self.run, &self.plan, self.now, &values).is_empty(),
            "a settled run decides nothing more"
        );
    }

    /// Folds in what was decided and all that follows from it, with large values stored aside.
    fn record(
        &mut self,
        decision: Decision,
        values: &Arc<dyn Values>,
    ) -> (Vec<Effect>, Vec<Arc<StoredValue>>) {
        let mut recorded = Vec::new();
        let (now, limit, far, before) = (self.now, self.inline_limit, &mut self.far, self.log.len() as i64);
        let mut record = |run: &Run, mut body: EventBody| {
            for slot in body.slots_mut() {
                put_aside(slot, limit, far, run.seq);
            }
            let event =
                Event { id: EventId(before + recorded.len() as i64 + 1), seq: run.seq + 1, at: now, body };
            recorded.push(event.clone());
            event
        };
        let (effects, missing) = advance(&mut self.run, &self.plan, decision, self.now, values, &mut record);
        for event in recorded {
            if let Some(line) = words::event(&event.body, &self.run) {
                self.say(line);
            }
            self.log.push(event);
        }
        (effects, missing)
    }

    /// Puts values that somebody lacks on the shelf.
    fn load(&mut self, missing: &[Arc<StoredValue>]) {
        for stored in missing {
            let value = match &*stored.store {
                "log" => self.loop_value(stored),
                _ => self.far.get(&stored.uri).cloned().expect("what is asked for was stored aside"),
            };
            let name = stored.uri.trim_start_matches("noetl://execution/7/");
            self.say(format!("  load {name}"));
            self.shelf.put(&stored.uri, value);
        }
    }

    /// The value of a loop whose results are only in the log.
    fn loop_value(&self, stored: &StoredValue) -> Value {
        let visit = stored.uri.rsplit('/').next();
        let mut results = BTreeMap::new();
        for event in &self.log {
            if let EventBody::CallDone { command, outcome: Outcome::Finished { report, .. }, .. }
            | EventBody::CallFailed { command, outcome: Outcome::Finished { report, .. }, .. } =
                &event.body
                && visit == Some(command.visit.0.to_string().as_str())
                && let Item::At(index) = command.item
            {
                let result = match item_result(report) {
                    Slot::Inline(value) => value,
                    Slot::Stored(stored) => self.far.get(&stored.uri).cloned().expect("it was stored aside"),
                };
                results.insert(index, result);
            }
        }
        let results = Value::list(results.into_values());
        let mut map = stored.extract.as_map().cloned().unwrap_or_default();
        map.insert("results".into(), results.clone());
        map.insert("data".into(), results);
        map.into()
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Dispatch(command) => self.dispatch(*command),
            Effect::CancelCommand(command) => {
                self.pipelines.remove(&command);
                self.calls.retain(|(key, _, _)| *key != command);
                self.say(format!("  stop {}", self.name_of(command)));
            }
            Effect::StartTimer { timer, at } => {
                self.timers.insert(timer, at);
                let wait = at.since(self.now).as_secs_f64();
                let name = self.timer_name(timer);
                self.say(format!("  timer {name} in {wait} s"));
            }
            Effect::CancelTimer(timer) => {
                self.timers.remove(&timer);
            }
            Effect::StartChild { command, path, catalog_id, version, payload, parent } => {
                let version = version.map_or(String::new(), |version| format!("@{version}"));
                let catalog = catalog_id.map_or(String::new(), |id| format!("catalog entry {id}"));
                let wanted = parent.return_step.map_or(String::new(), |step| format!(" returning {step}"));
                self.say(format!("  child {path}{catalog}{version} {payload}{wanted}"));
                self.children.push(command);
            }
            Effect::CancelChild(child) => self.say(format!("  cancel child {child}")),
            Effect::Ended(ended) => {
                if let Some(parent) = ended.parent {
                    let error =
                        ended.report.error.map_or(String::new(), |error| format!(": {}", error.message));
                    let data = words::slot(&ended.report.data);
                    self.say(format!("  tell parent {} {} {data}{error}", parent.execution, ended.status));
                }
            }
        }
    }

    /// A worker takes the command at once and goes as far as it can without the script.
    fn dispatch(&mut self, command: Command) {
        let (key, attempt) = (command.key, command.attempt);
        let values: Arc<dyn Values> = self.shelf.clone();
        let again = command_for(&self.run, &self.plan, key, attempt, &values);
        assert_eq!(again.as_ref(), Ok(&Some(command.clone())), "a command can be put together again");
        let pipeline = Pipeline::new(self.plan.clone(), command, BTreeMap::new(), self.shelf.clone());
        self.pipelines.insert(key, (attempt, pipeline));
        self.work(key);
    }

    /// Goes on with a pipeline until it needs the script or reports.
    pub fn work(&mut self, key: CommandKey) {
        loop {
            let Some((attempt, pipeline)) = self.pipelines.get_mut(&key) else {
                return;
            };
            let attempt = *attempt;
            match pipeline.next(self.now) {
                Next::Call(calls) => {
                    for call in calls {
                        self.call(key, attempt, call);
                    }
                }
                Next::Wait => return,
                Next::Load(missing) => self.load(&missing),
                Next::Report(outcome) => {
                    self.pipelines.remove(&key);
                    self.last_outcome = Some((key, attempt, (*outcome).clone()));
                    self.feed(Input::Ended { command: key, attempt, outcome: *outcome });
                    return;
                }
            }
        }
    }

    /// `noop` is done on the spot; every other tool waits for the script.
    fn call(&mut self, key: CommandKey, attempt: u16, call: TaskCall) {
        if &*call.kind == "noop" && call.delay_seconds == 0.0 {
            let data =
                call.config.get("result").or_else(|| call.config.get("message")).cloned().unwrap_or_default();
            if let Some((_, pipeline)) = self.pipelines.get_mut(&key) {
                pipeline.finished(&call, Report::success(data));
            }
            return;
        }
        self.say(words::call(&self.name_of(key), &call));
        self.calls.push((key, attempt, call));
    }

    /// The script says what a call came to.
    pub fn answer(&mut self, at: usize, report: Report) {
        let (key, _, call) = self.calls.remove(at);
        if let Some((_, pipeline)) = self.pipelines.get_mut(&key) {
            pipeline.finished(&call, report);
        }
        self.work(key);
    }

    /// The worker gives its place up instead of waiting out the delay before a call.
    pub fn park(&mut self, at: usize) {
        let (key, attempt, call) = self.calls.remove(at);
        if let Some((_, mut pipeline)) = self.pipelines.remove(&key) {
            let outcome = pipeline.suspend_for_delay(call.delay_seconds);
            self.feed(Input::Ended { command: key, attempt, outcome });
        }
    }

    pub fn fire(&mut self, timer: TimerKey) {
        if let Some(at) = self.timers.remove(&timer) {
            self.now = self.now.max(at);
        }
        self.feed(Input::TimerFired(timer));
    }

    pub fn start_child(&mut self) -> Option<(CommandKey, ExecutionId)> {
        let command = (!self.children.is_empty()).then(|| self.children.remove(0))?;
        let child = ExecutionId(self.next_child);
        self.next_child += 1;
        self.feed(Input::ChildStarted { command, child });
        Some((command, child))
    }

    /// Forgets the state and folds the log again: it must give the same run.
    pub fn replay(&self) -> Run {
        let mut run = Run::new();
        for event in &self.log {
            apply(&mut run, event);
        }
        run
    }

    pub fn name_of(&self, key: CommandKey) -> String {
        let step = self.run.visits.get(&key.visit).map(|visit| visit.step.to_string());
        let step = step.or_else(|| {
            self.log.iter().rev().find_map(|event| match &event.body {
                EventBody::StepEntered { step, visit, .. } if *visit == key.visit => Some(step.to_string()),
                _ => None,
            })
        });
        words::command(&step.unwrap_or_default(), key)
    }

    fn timer_name(&self, timer: TimerKey) -> String {
        match timer {
            TimerKey::Run => "run".to_owned(),
            TimerKey::Step(visit) => format!("step {}", self.name_of(CommandKey::whole(visit))),
            TimerKey::Wake(command) => format!("wake {}", self.name_of(command)),
        }
    }
}

fn put_aside(slot: &mut Slot, limit: usize, far: &mut BTreeMap<String, Value>, seq: u64) {
    let Slot::Inline(value) = slot else {
        return;
    };
    let bytes = value.json_size_up_to(limit);
    if bytes <= limit {
        return;
    }
    let extract = match value {
        Value::Map(map) => Value::map(
            map.iter()
                .filter(|(_, value)| value.json_size_up_to(32) <= 32)
                .map(|(key, value)| (key.clone(), value.clone())),
        ),
        _ => Value::Null,
    };
    let uri = format!("noetl://execution/7/result/{seq}/{bytes}");
    far.insert(uri.clone(), value.clone());
    *slot = Slot::Stored(Arc::new(StoredValue {
        uri,
        store: "kv".to_owned(),
        bytes: bytes as u64,
        sha256: None,
        media_type: "application/json".to_owned(),
        extract,
    }));
}
