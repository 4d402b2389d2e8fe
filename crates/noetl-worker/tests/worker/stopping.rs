//! Cancelling, deadlines, lost leases and draining: work ends when it should, and leaves nothing behind.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use noetl_types::{ErrorKind, Report, RunStatus, Value, value};
use noetl_worker::WorkerConfig;
use tokio::sync::{Notify, Semaphore, oneshot};

use crate::support::{Cluster, Probe, Server};

const ONE_CALL: &str = "workflow: [{step: start, tool: {kind: shell, command: x}}]";

/// Python that holds a pipe open, together with a process that it has started, and goes on for ever.
const ENDLESS: &str = r#"
workflow:
  - step: start
    tool:
      kind: python
      input: {pipe: "{{ workload.pipe }}"}
      code: |
        import os, subprocess, time
        pipe = os.open(pipe, os.O_WRONLY)
        subprocess.Popen(["sleep", "600"], pass_fds=[pipe])
        os.write(pipe, b"here\n")
        time.sleep(600)
"#;

/// Tells when the first line comes through a pipe, and when nobody holds it open any more.
fn watch(pipe: PathBuf) -> (oneshot::Receiver<String>, oneshot::Receiver<String>) {
    let ((here, is_here), (gone, is_gone)) = (oneshot::channel(), oneshot::channel());
    std::thread::spawn(move || {
        let mut reader = BufReader::new(File::open(pipe).expect("the pipe can be opened"));
        let mut line = String::new();
        reader.read_line(&mut line).expect("the pipe can be read");
        let _ = here.send(line);
        let mut rest = String::new();
        reader.read_to_string(&mut rest).expect("the pipe can be read");
        let _ = gone.send(rest);
    });
    (is_here, is_gone)
}

#[tokio::test]
async fn cancelling_a_run_kills_its_python_and_what_it_started() {
    let folder = tempfile::tempdir().expect("there is room for a temporary folder");
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is installed");
    assert!(made.success());
    let (is_here, is_gone) = watch(pipe.clone());

    let cluster = Cluster::start();
    let execution = cluster.begin(ENDLESS, value!({"pipe": pipe.to_str()}));
    assert_eq!(is_here.await.as_deref(), Ok("here\n"));
    assert!(cluster.server.cancel(execution));
    assert_eq!(cluster.end_of(execution).await.status, RunStatus::Cancelled);
    let gone = tokio::time::timeout(Duration::from_secs(60), is_gone).await;
    assert_eq!(gone.expect("both processes die").as_deref(), Ok(""));
    let server = cluster.shut_down().await;
    assert!(server.reports().iter().all(|report| report.outcome.is_none()), "nobody waits for an outcome");
}

#[tokio::test]
async fn a_step_is_stopped_at_its_deadline() {
    let (arrived, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let cluster = Cluster::with_probe(gated(&arrived, &gate));
    let flow = "workflow: [{step: start, spec: {timeout: 0.05}, tool: {kind: shell, command: x}}]";
    let run = cluster.run(flow, Value::Null).await;
    assert_eq!(run.status, RunStatus::Failed);
    let record = &run.steps["start"];
    assert_eq!(record.error.as_ref().map(|error| error.kind), Some(ErrorKind::Timeout), "{record:?}");
    // The tool would wait at the gate for ever.
    cluster.shut_down().await;
}

#[tokio::test]
async fn a_command_that_was_lost_to_another_attempt_is_stopped() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (arrived, cancelled) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let probe = Probe::new({
        let (arrived, cancelled) = (arrived.clone(), cancelled.clone());
        move |call| {
            let (calls, arrived, cancelled) = (calls.clone(), arrived.clone(), cancelled.clone());
            async move {
                if calls.fetch_add(1, Ordering::SeqCst) == 0 {
                    arrived.notify_one();
                    call.cancel.cancelled().await;
                    cancelled.notify_one();
                }
                Report::success(value!({"call": calls.load(Ordering::SeqCst)}))
            }
        }
    });
    let server = Server::new(Duration::from_millis(30), false);
    let cluster = Cluster::start_on(server, WorkerConfig::default(), Some(probe));
    let execution = cluster.begin(ONE_CALL, Value::Null);
    arrived.notified().await;
    cluster.server.lose(cluster.server.held()[0]);
    cancelled.notified().await;
    let run = cluster.end_of(execution).await;
    assert_eq!(cluster.result(&run), value!({"call": 2}));
    let reports = cluster.server.reports();
    let outcomes: Vec<_> = reports.iter().filter(|report| report.outcome.is_some()).collect();
    assert_eq!(outcomes.len(), 1, "the lost attempt keeps quiet: {reports:?}");
    assert_eq!(outcomes[0].attempt.attempt, 2);
}

/// Waits at a gate, and tells when it has got there.
fn gated(arrived: &Arc<Semaphore>, gate: &Arc<Semaphore>) -> Probe {
    let (arrived, gate) = (arrived.clone(), gate.clone());
    Probe::new(move |call| {
        let (arrived, gate) = (arrived.clone(), gate.clone());
        async move {
            arrived.add_permits(1);
            tokio::select! {
                _ = gate.acquire() => Report::success(Value::Null),
                () = call.cancel.cancelled() => Report::success(Value::text("stopped")),
            }
        }
    })
}

#[tokio::test]
async fn draining_finishes_what_has_begun_and_gives_back_what_has_not() {
    let (arrived, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let config = WorkerConfig { kind_limits: [("shell".into(), 1)].into(), ..WorkerConfig::default() };
    let cluster = Cluster::start_with(config, Some(gated(&arrived, &gate)));
    let first = cluster.begin(ONE_CALL, Value::Null);
    let _ = arrived.acquire().await;
    let second = cluster.begin(ONE_CALL, Value::Null);
    cluster.until(|server| (server.held().len() == 2).then_some(())).await;

    let server = cluster.server.clone();
    let ended = tokio::spawn(cluster.shut_down());
    server.wait_for(|server| (!server.released().is_empty()).then_some(())).await;
    assert_eq!(server.run(first).status, RunStatus::Running, "what has begun goes on");
    gate.add_permits(1);
    ended.await.expect("the worker ends");
    assert_eq!(server.run(first).status, RunStatus::Completed);
    let released = server.released();
    assert_eq!(released.len(), 1);
    assert!(released[0].attempt.execution == second && !released[0].began, "{released:?}");
}

#[tokio::test]
async fn draining_stops_and_gives_back_what_does_not_end_in_time() {
    let (arrived, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let config = WorkerConfig { drain: Duration::from_millis(10), ..WorkerConfig::default() };
    let cluster = Cluster::start_with(config, Some(gated(&arrived, &gate)));
    let execution = cluster.begin(ONE_CALL, Value::Null);
    let _ = arrived.acquire().await;
    let server = cluster.shut_down().await;
    let released = server.released();
    assert!(released.len() == 1 && released[0].began, "{released:?}");
    assert!(
        server.reports().iter().all(|report| report.outcome.is_none()),
        "what was cut short has no outcome"
    );
    assert_eq!(server.run(execution).status, RunStatus::Running, "another worker takes it up");
}
