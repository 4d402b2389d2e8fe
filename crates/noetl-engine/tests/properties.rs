//! Properties of every run, whatever happens to it: the log is the run, snapshots are as good as the log, the order of
//! independent outcomes does not matter, and a pipeline does not notice that it was suspended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use noetl_dsl::{Options, Plan, check};
use noetl_engine::pipeline::{Next, Pipeline, TaskCall};
use noetl_engine::{Effect, Input, NoValues, Run, StartRequest, Values, accept, advance, apply, start};
use noetl_types::{
    Assignment, Await, Command, CommandKey, ErrorKind, Event, EventBody, EventId, ExecutionId, Outcome,
    Report, Resolution, Resume, RunStatus, Slot, TimerKey, Timestamp, ToolError, Value,
};
use proptest::prelude::*;

const HEADER: &str = "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: property}\n";

fn plan(workflow: &str) -> Arc<Plan> {
    let checked = check(&format!("{HEADER}{workflow}"), &Options::default());
    checked.plan.unwrap_or_else(|| panic!("{workflow}\n{:?}", checked.diagnostics))
}

/// A call that a worker is making.
struct OpenCall {
    key: CommandKey,
    attempt: u16,
    call: TaskCall,
}

/// A run with workers that take commands at once and make calls until someone answers them.
struct Drive {
    plan: Arc<Plan>,
    run: Run,
    log: Vec<Event>,
    now: Timestamp,
    timers: BTreeMap<TimerKey, Timestamp>,
    pipelines: BTreeMap<CommandKey, (u16, Pipeline)>,
    calls: Vec<OpenCall>,
    children: Vec<CommandKey>,
    last_outcome: Option<Input>,
    first_command: Option<Command>,
}

impl Drive {
    fn new(plan: &Arc<Plan>) -> Drive {
        let mut drive = Drive {
            plan: plan.clone(),
            run: Run::new(),
            log: Vec::new(),
            now: Timestamp::from_millis(1_700_000_000_000),
            timers: BTreeMap::new(),
            pipelines: BTreeMap::new(),
            calls: Vec::new(),
            children: Vec::new(),
            last_outcome: None,
            first_command: None,
        };
        let request =
            StartRequest { execution: ExecutionId(7), path: plan.path.clone(), ..StartRequest::default() };
        let started = start(plan, request, drive.now).expect("the playbook starts");
        drive.feed(Input::Start(Box::new(started)));
        drive
    }

    fn values() -> Arc<dyn Values> {
        Arc::new(NoValues)
    }

    fn feed(&mut self, input: Input) {
        let values = Drive::values();
        let decision = accept(&self.run, &self.plan, input, self.now, &values);
        let (now, log) = (self.now, &mut self.log);
        let mut record = |run: &Run, body: EventBody| {
            let event = Event { id: EventId(run.seq as i64 + 1), seq: run.seq + 1, at: now, body };
            log.push(event.clone());
            event
        };
        let (effects, missing) = advance(&mut self.run, &self.plan, decision, now, &values, &mut record);
        assert!(missing.is_empty(), "nothing is stored aside here");
        for effect in effects {
            match effect {
                Effect::Dispatch(command) => self.take(*command),
                Effect::CancelCommand(key) => self.drop_job(key),
                Effect::StartTimer { timer, at } => {
                    self.timers.insert(timer, at);
                }
                Effect::CancelTimer(timer) => {
                    self.timers.remove(&timer);
                }
                Effect::StartChild { command, .. } => self.children.push(command),
                Effect::CancelChild(_) | Effect::Ended(_) => {}
            }
        }
    }

    fn drop_job(&mut self, key: CommandKey) {
        self.pipelines.remove(&key);
        self.calls.retain(|open| open.key != key);
    }

    fn take(&mut self, command: Command) {
        let (key, attempt) = (command.key, command.attempt);
        self.first_command.get_or_insert_with(|| command.clone());
        let pipeline = Pipeline::new(self.plan.clone(), command, BTreeMap::new(), Drive::values());
        self.pipelines.insert(key, (attempt, pipeline));
        self.go_on(key);
    }

    fn go_on(&mut self, key: CommandKey) {
        while let Some((attempt, pipeline)) = self.pipelines.get_mut(&key) {
            let attempt = *attempt;
            match pipeline.next(self.now) {
                Next::Call(calls) => {
                    self.calls.extend(calls.into_iter().map(|call| OpenCall { key, attempt, call }))
                }
                Next::Wait => return,
                Next::Load(_) => panic!("nothing is stored aside here"),
                Next::Report(outcome) => {
                    self.pipelines.remove(&key);
                    let input = Input::Ended { command: key, attempt, outcome: *outcome };
                    self.last_outcome = Some(input.clone());
                    self.feed(input);
                }
            }
        }
    }

    fn answer(&mut self, at: usize, report: Report) {
        let OpenCall { key, call, .. } = self.calls.remove(at);
        if let Some((_, pipeline)) = self.pipelines.get_mut(&key) {
            pipeline.finished(&call, report);
        }
        self.go_on(key);
    }

    /// Something happens, as two numbers say.
    fn happen(&mut self, what: u8, which: u8) {
        let which = usize::from(which);
        let call = |drive: &Drive| (!drive.calls.is_empty()).then(|| which % drive.calls.len());
        match what % 12 {
            0..=4 => {
                if let Some(at) = call(self) {
                    self.answer(at, Report::success(Value::map([("v", Value::from(which % 5))])));
                }
            }
            5 => {
                if let Some(at) = call(self) {
                    self.answer(at, Report::failure(ToolError::new(ErrorKind::Connection, "no answer")));
                }
            }
            6 => {
                if let Some(at) = call(self) {
                    let (key, attempt) = (self.calls[at].key, self.calls[at].attempt);
                    self.drop_job(key);
                    self.feed(Input::LeaseExpired { command: key, attempt });
                }
            }
            7 => {
                if let Some((&timer, &at)) = self.timers.iter().nth(which % self.timers.len().max(1)) {
                    self.timers.remove(&timer);
                    self.now = self.now.max(at);
                    self.feed(Input::TimerFired(timer));
                }
            }
            8 => self.feed(Input::Signal { name: "go".into(), payload: Value::from(which).into() }),
            9 => {
                let input =
                    if which % 2 == 0 { Input::Pause { reason: "asked for".into() } } else { Input::Resume };
                self.feed(input);
            }
            10 => {
                if let Some(input) = self.last_outcome.clone() {
                    self.feed(input);
                }
            }
            _ => {
                if let Some(command) = self.children.pop() {
                    let child = ExecutionId(100 + which as i64);
                    self.feed(Input::ChildStarted { command, child });
                    let report = Report::success(Value::from(which));
                    self.feed(Input::ChildEnded { command, child, status: RunStatus::Completed, report });
                }
            }
        }
    }

    /// What the run came to, without the times and numbers of its visits.
    fn ending(&self) -> (RunStatus, BTreeMap<Arc<str>, Slot>, Vec<String>, Option<Slot>) {
        let steps = self.run.steps.iter();
        let steps = steps
            .map(|(name, record)| format!("{name} {} {} {:?}", record.status, record.runs, record.result));
        (self.run.status, (*self.run.ctx).clone(), steps.collect(), self.run.result().cloned())
    }
}

/// Playbooks that together use most of what the engine does.
const EVENTFUL: [&str; 4] = [
    r#"
workflow:
  - step: start
    next: {spec: {mode: inclusive}, arcs: [{step: a}, {step: b, set: {ctx.way: b}}, {step: c, when: "{{ ctx.way }}"}]}
  - {step: a, tool: {kind: python, code: "x"}, set: {ctx.a: "{{ output.data.v }}"}, next: {arcs: [{step: join}]}}
  - step: b
    tool:
      - {name: one, kind: http, url: "http://service.test", spec: {policy: {rules: [{when: "{{ output.status == 'error' }}", then: {do: retry, attempts: 3}}]}}}
      - {name: two, kind: wait, signal: go, timeout_seconds: 30}
    next: {arcs: [{step: failed, when: "{{ event.name == 'step.failed' }}"}, {step: join}]}
  - {step: c, tool: {kind: noop}, next: {arcs: [{step: join}]}}
  - {step: failed, tool: {kind: noop}}
  - step: join
    tool: {kind: python, code: "x"}
    set: {ctx.rounds: "{{ (ctx.rounds | default(0)) + 1 }}"}
    next: {arcs: [{step: a, when: "{{ ctx.rounds < 3 }}"}]}
"#,
    r#"
workflow:
  - step: start
    loop: {in: [10, 20, 30, 40, 50], iterator: each, spec: {mode: parallel, max_in_flight: 2, policy: {on_error: continue}}}
    tool: {kind: python, input: {n: "{{ iter.each }}"}, code: "x", set: {ctx.last: "{{ output.data.v }}"}}
    spec: {timeout: 60, max_attempts: 2}
    next: {arcs: [{step: rows, when: "{{ event.name == 'loop.done' }}"}]}
  - step: rows
    loop: {in: 3, iterator: row}
    tool: {kind: playbook, path: other, input: {row: "{{ iter.row }}"}}
"#,
    r#"
executor: {spec: {final_step: last, timeout: 500}}
workflow:
  - step: start
    tool:
      - {name: first, kind: shell, cmds: ["true"], set: {iter.seen: "{{ output.data.v }}"}}
      - name: parts
        kind: python
        code: "x"
        loop: {in: "{{ [1, 2, 3] }}", iterator: part, spec: {mode: parallel, max_in_flight: 2, policy: {on_error: continue}}}
    when: "{{ workload.off is not defined }}"
    next: {arcs: [{step: start, when: "{{ (ctx.again | default(0)) < 1 }}", set: {ctx.again: 1}}, {step: end}]}
  - {step: last, tool: {kind: python, code: "x"}}
"#,
    r#"
workload: {rows: 3}
workflow:
  - step: start
    loop:
      cursor: {kind: postgres, auth: db, claim: "claim {{ __frame_max_rows }}"}
      iterator: row
      spec: {mode: cursor, max_in_flight: 2, frame: {max_rows: 2, row_concurrency: 2}}
    tool: {kind: python, code: "x"}
    next: {arcs: [{step: wait, when: "{{ event.name == 'loop.done' }}"}]}
  - {step: wait, tool: {kind: wait, seconds: 5}}
"#,
];

fn through_json<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("it is JSON");
    serde_json::from_str(&text).expect("it can be read back")
}

fn eventful() -> impl Strategy<Value = (usize, Vec<(u8, u8)>)> {
    (0..EVENTFUL.len(), prop::collection::vec(any::<(u8, u8)>(), 0..60))
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn folding_the_log_gives_the_live_run((playbook, happenings) in eventful()) {
        let mut drive = Drive::new(&plan(EVENTFUL[playbook]));
        for (what, which) in happenings {
            drive.happen(what, which);
            let mut replayed = Run::new();
            for event in &drive.log {
                apply(&mut replayed, &through_json(event));
            }
            prop_assert_eq!(&replayed, &drive.run);
        }
    }

    #[test]
    fn a_snapshot_anywhere_with_the_events_after_it_gives_the_live_run((playbook, happenings) in eventful()) {
        let mut drive = Drive::new(&plan(EVENTFUL[playbook]));
        for (what, which) in happenings {
            drive.happen(what, which);
        }
        let mut run = Run::new();
        for event in &drive.log {
            let back = through_json(&run);
            prop_assert_eq!(&back, &run, "the state at {} changes when it is stored", run.seq);
            run = back;
            apply(&mut run, event);
        }
        prop_assert_eq!(&run, &drive.run);
    }

    #[test]
    fn branches_may_end_in_any_order(
        order in (2usize..7).prop_flat_map(|count| Just((0..count).collect::<Vec<_>>()).prop_shuffle()),
        failing in prop::collection::btree_set(0usize..7, 0..3),
    ) {
        let plan = plan(&fan_out(order.len()));
        let in_order: Vec<usize> = (0..order.len()).collect();
        prop_assert_eq!(end_branches(&plan, &order, &failing), end_branches(&plan, &in_order, &failing));
    }

    #[test]
    fn items_may_end_in_any_order(
        count in 1usize..12,
        limit in 1usize..5,
        picks in prop::collection::vec(any::<u8>(), 12),
        failing in prop::collection::btree_set(0usize..12, 0..4),
        on_error in prop::sample::select(vec!["continue", "report", "{threshold: 0.9}"]),
    ) {
        let workflow = format!(
            "workflow:\n\
             - step: start\n  \
               loop: {{in: {count}, iterator: each, spec: {{mode: parallel, max_in_flight: {limit}, policy: {{on_error: {on_error}}}}}}}\n  \
               tool: {{kind: python, code: x, input: {{n: '{{{{ iter.each }}}}'}}}}\n  \
               set: {{ctx.results: '{{{{ output.data.results }}}}', ctx.stats: '{{{{ output.data.stats }}}}'}}\n"
        );
        let plan = plan(&workflow);
        let first = end_items(&plan, limit, &failing, |_, _| 0);
        let other = end_items(&plan, limit, &failing, |turn, open| usize::from(picks[turn % picks.len()]) % open);
        prop_assert_eq!(first, other);
    }

    #[test]
    fn a_pipeline_does_not_notice_that_it_was_suspended(
        tasks in prop::collection::vec(task(), 1..5),
        fails in any::<u64>(),
        suspended in any::<u64>(),
    ) {
        let plan = plan(&pipeline_of(&tasks));
        let straight = run_pipeline(&plan, fails, 0);
        let interrupted = run_pipeline(&plan, fails, suspended);
        prop_assert_eq!(straight, interrupted);
    }
}

/// A step that leads to all branches, and a join of them that gives what they gave.
fn fan_out(count: usize) -> String {
    let arcs: Vec<String> = (0..count).map(|at| format!("{{step: b{at}}}")).collect();
    let mut workflow = format!(
        "workflow:\n- step: start\n  next: {{spec: {{mode: inclusive}}, arcs: [{}]}}\n",
        arcs.join(", ")
    );
    for at in 0..count {
        workflow.push_str(&format!(
            "- step: b{at}\n  tool: {{kind: python, code: x}}\n  set: {{ctx.b{at}: '{{{{ output.data.v }}}}'}}\n  \
             next: {{arcs: [{{step: join, when: \"{{{{ event.name == 'step.failed' }}}}\", set: {{ctx.failed{at}: true}}}}, {{step: join}}]}}\n"
        ));
    }
    workflow.push_str("- step: join\n  tool: {kind: noop, result: '{{ ctx }}'}\n");
    workflow
}

type Ending = (RunStatus, BTreeMap<Arc<str>, Slot>, Vec<String>, Option<Slot>);

fn end_branches(plan: &Arc<Plan>, order: &[usize], failing: &BTreeSet<usize>) -> Ending {
    let mut drive = Drive::new(plan);
    for &branch in order {
        let name = format!("b{branch}_task");
        let at =
            drive.calls.iter().position(|open| *open.call.label == *name).expect("the branch is under way");
        let report = if failing.contains(&branch) {
            Report::failure(ToolError::new(ErrorKind::Timeout, "too slow"))
        } else {
            Report::success(Value::map([("v", Value::from(branch * 10))]))
        };
        drive.answer(at, report);
    }
    while !drive.calls.is_empty() {
        let result = drive.calls[0].call.config.get("result").cloned().unwrap_or_default();
        drive.answer(0, Report::success(sorted(&result)));
    }
    assert!(drive.run.status.is_terminal(), "all branches have ended");
    drive.ending()
}

/// A map with its keys in order: the order in which branches set theirs is no part of the promise.
fn sorted(value: &Value) -> Value {
    let mut keys: Vec<_> = value.as_map().into_iter().flatten().collect();
    keys.sort_by(|left, right| left.0.cmp(right.0));
    Value::map(keys.into_iter().map(|(key, value)| (key.clone(), value.clone())))
}

fn end_items(
    plan: &Arc<Plan>,
    limit: usize,
    failing: &BTreeSet<usize>,
    mut pick: impl FnMut(usize, usize) -> usize,
) -> Ending {
    let mut drive = Drive::new(plan);
    let mut turn = 0;
    while !drive.calls.is_empty() {
        assert!(drive.calls.len() <= limit, "{} items are under way", drive.calls.len());
        let at = pick(turn, drive.calls.len());
        turn += 1;
        let item =
            drive.calls[at].call.input.get("n").and_then(Value::as_i64).expect("the item is in the input");
        let report = if failing.contains(&(item as usize)) {
            Report::failure(ToolError::new(ErrorKind::ServerError, "not now"))
        } else {
            Report::success(Value::map([("n", Value::from(item))]))
        };
        drive.answer(at, report);
    }
    assert!(drive.run.status.is_terminal(), "all items have ended");
    let (status, ctx, mut steps, result) = drive.ending();
    // Which failure came first is told in the message, and depends on the order.
    steps.clear();
    (status, ctx, steps, result)
}

/// A task of a pipeline: how often it is tried, after what delay, and how many items its own loop has.
#[derive(Clone, Debug)]
struct TaskShape {
    attempts: u32,
    delay: u32,
    items: Option<u32>,
    in_flight: u32,
    goes_on: bool,
}

fn task() -> impl Strategy<Value = TaskShape> {
    (1u32..4, 0u32..3, prop::option::of(0u32..4), 1u32..3, any::<bool>()).prop_map(
        |(attempts, delay, items, in_flight, goes_on)| TaskShape {
            attempts,
            delay,
            items,
            in_flight,
            goes_on,
        },
    )
}

fn pipeline_of(tasks: &[TaskShape]) -> String {
    let mut workflow = "workflow:\n- step: start\n  tool:\n".to_owned();
    for (at, task) in tasks.iter().enumerate() {
        workflow.push_str(&format!("  - name: t{at}\n    kind: python\n    code: x\n"));
        workflow.push_str(
            "    input: {before: '{{ _prev }}', seen: '{{ iter.seen }}', attempt: '{{ _attempt }}'}\n",
        );
        workflow.push_str(&format!(
            "    set: {{ctx.t{at}: '{{{{ output.data.v }}}}', iter.seen: '{{{{ output.data.v }}}}', step.kept: {at}}}\n"
        ));
        if let Some(items) = task.items {
            workflow.push_str(&format!(
                "    loop: {{in: {items}, iterator: part, spec: {{mode: parallel, max_in_flight: {}, policy: {{on_error: continue}}}}}}\n",
                task.in_flight
            ));
        }
        workflow.push_str(&format!(
            "    spec:\n      policy:\n        rules:\n        - when: \"{{{{ output.status == 'error' and _attempt < {} }}}}\"\n          \
             then: {{do: retry, attempts: {}, backoff: linear, delay: {}, set: {{ctx.retried: '{{{{ _attempt }}}}'}}}}\n",
            task.attempts, task.attempts, task.delay
        ));
        if task.goes_on {
            workflow.push_str(
                "        - when: \"{{ output.status == 'error' }}\"\n          then: {do: continue}\n",
            );
        }
    }
    workflow
}

/// What a pipeline comes to, with everything it set on the way, when it is suspended at the calls that the bits say.
fn run_pipeline(plan: &Arc<Plan>, fails: u64, suspended: u64) -> (Outcome, Vec<Assignment>) {
    let drive = Drive::new(plan);
    let mut command = drive.first_command.expect("the step was begun");
    let mut sets = Vec::new();
    let mut turn = 0;
    'part: loop {
        let mut pipeline = Pipeline::new(plan.clone(), command.clone(), BTreeMap::new(), Drive::values());
        let mut calls: Vec<TaskCall> = Vec::new();
        let mut just_resumed = command.resume.is_some();
        loop {
            match pipeline.next(drive.now) {
                Next::Call(further) => calls.extend(further),
                Next::Wait => {}
                Next::Load(_) => panic!("nothing is stored aside here"),
                Next::Report(outcome) => {
                    let Outcome::Finished { report, sets: last, attempts, decisions } = *outcome else {
                        panic!("nothing in the pipeline waits");
                    };
                    sets.extend(last);
                    return (Outcome::Finished { report, sets: Vec::new(), attempts, decisions }, sets);
                }
            }
            if calls.is_empty() {
                continue;
            }
            turn += 1;
            let wanted = suspended >> (turn % 64) & 1 == 1;
            if wanted && calls.len() == 1 && !std::mem::take(&mut just_resumed) {
                let Outcome::Suspended { pipeline, on, sets: so_far } = pipeline.suspend_for_delay(1.0)
                else {
                    panic!("it was to be suspended");
                };
                assert_eq!(on, Await::Sleep { seconds: 1.0 });
                sets.extend(so_far);
                let resume = Resume { pipeline, with: Resolution::Elapsed };
                command = through_json(&Command { resume: Some(resume), ..command });
                continue 'part;
            }
            let call = calls.remove(0);
            pipeline.finished(&call, answer_of(&call, fails));
        }
    }
}

/// The same call always has the same answer.
fn answer_of(call: &TaskCall, fails: u64) -> Report {
    let place = call.task as u64 * 31 + u64::from(call.item) * 7 + u64::from(call.attempt) * 3;
    let mut report = if fails >> (place % 64) & 1 == 1 {
        Report::failure(ToolError::new(ErrorKind::Connection, format!("{} gave up", call.label)))
    } else {
        let seen = call.input.get("seen").cloned().unwrap_or_default();
        Report::success(Value::map([("v", Value::from(place)), ("seen", seen)]))
    };
    report.duration_ms = place as f64 / 3.0;
    report
}

#[test]
fn steps_that_lead_round_in_a_circle_come_to_rest_at_a_worker() {
    let plan = plan(
        "workflow:\n  - step: start\n    tool: {kind: noop}\n    next: {arcs: [{step: again}]}\n  \
         - step: again\n    tool: {kind: noop}\n    next: {arcs: [{step: start}]}\n",
    );

    let drive = Drive::new(&plan);

    assert_eq!((drive.run.status, drive.calls.len()), (RunStatus::Running, 1));
    assert!(drive.log.len() < 20_000, "{} events", drive.log.len());
}
