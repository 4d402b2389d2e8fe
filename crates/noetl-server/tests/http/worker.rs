//! A worker that does nothing but what it is told: every tool gives its `result` setting.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use noetl_engine::pipeline::{Next, Pipeline};
use noetl_engine::{Input, NoValues};
use noetl_server::drive::Dispatched;
use noetl_types::{ErrorKind, ExecutionId, Outcome, Report, Timestamp, ToolError};
use serde_json::{Value, json};

use crate::support::Server;

/// Starts a playbook and gives the id of the execution.
pub async fn start(server: &Server, path: &str, payload: Value) -> String {
    let started = server.post("/api/execute", json!({"path": path, "payload": payload})).await.ok();
    started["execution_id"].as_str().expect("an id as text").to_owned()
}

/// Starts a playbook and works until it is over.
pub async fn run(server: &Server, path: &str, payload: Value) -> String {
    let id = start(server, path, payload).await;
    work_until_over(server, &id).await;
    id
}

/// Works off whatever waits until the execution is over, and says how it ended.
pub async fn work_until_over(server: &Server, id: &str) -> String {
    loop {
        let status = server.get(&format!("/api/executions/{id}/status")).await.ok();
        if status["completed"] == true {
            return status["status"].as_str().expect("a status").to_owned();
        }
        work(server, 500).await;
    }
}

/// Takes up to so many commands, waits for at least one, and reports their outcomes.
pub async fn work(server: &Server, most: usize) {
    let pools = ["shared".into()];
    let taking = server.queue.queue.take(&pools, most);
    let taken = tokio::time::timeout(Duration::from_secs(30), taking).await.expect("work to do");
    let ended = taken.iter().map(|dispatched| {
        let command = &dispatched.command;
        let input =
            Input::Ended { command: command.key, attempt: command.attempt, outcome: outcome(dispatched) };
        (command.execution, input)
    });
    server.app.drive().inputs(ended.collect()).await;
}

/// What the interpreter makes of a command. A tool with the setting `fails` fails.
fn outcome(dispatched: &Dispatched) -> Outcome {
    let command = dispatched.command.clone();
    let mut pipeline = Pipeline::new(dispatched.plan.clone(), command, BTreeMap::new(), Arc::new(NoValues));
    loop {
        match pipeline.next(Timestamp::default()) {
            Next::Call(calls) => {
                for call in calls {
                    let report = match call.config.get("result") {
                        Some(result) if result.as_str() == Some("fail") => {
                            Report::failure(ToolError::new(ErrorKind::Exception, "it was told to fail"))
                        }
                        result => Report::success(result.cloned().unwrap_or_default()),
                    };
                    pipeline.finished(&call, report);
                }
            }
            Next::Report(outcome) => return *outcome,
            other => panic!("the worker can't go on: {other:?}"),
        }
    }
}

pub fn execution(id: &str) -> ExecutionId {
    ExecutionId(id.parse().expect("a number"))
}

/// One step that gives `n`.
pub const ONE: &str = "workload: {n: 1}\nworkflow:\n  - step: start\n    tool: {kind: noop, result: {n: \"{{ workload.n }}\"}}\n";

/// Two steps; the second reads the first.
pub const CHAIN: &str = "workload: {n: 1}\nworkflow:\n  - step: start\n    tool: {kind: noop, result: {n: \"{{ workload.n }}\"}}\n    set: {ctx.seen: \"{{ output.data.n }}\"}\n    \
                         next: {arcs: [{step: double}]}\n  - step: double\n    tool: {kind: noop, result: {n: \"{{ start.n * 2 }}\"}}\n";

/// A step that waits for a signal.
pub const WAITS: &str = "workflow:\n  - step: ask\n    tool: {kind: wait, signal: approval}\n";
