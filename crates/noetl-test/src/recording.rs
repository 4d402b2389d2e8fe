//! What the tools of an earlier execution gave, taken from its events and written as mocks.
//!
//! Events tell what a step came to, and for a pipeline what each task last came to. Of attempts that were followed by another
//! one they tell nothing, so a recording gives what counted in the end.

use std::sync::Arc;

use indexmap::IndexMap;
use noetl_dsl::Plan;
use noetl_dsl::plan::{Step, Task};
use noetl_types::{
    CommandKey, Event, EventBody, Item, Map, Outcome, Report, RunStatus, Slot, Started, Timestamp, ToolError,
    Value,
};

use crate::address::{CLAIM, target};
use crate::judge::word;

/// An execution as mocks, and what it came to.
#[derive(Clone, Debug)]
pub struct Recording {
    started: Started,
    clock: Timestamp,
    /// Answers by the name of the task, and the item of its loop.
    answers: IndexMap<(String, Option<u32>), Vec<Value>>,
    signals: Vec<Value>,
    status: RunStatus,
    result: Option<Value>,
    steps: Vec<Value>,
    arcs: Vec<Value>,
}

impl Recording {
    /// Of the events of a run. Values that were stored aside must be back in them.
    pub fn of(plan: &Plan, events: &[Event]) -> Recording {
        let mut recording = Recording {
            started: Started::default(),
            clock: events.first().map(|event| event.at).unwrap_or_default(),
            answers: IndexMap::new(),
            signals: Vec::new(),
            status: RunStatus::Running,
            result: None,
            steps: Vec::new(),
            arcs: Vec::new(),
        };
        let mut results: IndexMap<Arc<str>, Value> = IndexMap::new();
        for event in events {
            recording.add(plan, &event.body, &mut results);
        }
        recording
    }

    fn add(&mut self, plan: &Plan, event: &EventBody, results: &mut IndexMap<Arc<str>, Value>) {
        match event {
            EventBody::PlaybookStarted(started) => self.started = started.clone(),
            EventBody::StepEntered { step, .. } => self.steps.push(Value::Text(step.clone())),
            EventBody::CallDone {
                command,
                step,
                outcome: Outcome::Finished { report, attempts, .. },
                ..
            }
            | EventBody::CallFailed {
                command,
                step,
                outcome: Outcome::Finished { report, attempts, .. },
                ..
            } => {
                if let Some(at) = plan.find_step(step) {
                    self.answer(&plan.steps[at], *command, report, *attempts);
                }
                results.insert(step.clone(), data_of(report));
            }
            EventBody::StepExited { step, taken, result, .. } => {
                if let Some(Slot::Inline(result)) = result {
                    results.insert(step.clone(), result.clone());
                }
                self.follow(plan, step, taken);
            }
            EventBody::StepSkipped { step, taken, .. } => self.follow(plan, step, taken),
            EventBody::SignalReceived { name, payload } => {
                let payload = payload.as_inline().cloned().unwrap_or_default();
                self.signals.push(Value::map([("name", Value::Text(name.clone())), ("payload", payload)]));
            }
            EventBody::PlaybookCompleted { from } => {
                self.status = RunStatus::Completed;
                self.result = from.as_ref().and_then(|from| results.get(from)).cloned();
            }
            EventBody::PlaybookFailed { .. } => self.status = RunStatus::Failed,
            EventBody::PlaybookCancelled { .. } => self.status = RunStatus::Cancelled,
            _ => {}
        }
    }

    fn follow(&mut self, plan: &Plan, step: &str, taken: &[noetl_types::TakenArc]) {
        let arcs = plan.find_step(step).map(|at| &plan.steps[at].router.arcs);
        for arc in taken.iter().filter_map(|taken| arcs?.get(taken.arc as usize)) {
            let text = Value::text(format!("{step} -> {}", target(plan, arc.target)));
            if !self.arcs.contains(&text) {
                self.arcs.push(text);
            }
        }
    }

    fn answer(&mut self, step: &Step, command: CommandKey, report: &Report, attempts: u32) {
        let item = match command.item {
            Item::Whole => None,
            Item::At(index) => Some(index),
            Item::Claim(_) => {
                self.put(format!("{}.{CLAIM}", step.name), None, answer_of(report, data_of(report)));
                return;
            }
        };
        if step.single {
            let task = &step.tasks[0];
            if !is_mocked(task) || task.looping.is_some() {
                return;
            }
            // A call that failed in the end failed each time that it was tried.
            let times = if report.is_error() { attempts.max(1) } else { 1 };
            for _ in 0..times {
                self.put(step.name.to_string(), item, answer_of(report, data_of(report)));
            }
            return;
        }
        let data = data_of(report);
        let failed = data.get("failed_task").and_then(Value::as_str);
        for task in step.tasks.iter().filter(|task| is_mocked(task)) {
            let name = format!("{}.{}", step.name, task.label);
            let result = data.get("results").and_then(|results| results.get(&task.label));
            match result {
                Some(_) if failed == Some(&*task.label) => {
                    self.put(name, item, answer_of(report, Value::Null));
                }
                Some(result) if task.looping.is_some() => {
                    let results = result.get("results").and_then(Value::as_list);
                    for (index, result) in results.into_iter().flatten().enumerate() {
                        self.put(name.clone(), Some(index as u32), answer_of_result(result));
                    }
                }
                Some(result) => self.put(name, item, answer_of_result(result)),
                None => {}
            }
        }
    }

    fn put(&mut self, name: String, item: Option<u32>, answer: Value) {
        self.answers.entry((name, item)).or_default().push(answer);
    }

    /// What a case takes from it with `recorded`.
    pub fn to_value(&self) -> Value {
        let mut map = self.head();
        map.shift_insert(0, "execution".into(), Value::text(self.started.execution.to_string()));
        map.shift_insert(1, "path".into(), Value::Text(self.started.path.clone()));
        map.into()
    }

    /// A whole test file: the execution as a case, which expects what the execution came to.
    pub fn to_test(&self) -> Value {
        let mut case = self.head();
        case.shift_insert(
            0,
            "name".into(),
            Value::text(format!("as in execution {}", self.started.execution)),
        );
        let mut expect = Map::new();
        expect.insert("status".into(), word(self.status).into());
        if let Some(result) = &self.result {
            expect.insert("result".into(), result.clone());
        }
        expect.insert("steps".into(), self.steps.clone().into());
        if !self.arcs.is_empty() {
            expect.insert("arcs".into(), self.arcs.clone().into());
        }
        case.insert("expect".into(), expect.into());
        Value::map([("cases", Value::list([case.into()]))])
    }

    fn head(&self) -> Map {
        let mut map = Map::new();
        map.insert("clock".into(), Value::text(self.clock.to_string()));
        let payload = self.started.payload.clone().unwrap_or_else(|| self.started.workload.clone());
        map.insert("payload".into(), payload);
        let mut mocks: IndexMap<&str, Vec<Value>> = IndexMap::new();
        for ((name, item), answers) in &self.answers {
            mocks.entry(name).or_default().push(mock(*item, answers));
        }
        let mocks = mocks.into_iter().map(|(name, mut mocks)| match mocks.len() {
            1 => (name, mocks.remove(0)),
            _ => (name, mocks.into()),
        });
        map.insert("mocks".into(), Value::map(mocks));
        if !self.signals.is_empty() {
            map.insert("signals".into(), self.signals.clone().into());
        }
        map
    }
}

/// Whether the calls of a task are mocked: it reaches the world, or calls another playbook.
fn is_mocked(task: &Task) -> bool {
    !matches!(&*task.kind, "noop" | "wait")
}

fn mock(item: Option<u32>, answers: &[Value]) -> Value {
    let mut map = Map::new();
    if let Some(item) = item {
        map.insert("item".into(), item.into());
    }
    match answers {
        // The same answer each time needs to be written but once.
        [first, rest @ ..] if rest.iter().all(|answer| answer == first) => {
            map.extend(first.as_map().cloned().unwrap_or_default());
        }
        several => {
            map.insert("sequence".into(), Value::list(several.iter().cloned()));
        }
    }
    map.into()
}

fn data_of(report: &Report) -> Value {
    report.data.as_inline().cloned().unwrap_or_default()
}

fn answer_of(report: &Report, data: Value) -> Value {
    let mut answer = Map::new();
    match &report.error {
        None => answer.insert("value".into(), data),
        Some(error) => answer.insert("error".into(), error_of(error, data)),
    };
    if report.facets.as_map().is_some_and(|facets| !facets.is_empty()) {
        answer.insert("facets".into(), report.facets.clone());
    }
    answer.into()
}

/// What a task of a pipeline, or an item of its loop, came to. An error that a rule let pass is noted as data.
fn answer_of_result(result: &Value) -> Value {
    let noted = result.get("error").filter(|_| result.get("status").and_then(Value::as_str) == Some("error"));
    match noted.and_then(|error| serde_json::from_value::<ToolError>(error.to_json()).ok()) {
        Some(error) => {
            let data = result.get("data").cloned().unwrap_or_default();
            Value::map([("error", error_of(&error, data))])
        }
        None => Value::map([("value", result.clone())]),
    }
}

fn error_of(error: &ToolError, data: Value) -> Value {
    let mut map = Map::new();
    map.insert("kind".into(), error.kind.as_str().into());
    map.insert("message".into(), error.message.as_str().into());
    if let Some(code) = &error.code {
        map.insert("code".into(), code.as_str().into());
    }
    if error.retryable != error.kind.is_retryable() {
        map.insert("retryable".into(), error.retryable.into());
    }
    if error.details.as_map().is_some_and(|details| !details.is_empty()) {
        map.insert("details".into(), error.details.clone());
    }
    if !data.is_null() {
        map.insert("data".into(), data);
    }
    map.into()
}

#[cfg(test)]
mod tests {
    use noetl_dsl::{Options, check};

    use super::*;
    use crate::{Playbook, Playbooks, RealCall, RealTools, judge, read, to_yaml, world};

    /// Only `noop` is called for real.
    struct Noop;

    impl RealTools for Noop {
        fn call(&self, call: RealCall<'_>) -> Report {
            Report::success(call.task.config.get("result").cloned().unwrap_or_default())
        }
    }

    const FLOW: &str = r#"
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: flow, path: flow}
workload: {n: 2}
workflow:
  - step: start
    loop: {in: [a, b], iterator: letter}
    tool: {kind: python, input: {letter: '{{ iter.letter }}'}, code: pass}
    next: {arcs: [{step: both}]}
  - step: both
    tool:
      - {name: read, kind: http, url: 'http://example.org/'}
      - {name: shape, kind: noop, result: '{{ read.n }}'}
    next: {arcs: [{step: ask}]}
  - step: ask
    tool: {kind: wait, signal: go}
    next: {arcs: [{step: again}]}
  - step: again
    tool: {kind: shell, command: 'date'}
    next:
      arcs:
        - {step: again, when: '{{ again.n < 3 }}'}
        - {step: flaky}
  - step: flaky
    tool:
      kind: http
      url: http://example.org/
      spec: {policy: {rules: [{when: '{{ output.error }}', then: {do: retry, attempts: 3, backoff: fixed, delay: 1}}]}}
    next: {arcs: [{step: end, when: "{{ event.name == 'step.failed' }}"}]}
  - step: end
    tool: {kind: noop, result: {n: '{{ again.n }}', read: '{{ both.read.n }}', letters: '{{ start.results }}'}}
"#;

    const ORIGINAL: &str = "
cases:
  - name: original
    payload: {n: 3}
    mocks:
      start: {render: {is: '{{ input.letter }}'}}
      both.read: {value: {n: 7}}
      again: {sequence: [{value: {n: 1}}, {value: {n: 3}}]}
      flaky: {http: {status: 503}}
    signals: {go: {by: Ada}}
";

    fn playbooks() -> Playbooks {
        let plan = check(FLOW, &Options::default()).plan.expect("a valid playbook");
        Playbooks::new(Playbook { plan, file: "flow.yaml".into() }, [])
    }

    /// The events of the original.
    fn events(playbooks: &Playbooks) -> Vec<Event> {
        let reading = read(ORIGINAL, playbooks, &mut |_| Err(String::new()));
        let suite = reading.suite.unwrap_or_else(|| panic!("{:#?}", reading.diagnostics));
        let trace = world::play(&suite.cases[0], playbooks, &Noop);
        assert_eq!(judge::judge(&suite.cases[0], playbooks, &trace), []);
        trace.main.expect("it ran").log
    }

    #[test]
    fn a_recorded_execution_is_a_case_that_passes() {
        let playbooks = playbooks();
        let recording = Recording::of(&playbooks.main().plan, &events(&playbooks));
        let test = to_yaml(&recording.to_test());
        let reading = read(&test, &playbooks, &mut |_| Err(String::new()));
        let suite = reading.suite.unwrap_or_else(|| panic!("{:#?}\n{test}", reading.diagnostics));
        let trace = world::play(&suite.cases[0], &playbooks, &Noop);
        assert_eq!(judge::judge(&suite.cases[0], &playbooks, &trace), [], "{test}");
        let result = trace.main.and_then(|main| main.result).expect("it has a result");
        assert_eq!(result.to_string(), r#"{"n":3,"read":7,"letters":[{"is":"a"},{"is":"b"}]}"#);
    }

    #[test]
    fn a_case_takes_what_it_does_not_say_from_its_recording() {
        let playbooks = playbooks();
        let recording = to_yaml(&Recording::of(&playbooks.main().plan, &events(&playbooks)).to_value());
        let test = "
cases:
  - name: with another letter
    recorded: flow.recording.yaml
    mocks: {start: {value: {is: z}}}
    expect: {result: {n: 3, read: 7, letters: [{is: z}, {is: z}]}, elapsed: 2}
";
        let reading = read(test, &playbooks, &mut |_| Ok(recording.clone()));
        let suite = reading.suite.unwrap_or_else(|| panic!("{:#?}\n{recording}", reading.diagnostics));
        let trace = world::play(&suite.cases[0], &playbooks, &Noop);
        assert_eq!(judge::judge(&suite.cases[0], &playbooks, &trace), [], "{recording}");
    }
}
