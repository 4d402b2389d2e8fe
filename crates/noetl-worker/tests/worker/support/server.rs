//! The control plane: the engine over maps in memory.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use noetl_dsl::{Diagnostic, Options, Plan, check};
use noetl_engine::{Decision, Effect, Input, Run, StartRequest, Values, accept, advance, start};
use noetl_tools::Credential;
use noetl_types::{
    Command, CommandKey, ErrorKind, Event, EventBody, EventId, ExecutionId, ParentLink, RunStatus,
    StoredValue, TimerKey, Timestamp, ToolError, Value,
};
use noetl_worker::{
    Accepted, Assigned, AttemptId, CommandReport, ControlError, ControlPlane, LogChunk, Released, WorkerInfo,
};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::shelf::Shelf;

pub struct Server {
    state: Mutex<State>,
    shelf: Arc<Shelf>,
    /// Rings when there are commands.
    work: Notify,
    /// Rings when attempts are to stop.
    stops: Notify,
    /// Rings with every input that was worked in.
    moved: Notify,
    pub lease: Duration,
    /// The worker stores large values itself.
    pub worker_stores: bool,
    this: std::sync::Weak<Server>,
}

#[derive(Default)]
struct State {
    catalog: BTreeMap<String, Vec<Arc<Plan>>>,
    credentials: HashMap<String, Credential>,
    executions: BTreeMap<ExecutionId, Execution>,
    queue: VecDeque<Box<Command>>,
    held: HashMap<AttemptId, Arc<str>>,
    to_stop: Vec<AttemptId>,
    inputs: VecDeque<(ExecutionId, Input)>,
    logs: Vec<LogChunk>,
    workers: Vec<WorkerInfo>,
    released: Vec<Released>,
    reports: Vec<CommandReport>,
    renewals: usize,
    outages: usize,
    loads: usize,
    next_execution: i64,
}

struct Execution {
    run: Run,
    plan: Arc<Plan>,
    log: Vec<Event>,
    timers: HashMap<TimerKey, AbortHandle>,
}

fn now() -> Timestamp {
    Timestamp::default().after(SystemTime::now().duration_since(UNIX_EPOCH).expect("we live after 1970"))
}

impl Server {
    pub fn new(lease: Duration, worker_stores: bool) -> Arc<Server> {
        Arc::new_cyclic(|this| Server {
            state: Mutex::new(State { next_execution: 1000, ..State::default() }),
            shelf: Arc::default(),
            work: Notify::new(),
            stops: Notify::new(),
            moved: Notify::new(),
            lease,
            worker_stores,
            this: this.clone(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with the state in hand")
    }

    /// Adds a playbook; the newest of a path is the one that runs.
    pub fn register(&self, source: &str) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let checked = check(source, &Options::default());
        let plan = checked.plan.ok_or_else(|| checked.diagnostics.clone())?;
        self.state().catalog.entry(plan.path.to_string()).or_default().push(plan);
        Ok(checked.diagnostics)
    }

    pub fn add_credential(&self, name: &str, kind: &str, data: Value) {
        let credential = Credential { name: name.to_owned(), kind: kind.to_owned(), data };
        self.state().credentials.insert(name.to_owned(), credential);
    }

    pub fn start(&self, path: &str, payload: Value, version: Option<i64>) -> Result<ExecutionId, ToolError> {
        let mut state = self.state();
        let execution = begin(&mut state, path, payload, version, None)?;
        self.work_in(&mut state);
        Ok(execution)
    }

    pub fn feed(&self, execution: ExecutionId, input: Input) {
        let mut state = self.state();
        state.inputs.push_back((execution, input));
        self.work_in(&mut state);
    }

    /// False when the run is over.
    pub fn cancel(&self, execution: ExecutionId) -> bool {
        let over = self.run(execution).status.is_terminal();
        self.feed(execution, Input::Cancel { reason: "the test says so".into() });
        !over
    }

    pub fn run(&self, execution: ExecutionId) -> Run {
        self.state().executions[&execution].run.clone()
    }

    pub fn events(&self, execution: ExecutionId) -> Vec<Event> {
        self.state().executions[&execution].log.clone()
    }

    pub fn children(&self, parent: ExecutionId, path: &str) -> Vec<ExecutionId> {
        let of_parent = |run: &Run| run.started.parent.as_ref().is_some_and(|link| link.execution == parent);
        let state = self.state();
        let matching = state
            .executions
            .iter()
            .filter(|(_, known)| of_parent(&known.run) && &*known.run.started.path == path);
        matching.map(|(id, _)| *id).collect()
    }

    /// Waits until `ready` answers; it is asked again after everything that happens.
    pub async fn wait_for<T>(&self, mut ready: impl FnMut(&Server) -> Option<T>) -> T {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if let Some(found) = ready(self) {
                return found;
            }
            moved.await;
        }
    }

    pub async fn end_of(&self, execution: ExecutionId) -> RunStatus {
        self.wait_for(|server| Some(server.run(execution).status).filter(|status| status.is_terminal())).await
    }

    pub fn logs(&self) -> Vec<LogChunk> {
        self.state().logs.clone()
    }

    pub fn workers(&self) -> Vec<WorkerInfo> {
        self.state().workers.clone()
    }

    pub fn released(&self) -> Vec<Released> {
        self.state().released.clone()
    }

    /// Everything that was reported, in the order it came.
    pub fn reports(&self) -> Vec<CommandReport> {
        self.state().reports.clone()
    }

    pub fn held(&self) -> Vec<AttemptId> {
        self.state().held.keys().copied().collect()
    }

    pub fn renewals(&self) -> usize {
        self.state().renewals
    }

    /// How often a stored value was asked for.
    pub fn loads(&self) -> usize {
        self.state().loads
    }

    /// The next reports fail as if the network was down.
    pub fn fail_reports(&self, times: usize) {
        self.state().outages = times;
    }

    /// The worker is taken for dead: its attempt belongs to nobody any more. It hears of it with the next renewal.
    pub fn lose(&self, attempt: AttemptId) {
        self.state().held.remove(&attempt);
        self.feed(attempt.execution, Input::LeaseExpired { command: attempt.key, attempt: attempt.attempt });
    }

    pub fn stored(&self, stored: &StoredValue) -> Option<Value> {
        self.shelf.find(stored)
    }

    /// Works in all inputs that wait, and those that follow from them.
    fn work_in(&self, state: &mut State) {
        while let Some((id, input)) = state.inputs.pop_front() {
            let Some(execution) = state.executions.get_mut(&id) else {
                continue;
            };
            let effects = self.move_on(id, execution, input);
            for effect in effects {
                self.carry_out(state, id, effect);
            }
        }
        self.moved.notify_waiters();
    }

    fn move_on(&self, id: ExecutionId, execution: &mut Execution, input: Input) -> Vec<Effect> {
        let values: Arc<dyn Values> = self.shelf.clone();
        let Execution { run, plan, log, .. } = execution;
        let mut decision = accept(run, plan, input.clone(), now(), &values);
        while !decision.missing.is_empty() {
            self.shelve_loops(&decision.missing, log);
            decision = accept(run, plan, input.clone(), now(), &values);
        }
        let mut effects = Vec::new();
        loop {
            let mut record = |run: &Run, mut body: EventBody| {
                let step = body.step().cloned().unwrap_or_default();
                let select = plan.find_step(&step).map(|at| plan.steps[at].output.select.clone());
                for slot in body.slots_mut() {
                    self.shelf.put_aside(id, &step, slot, select.as_deref().unwrap_or_default());
                }
                let event = Event { id: EventId(run.seq as i64 + 1), seq: run.seq + 1, at: now(), body };
                log.push(event.clone());
                event
            };
            let (more, missing) = advance(run, plan, decision, now(), &values, &mut record);
            effects.extend(more);
            if missing.is_empty() {
                return effects;
            }
            self.shelve_loops(&missing, log);
            decision = Decision::default();
        }
    }

    fn shelve_loops(&self, missing: &[Arc<StoredValue>], log: &[Event]) {
        for stored in missing {
            assert_eq!(stored.store, "log", "only the results of loops are put together on demand");
            self.shelf.compose_loop(stored, log);
        }
    }

    fn carry_out(&self, state: &mut State, id: ExecutionId, effect: Effect) {
        match effect {
            Effect::Dispatch(command) => {
                state.queue.push_back(command);
                self.work.notify_one();
            }
            Effect::CancelCommand(key) => {
                let is_it = |execution: ExecutionId, other: CommandKey| execution == id && other == key;
                state.queue.retain(|command| !is_it(command.execution, command.key));
                let stopped: Vec<AttemptId> =
                    state.held.keys().filter(|held| is_it(held.execution, held.key)).copied().collect();
                state.held.retain(|held, _| !is_it(held.execution, held.key));
                state.to_stop.extend(stopped);
                self.stops.notify_one();
            }
            Effect::StartTimer { timer, at } => {
                let server = self.this.clone();
                let task = tokio::spawn(async move {
                    tokio::time::sleep(at.since(now())).await;
                    if let Some(server) = server.upgrade() {
                        server.feed(id, Input::TimerFired(timer));
                    }
                });
                let timers =
                    &mut state.executions.get_mut(&id).expect("the execution that has effects exists").timers;
                if let Some(before) = timers.insert(timer, task.abort_handle()) {
                    before.abort();
                }
            }
            Effect::CancelTimer(timer) => {
                let known =
                    state.executions.get_mut(&id).and_then(|execution| execution.timers.remove(&timer));
                if let Some(task) = known {
                    task.abort();
                }
            }
            Effect::StartChild { command, path, version, payload, parent, .. } => {
                let news = match begin(state, &path, payload, version, Some(parent)) {
                    Ok(child) => Input::ChildStarted { command, child },
                    Err(error) => Input::ChildRefused { command, error },
                };
                // The parent hears of the start before it can hear of the end.
                state.inputs.push_front((id, news));
            }
            Effect::CancelChild(child) => {
                state.inputs.push_back((child, Input::Cancel { reason: "the parent was stopped".into() }));
            }
            Effect::Ended(ended) => {
                if let Some(link) = ended.parent.filter(|link| !link.detached) {
                    let input = Input::ChildEnded {
                        command: link.command,
                        child: id,
                        status: ended.status,
                        report: ended.report,
                    };
                    state.inputs.push_back((link.execution, input));
                }
            }
        }
    }
}

/// Adds an execution and the input that starts it.
fn begin(
    state: &mut State,
    path: &str,
    payload: Value,
    version: Option<i64>,
    parent: Option<ParentLink>,
) -> Result<ExecutionId, ToolError> {
    let unknown = || ToolError::new(ErrorKind::NotFound, format!("there is no playbook '{path}'"));
    let versions = state.catalog.get(path).ok_or_else(unknown)?;
    let number = version.unwrap_or(versions.len() as i64);
    let plan = usize::try_from(number - 1).ok().and_then(|at| versions.get(at)).ok_or_else(unknown)?.clone();
    state.next_execution += 1;
    let execution = ExecutionId(state.next_execution);
    let request = StartRequest {
        execution,
        path: path.into(),
        version: number,
        catalog_id: 5,
        payload,
        parent,
        ..StartRequest::default()
    };
    let started = start(&plan, request, now())?;
    let entry = Execution { run: Run::new(), plan, log: Vec::new(), timers: HashMap::new() };
    state.executions.insert(execution, entry);
    state.inputs.push_back((execution, Input::Start(Box::new(started))));
    Ok(execution)
}

#[async_trait]
impl ControlPlane for Server {
    async fn register(&self, worker: &WorkerInfo) -> Result<(), ControlError> {
        self.state().workers.push(worker.clone());
        Ok(())
    }

    async fn deregister(&self, worker: &str) -> Result<(), ControlError> {
        self.state().workers.retain(|known| &*known.name != worker);
        Ok(())
    }

    async fn take(
        &self,
        worker: &str,
        _pools: &[Arc<str>],
        room: usize,
    ) -> Result<Option<Vec<Assigned>>, ControlError> {
        loop {
            let work = self.work.notified();
            {
                let mut state = self.state();
                let count = state.queue.len().min(room);
                if count > 0 {
                    let commands: Vec<Box<Command>> = state.queue.drain(..count).collect();
                    let assigned = commands.into_iter().map(|command| {
                        state.held.insert(AttemptId::of(&command), worker.into());
                        let plan = state.executions[&command.execution].plan.clone();
                        Assigned {
                            command: *command,
                            plan,
                            pool: "shared".into(),
                            lease: self.lease,
                            trace: None,
                        }
                    });
                    let assigned = assigned.collect();
                    self.moved.notify_waiters();
                    return Ok(Some(assigned));
                }
            }
            work.await;
        }
    }

    async fn report(&self, reports: Vec<CommandReport>) -> Result<Vec<Accepted>, ControlError> {
        let mut state = self.state();
        if state.outages > 0 {
            state.outages -= 1;
            return Err(ControlError::Unavailable { reason: "the test pulled the plug".to_owned() });
        }
        let mut accepted = Vec::new();
        for report in reports {
            state.reports.push(report.clone());
            let AttemptId { execution, key, attempt } = report.attempt;
            let holds = state.held.get(&report.attempt).is_some_and(|holder| *holder == report.worker);
            let open = holds && state.executions[&execution].run.is_open(key, attempt);
            accepted.push(if open { Accepted::Counted } else { Accepted::Ignored });
            if report.began_at.is_some() && holds {
                let worker = report.worker.clone();
                state.inputs.push_back((execution, Input::Began { command: key, attempt, worker }));
            }
            if let Some(outcome) = report.outcome {
                state.held.remove(&report.attempt);
                state.inputs.push_back((execution, Input::Ended { command: key, attempt, outcome }));
            }
            self.work_in(&mut state);
        }
        Ok(accepted)
    }

    async fn renew(&self, worker: &str, running: &[AttemptId]) -> Result<Vec<AttemptId>, ControlError> {
        let mut state = self.state();
        state.renewals += 1;
        let lost = |attempt: &AttemptId| state.held.get(attempt).is_none_or(|holder| &**holder != worker);
        let stop = running.iter().copied().filter(lost).collect();
        self.moved.notify_waiters();
        Ok(stop)
    }

    async fn wait_for_stops(&self, _worker: &str) -> Vec<AttemptId> {
        loop {
            let stops = self.stops.notified();
            let to_stop = std::mem::take(&mut self.state().to_stop);
            if !to_stop.is_empty() {
                return to_stop;
            }
            stops.await;
        }
    }

    async fn release(&self, _worker: &str, attempts: &[Released]) -> Result<(), ControlError> {
        let mut state = self.state();
        for released in attempts {
            state.released.push(*released);
            let attempt = released.attempt;
            state.held.remove(&attempt);
            let lost = Input::LeaseExpired { command: attempt.key, attempt: attempt.attempt };
            state.inputs.push_back((attempt.execution, lost));
        }
        self.work_in(&mut state);
        Ok(())
    }

    async fn load_value(&self, execution: ExecutionId, stored: &StoredValue) -> Result<Value, ControlError> {
        let mut state = self.state();
        state.loads += 1;
        if stored.store == "log" {
            self.shelf.compose_loop(stored, &state.executions[&execution].log);
        }
        self.shelf
            .find(stored)
            .ok_or_else(|| ControlError::Refused { reason: format!("there is no value {}", stored.uri) })
    }

    fn stores_values(&self) -> bool {
        self.worker_stores
    }

    async fn store_value(
        &self,
        execution: ExecutionId,
        name: &str,
        value: &Value,
    ) -> Result<StoredValue, ControlError> {
        Ok(self.shelf.put(execution, name, value, &[]))
    }

    async fn find_credential(
        &self,
        alias: &str,
        _execution: ExecutionId,
    ) -> Result<Option<Credential>, ControlError> {
        Ok(self.state().credentials.get(alias).cloned())
    }

    async fn append_logs(&self, chunks: Vec<LogChunk>) -> Result<(), ControlError> {
        self.state().logs.extend(chunks);
        self.moved.notify_waiters();
        Ok(())
    }
}
