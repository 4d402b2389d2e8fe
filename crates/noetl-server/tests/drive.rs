//! The drive loop over a store in memory, with a worker that does nothing but what it is told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use noetl_dsl::Plan;
use noetl_engine::pipeline::{Next, Pipeline};
use noetl_engine::{Input, NoValues, Values};
use noetl_server::catalog::Playbooks;
use noetl_server::clock::{Clock, ManualClock};
use noetl_server::drive::{
    AtOnce, Dispatched, Drive, DriveConfig, DriveError, ExecuteRequest, WorkQueue, load_run,
};
use noetl_server::ids::IdSource;
use noetl_server::tasks;
use noetl_store::{CommandFilter, Commands, CommitFault, Executions, MemoryStore};
use noetl_types::{Command, EventBody, ExecutionId, Outcome, Report, RunStatus, Slot, Timestamp, Value};
use tokio_util::sync::CancellationToken;

/// A server without HTTP, on a store that may be shared with others.
struct Server {
    drive: Drive,
    queue: WorkQueue,
    clock: Arc<ManualClock>,
}

/// What the interpreter makes of a command when every tool gives its `result` setting.
fn outcome(plan: &Arc<Plan>, command: Command) -> Outcome {
    let mut pipeline = Pipeline::new(plan.clone(), command, BTreeMap::new(), Arc::new(NoValues));
    loop {
        match pipeline.next(Timestamp::default()) {
            Next::Call(calls) => {
                for call in calls {
                    let data = call.config.get("result").cloned().unwrap_or_default();
                    pipeline.finished(&call, Report::success(data));
                }
            }
            Next::Report(outcome) => return *outcome,
            other => panic!("the worker can't go on: {other:?}"),
        }
    }
}

/// Does the steps of one sort of tool.
#[derive(Debug)]
struct Noops;

impl AtOnce for Noops {
    fn run(
        &self,
        command: &Command,
        plan: &Arc<Plan>,
        _pool: &str,
        _values: &Arc<dyn Values>,
        _now: Timestamp,
    ) -> Option<Outcome> {
        let tasks = &plan.steps[command.step_index as usize].tasks;
        tasks.iter().all(|task| &*task.kind == "noop").then(|| outcome(plan, command.clone()))
    }
}

impl Server {
    fn new(store: &MemoryStore, machine: u16, config: DriveConfig) -> Server {
        Server::with(WorkQueue::new("worker"), store, machine, config)
    }

    /// One that runs steps itself where they need no worker.
    fn that_does_it_at_once(store: &MemoryStore) -> Server {
        let queue = WorkQueue::new("worker").with_at_once(Arc::new(Noops));
        Server::with(queue, store, 1, DriveConfig::default())
    }

    fn with(queue: WorkQueue, store: &MemoryStore, machine: u16, config: DriveConfig) -> Server {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let time: Arc<dyn Clock> = clock.clone();
        let ids = Arc::new(IdSource::new(time.clone(), machine));
        let playbooks = Playbooks::new(Arc::new(store.clone()), ids.clone(), time.clone());
        let drive =
            Drive::spawn(config, Arc::new(store.clone()), playbooks, time, ids, Arc::new(queue.clone()));
        Server { drive, queue, clock }
    }

    async fn register(&self, workflow: &str) {
        let source = format!(
            "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: flow, path: flow}}\n{workflow}"
        );
        self.drive.playbooks().register(&source).await.expect("a valid playbook");
    }

    async fn start(&self) -> ExecutionId {
        self.drive.execute(ExecuteRequest::latest("flow", Value::Null)).await.expect("a start").execution
    }

    async fn take(&self) -> Dispatched {
        self.queue.queue.take(&["shared".into()], 1).await.remove(0)
    }

    /// What the interpreter makes of a command when every tool gives its `result` setting.
    fn outcome(dispatched: &Dispatched) -> Outcome {
        outcome(&dispatched.plan, dispatched.command.clone())
    }

    fn ended(dispatched: &Dispatched) -> Input {
        let command = &dispatched.command;
        Input::Ended { command: command.key, attempt: command.attempt, outcome: Server::outcome(dispatched) }
    }

    /// Works off commands until the run is over.
    async fn work_until_over(&self, execution: ExecutionId) -> RunStatus {
        loop {
            let found = self.drive.store().find_execution(execution).await.expect("a store");
            match found.map(|found| found.row.status) {
                Some(status) if status.is_terminal() => return status,
                _ => {}
            }
            let taken = tokio::time::timeout(Duration::from_secs(10), self.take()).await.expect("work to do");
            let _ = self.drive.input(taken.command.execution, Server::ended(&taken)).await;
        }
    }
}

const CHAIN: &str = "workflow:\n  - step: start\n    tool: {kind: noop, result: {n: 1}}\n    next: {arcs: [{step: end}]}\n  \
                     - step: end\n    tool: {kind: noop, result: {n: \"{{ start.n + 1 }}\"}}\n";

const LOOP: &str = "workflow:\n  - step: start\n    loop: {in: 50, iterator: i, spec: {mode: parallel, max_in_flight: 5}}\n    \
                    tool: {kind: noop, result: \"{{ i }}\"}\n";

#[tokio::test]
async fn a_run_goes_from_start_to_end_and_its_log_has_no_gap() {
    let store = MemoryStore::new();
    let server = Server::new(&store, 1, DriveConfig::default());
    server.register(CHAIN).await;
    let execution = server.start().await;
    assert_eq!(server.work_until_over(execution).await, RunStatus::Completed);
    let events = store.load_events(execution, 0, 1000).await.expect("events");
    assert!(events.iter().map(|event| event.seq).eq(1..=events.len() as u64));
    let (run, _) = load_run(&store, execution).await.expect("a store").expect("a run");
    assert_eq!(
        run.result().and_then(|slot| slot.as_inline()).map(Value::to_string).as_deref(),
        Some(r#"{"n":2}"#)
    );
}

/// What happened in a run, without the when.
async fn story(store: &MemoryStore, execution: ExecutionId) -> Vec<String> {
    let events = store.load_events(execution, 0, 10_000).await.expect("events");
    events
        .iter()
        .filter(|event| !matches!(event.body, EventBody::PlaybookStarted { .. }))
        .map(|event| format!("{:?}", event.body).replace(&execution.to_string(), "ID"))
        .collect()
}

#[tokio::test]
async fn what_needs_no_worker_is_done_in_the_commit_that_asks_for_it_and_leaves_the_same_log() {
    let (store, by_workers) = (MemoryStore::new(), MemoryStore::new());
    let (server, other) =
        (Server::that_does_it_at_once(&store), Server::new(&by_workers, 1, DriveConfig::default()));
    for server in [&server, &other] {
        server.register(CHAIN).await;
    }
    let mut progress = server.drive.watch();
    let applied = server.drive.execute(ExecuteRequest::latest("flow", Value::Null)).await.expect("a start");
    assert_eq!((applied.status, applied.commands), (RunStatus::Completed, 2));
    assert_eq!(progress.recv().await.expect("one commit").events.len() as u64, applied.seq);
    let open = store.list_open_commands(&CommandFilter::default(), 10).await.expect("a store");
    assert!(open.is_empty(), "{open:?}");

    let execution = other.start().await;
    while other
        .drive
        .store()
        .find_execution(execution)
        .await
        .expect("a store")
        .is_some_and(|run| !run.row.status.is_terminal())
    {
        let taken = other.take().await;
        let command = &taken.command;
        let began = Input::Began { command: command.key, attempt: command.attempt, worker: "worker".into() };
        other.drive.input(execution, began).await.expect("it began");
        other.drive.input(execution, Server::ended(&taken)).await.expect("it ended");
    }
    assert_eq!(story(&store, applied.execution).await, story(&by_workers, execution).await);
}

#[tokio::test]
async fn much_that_needs_no_worker_becomes_durable_in_pieces() {
    let store = MemoryStore::new();
    let server = Server::that_does_it_at_once(&store);
    server.register(&LOOP.replace("in: 50", "in: 2000")).await;
    let mut progress = server.drive.watch();
    let execution = server.start().await;
    assert_eq!(server.work_until_over(execution).await, RunStatus::Completed);
    let mut commits = 0;
    while let Ok(progress) = progress.try_recv() {
        commits += 1;
        assert!(progress.events.len() < 2000, "{} events in one commit", progress.events.len());
    }
    assert!(commits > 5, "{commits}");
}

#[tokio::test]
async fn what_was_done_at_once_is_done_again_when_its_commit_fails() {
    let store = MemoryStore::new();
    let server = Server::that_does_it_at_once(&store);
    server.register(CHAIN).await;
    store.fail_next_commit(CommitFault::BeforeApply);
    let request = || ExecuteRequest::latest("flow", Value::Null);
    let refused = server.drive.execute(request()).await;
    assert!(matches!(refused, Err(DriveError::Store(_))), "{refused:?}");
    let applied = server.drive.execute(request()).await.expect("the second try");
    assert_eq!(applied.status, RunStatus::Completed);
}

#[tokio::test]
async fn a_step_that_needs_a_worker_waits_for_one_beside_those_that_do_not() {
    let store = MemoryStore::new();
    let server = Server::that_does_it_at_once(&store);
    server
        .register(
            "workflow:\n  - step: start\n    tool: {kind: noop, result: 1}\n    next: {arcs: [{step: call}]}\n  \
             - step: call\n    tool: {kind: shell, command: date}\n    next: {arcs: [{step: end}]}\n  \
             - step: end\n    tool: {kind: noop, result: 2}\n",
        )
        .await;
    let execution = server.start().await;
    let taken = server.take().await;
    assert_eq!(&*taken.command.step, "call");
    let applied = server.drive.input(execution, Server::ended(&taken)).await.expect("it ended");
    assert_eq!(applied.status, RunStatus::Completed);
}

#[tokio::test]
async fn an_outcome_that_comes_twice_counts_once() {
    let store = MemoryStore::new();
    let server = Server::new(&store, 1, DriveConfig::default());
    server.register(LOOP).await;
    let execution = server.start().await;
    let taken = server.take().await;
    for _ in 0..3 {
        server.drive.input(execution, Server::ended(&taken)).await.expect("an answer");
    }
    assert_eq!(server.work_until_over(execution).await, RunStatus::Completed);
    let (run, _) = load_run(&store, execution).await.expect("a store").expect("a run");
    let result = run.result().and_then(|slot| slot.as_inline()).expect("a small result");
    assert_eq!(result.get("stats").and_then(|stats| stats.get("success")).and_then(Value::as_i64), Some(50));
}

#[tokio::test]
async fn two_servers_on_one_store_move_the_same_runs_without_losing_anything() {
    let store = MemoryStore::new();
    let config = DriveConfig { snapshot_every: 20, ..DriveConfig::default() };
    let (one, two) = (Server::new(&store, 1, config.clone()), Server::new(&store, 2, config));
    one.register(LOOP).await;
    let execution = one.start().await;
    // Each server gets every other outcome, so that each finds the run moved again and again.
    let mut turn = 0;
    loop {
        let over = store.find_execution(execution).await.expect("a store").expect("a run");
        if over.row.status.is_terminal() {
            assert_eq!(over.row.status, RunStatus::Completed);
            break;
        }
        let taken = tokio::select! {
            taken = one.take() => taken,
            taken = two.take() => taken,
        };
        let server = if turn % 2 == 0 { &one } else { &two };
        server.drive.input(execution, Server::ended(&taken)).await.expect("an answer");
        turn += 1;
    }
    assert_eq!(turn, 50);
}

#[tokio::test]
async fn a_commit_that_fails_is_answered_with_an_error_and_can_be_tried_again() {
    let store = MemoryStore::new();
    let server = Server::new(&store, 1, DriveConfig::default());
    server.register(CHAIN).await;
    let execution = server.start().await;
    let taken = server.take().await;
    store.fail_next_commit(CommitFault::BeforeApply);
    let answer = server.drive.input(execution, Server::ended(&taken)).await;
    assert!(matches!(answer, Err(DriveError::Store(_))), "{answer:?}");
    server.drive.input(execution, Server::ended(&taken)).await.expect("the second try");
    assert_eq!(server.work_until_over(execution).await, RunStatus::Completed);
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_counts_as_soon_as_the_store_says_that_it_has_it() {
    let store = MemoryStore::new();
    let server = Server::new(&store, 1, DriveConfig::default());
    server.register(CHAIN).await;
    let execution = server.start().await;
    let taken = server.take().await;
    store.fail_next_commit(CommitFault::AfterApply);
    let answer = server.drive.input(execution, Server::ended(&taken)).await.expect("it is stored");
    assert_eq!(answer.status, RunStatus::Running);
    // The next command is given out without anyone asking for it.
    assert_eq!(server.work_until_over(execution).await, RunStatus::Completed);
}

const CALLER: &str =
    "workflow:\n  - step: start\n    tool: {kind: playbook, path: lib/child, input: {n: 4}}\n";

const CHILD: &str = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: child, path: lib/child}\nworkflow:\n  \
                     - step: start\n    tool: {kind: noop, result: {double: \"{{ workload.n * 2 }}\"}}\n";

#[tokio::test(start_paused = true)]
async fn news_between_runs_are_sent_again_until_the_store_takes_them() {
    let store = MemoryStore::new();
    let server = Server::new(&store, 1, DriveConfig::default());
    server.drive.playbooks().register(CHILD).await.expect("a valid playbook");
    server.register(CALLER).await;
    let execution = server.start().await;
    let taken = server.take().await;
    // The commit of the parent is taken; that of the child's start fails twice.
    store.spare_next_commit();
    store.fail_next_commit(CommitFault::BeforeApply);
    store.fail_next_commit(CommitFault::BeforeApply);
    server.drive.input(execution, Server::ended(&taken)).await.expect("an answer");
    assert_eq!(server.work_until_over(execution).await, RunStatus::Completed);
}

#[tokio::test]
async fn a_server_whose_memory_of_a_run_is_old_does_not_turn_away_what_it_does_not_expect() {
    let store = MemoryStore::new();
    let one = Server::new(&store, 1, DriveConfig::default());
    let two = Server::new(&store, 2, DriveConfig::default());
    one.drive.playbooks().register(CHILD).await.expect("a valid playbook");
    one.register(CALLER).await;
    let execution = one.start().await;
    // The second server sees the run once and keeps it as it is now.
    let taken = one.take().await;
    let (command, attempt) = (taken.command.key, taken.command.attempt);
    let began = Input::Began { command, attempt, worker: "worker".into() };
    two.drive.input(execution, began).await.expect("an answer");
    one.drive.input(execution, Server::ended(&taken)).await.expect("an answer");
    // The child is worked on by the second server, which then tells the parent.
    let child = one.take().await;
    two.drive.input(child.command.execution, Server::ended(&child)).await.expect("an answer");
    let resumed = tokio::select! {
        resumed = one.take() => resumed,
        resumed = two.take() => resumed,
    };
    assert_eq!(resumed.command.execution, execution);
}

#[tokio::test]
async fn a_new_process_takes_up_what_the_one_before_left() {
    let store = MemoryStore::new();
    let server = Server::new(&store, 1, DriveConfig::default());
    server.register(LOOP).await;
    let execution = server.start().await;
    for _ in 0..7 {
        let taken = server.take().await;
        server.drive.input(execution, Server::ended(&taken)).await.expect("an answer");
    }
    drop(server);
    let server = Server::new(&store, 1, DriveConfig::default());
    // Ids carry the time, so that a later process makes others.
    server.clock.set(server.clock.now().after(Duration::from_secs(1)));
    assert_eq!(tasks::recover(&server.drive).await.expect("taken up"), 1);
    assert_eq!(server.work_until_over(execution).await, RunStatus::Completed);
    let done = store.load_events(execution, 0, 1000).await.expect("events");
    let outcomes = done.iter().filter(|event| event.body.type_name() == "call.done").count();
    assert_eq!(outcomes, 50, "each item once");
}

#[tokio::test]
async fn a_child_runs_and_its_parent_hears_of_it() {
    let store = MemoryStore::new();
    let server = Server::new(&store, 1, DriveConfig::default());
    server.drive.playbooks().register(CHILD).await.expect("a valid playbook");
    server.register(CALLER).await;
    let execution = server.start().await;
    assert_eq!(server.work_until_over(execution).await, RunStatus::Completed);
    let (run, _) = load_run(&store, execution).await.expect("a store").expect("a run");
    let result = run.result().and_then(|slot| slot.as_inline()).expect("a small result");
    assert_eq!(result.get("double").and_then(Value::as_i64), Some(8));
}

#[tokio::test]
async fn a_timer_fires_when_its_time_has_come() {
    let store = MemoryStore::new();
    let server = Server::new(&store, 1, DriveConfig::default());
    server
        .register("workflow:\n  - step: start\n    spec: {timeout: 60}\n    tool: {kind: http, url: \"http://x\"}\n")
        .await;
    let execution = server.start().await;
    let mut watch = server.drive.watch();
    let stop = CancellationToken::new();
    server.clock.set(Timestamp::from_millis(1_800_000_000_000).after(Duration::from_secs(61)));
    let timers = tokio::spawn(tasks::fire_timers(server.drive.clone(), stop.clone()));
    let mut over = false;
    while !over {
        let progress = watch.recv().await.expect("the drive loop runs");
        over = progress.events.iter().any(|event| event.body.type_name() == "playbook.failed");
    }
    stop.cancel();
    timers.await.expect("no panic");
    let found = store.find_execution(execution).await.expect("a store").expect("a run");
    assert!(found.row.error.is_some_and(|error| error.contains("timeout of 60 s")));
}

#[tokio::test]
async fn news_for_a_run_that_does_not_exist_is_refused() {
    let server = Server::new(&MemoryStore::new(), 1, DriveConfig::default());
    let answer = server.drive.input(ExecutionId(17), Input::Resume).await;
    assert!(matches!(answer, Err(DriveError::NotFound(ExecutionId(17)))), "{answer:?}");
}

#[tokio::test]
async fn fields_that_a_tool_selects_stay_visible_when_its_result_is_put_aside() {
    let store = MemoryStore::new();
    let server = Server::new(&store, 1, DriveConfig::default());
    let text = "x".repeat(70_000);
    server
        .register(&format!(
            "workflow:\n  - step: start\n    tool: {{kind: noop, result: {{meta: {{rows: 3}}, text: {text}}}, output_select: [meta]}}\n"
        ))
        .await;
    let execution = server.start().await;
    assert_eq!(server.work_until_over(execution).await, RunStatus::Completed);
    let (run, _) = load_run(&store, execution).await.expect("a store").expect("a run");
    let Some(Slot::Stored(stored)) = run.result() else {
        panic!("the result stays in its event: {:?}", run.result());
    };
    assert_eq!(stored.extract.get("meta").map(Value::to_string).as_deref(), Some(r#"{"rows":3}"#));
}
