//! What a command costs the worker when its tools cost nothing: from being taken to being reported.
//!
//! `cargo bench -p noetl-worker`. The control plane is in memory and does nothing but hand out commands and count.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use noetl_dsl::{Options, Plan, check};
use noetl_engine::NoValues;
use noetl_engine::pipeline::{Next, Pipeline};
use noetl_tools::{Credential, ToolConfig, Toolbox};
use noetl_types::{
    Command, CommandContext, CommandKey, ExecutionId, Item, LoopItem, Report, Slot, StoredValue, Timestamp,
    Value, VisitId, value,
};
use noetl_worker::{
    Accepted, Assigned, AttemptId, CommandReport, ControlError, ControlPlane, LogChunk, Released, Worker,
    WorkerConfig, WorkerInfo,
};
use tokio_util::sync::CancellationToken;

const COMMANDS: usize = 200_000;

/// Hands out commands of one step until there are none left.
struct Dispenser {
    plan: Arc<Plan>,
    context: Arc<CommandContext>,
    given: AtomicUsize,
    reported: AtomicUsize,
    batches: AtomicUsize,
    all_reported: CancellationToken,
}

impl Dispenser {
    fn new(source: &str) -> Dispenser {
        let checked = check(source, &Options::default());
        let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
        let context = CommandContext {
            workload: value!({"name": "bench", "limit": 10}),
            ctx: Arc::new(BTreeMap::from([("count".into(), Slot::Inline(Value::Int(3)))])),
            identity: value!({"execution_id": "1", "path": "bench"}),
            ..CommandContext::default()
        };
        Dispenser {
            plan,
            context: Arc::new(context),
            given: AtomicUsize::new(0),
            reported: AtomicUsize::new(0),
            batches: AtomicUsize::new(0),
            all_reported: CancellationToken::new(),
        }
    }

    fn assigned(&self, index: usize) -> Assigned {
        let index = u32::try_from(index).expect("there are fewer commands");
        let command = Command {
            execution: ExecutionId(1),
            key: CommandKey { visit: VisitId(1), item: Item::At(index), part: 0 },
            attempt: 1,
            step: self.plan.steps[0].name.clone(),
            step_index: 0,
            context: self.context.clone(),
            item: Some(LoopItem { value: Slot::Inline(index.into()), index, total: Some(COMMANDS as u32) }),
            max_rows: None,
            resume: None,
            deadline: None,
        };
        Assigned {
            command,
            plan: self.plan.clone(),
            pool: "shared".into(),
            lease: Duration::from_secs(30),
            trace: None,
        }
    }
}

#[async_trait]
impl ControlPlane for Dispenser {
    async fn register(&self, _: &WorkerInfo) -> Result<(), ControlError> {
        Ok(())
    }

    async fn deregister(&self, _: &str) -> Result<(), ControlError> {
        Ok(())
    }

    async fn take(
        &self,
        _: &str,
        _: &[Arc<str>],
        room: usize,
    ) -> Result<Option<Vec<Assigned>>, ControlError> {
        let first = self.given.fetch_add(room, Ordering::Relaxed);
        if first >= COMMANDS {
            self.all_reported.cancelled().await;
            return Ok(None);
        }
        Ok(Some((first..COMMANDS.min(first + room)).map(|index| self.assigned(index)).collect()))
    }

    async fn report(&self, reports: Vec<CommandReport>) -> Result<Vec<Accepted>, ControlError> {
        self.batches.fetch_add(1, Ordering::Relaxed);
        if self.reported.fetch_add(reports.len(), Ordering::Relaxed) + reports.len() == COMMANDS {
            self.all_reported.cancel();
        }
        Ok(vec![Accepted::Counted; reports.len()])
    }

    async fn renew(&self, _: &str, _: &[AttemptId]) -> Result<Vec<AttemptId>, ControlError> {
        Ok(Vec::new())
    }

    async fn release(&self, _: &str, _: &[Released]) -> Result<(), ControlError> {
        Ok(())
    }

    async fn load_value(&self, _: ExecutionId, stored: &StoredValue) -> Result<Value, ControlError> {
        Err(ControlError::Refused { reason: format!("there is no {}", stored.uri) })
    }

    async fn store_value(&self, _: ExecutionId, name: &str, _: &Value) -> Result<StoredValue, ControlError> {
        Err(ControlError::Refused { reason: format!("{name} can't be stored") })
    }

    async fn find_credential(&self, _: &str, _: ExecutionId) -> Result<Option<Credential>, ControlError> {
        Ok(None)
    }

    async fn append_logs(&self, _: Vec<LogChunk>) -> Result<(), ControlError> {
        Ok(())
    }
}

fn playbook(tool: &str) -> String {
    format!(
        "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {{name: bench, path: bench}}\nworkflow:\n  - step: start\n    \
         loop: {{in: [1], iterator: n}}\n    tool: {tool}\n"
    )
}

/// The share of the interpreter: the same commands with nothing around it.
fn interpret(dispenser: &Dispenser) -> f64 {
    let start = Instant::now();
    for index in 0..COMMANDS {
        let Assigned { command, plan, .. } = dispenser.assigned(index);
        let mut pipeline = Pipeline::new(plan, command, BTreeMap::new(), Arc::new(NoValues));
        while let Next::Call(calls) = pipeline.next(Timestamp::default()) {
            for call in calls {
                let result = call.config.get("result").cloned().unwrap_or_default();
                pipeline.finished(&call, Report::success(result));
            }
        }
    }
    start.elapsed().as_secs_f64()
}

async fn measure(what: &str, tool: &str) {
    let dispenser = Arc::new(Dispenser::new(&playbook(tool)));
    let tools = Toolbox::builtin(ToolConfig::default());
    let worker = Worker::new(WorkerConfig::default(), dispenser.clone(), tools);
    let start = Instant::now();
    worker.run(CancellationToken::new()).await.expect("nothing refuses the worker");
    let seconds = start.elapsed().as_secs_f64();
    let rate = COMMANDS as f64 / seconds;
    let each = seconds * 1e6 / COMMANDS as f64;
    let batch = COMMANDS / dispenser.batches.load(Ordering::Relaxed).max(1);
    let alone = interpret(&dispenser) * 1e6 / COMMANDS as f64;
    println!(
        "{what:<26} {rate:>8.0} commands/s, {each:>5.2} µs each, {batch} per report (interpreter alone {alone:.2} µs)"
    );
}

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(async {
        measure("a noop without templates", "{kind: noop, result: {ok: true}}").await;
        measure("a noop with a template", r#"{kind: noop, result: {n: "{{ iter.n }}"}}"#).await;
        measure(
            "three noops with rules",
            r#"[{name: a, kind: noop, result: {n: "{{ iter.n }}"}}, {name: b, kind: noop, result: "{{ a.n }}",
                spec: {policy: {rules: [{when: "{{ output.status == 'ok' }}", then: {do: continue}}]}}}, {name: c, kind: noop}]"#,
        )
        .await;
    });
}
