//! What the tests of all tools share.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use noetl_tools::{
    Call, CodeText, Credential, Environment, FixedCredentials, LogSink, Stream, ToolConfig, Toolbox,
};
use noetl_types::{ErrorKind, Report, ToolError, Value};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// How long a test waits for something that must come.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn config() -> ToolConfig {
    let mut config = ToolConfig::default();
    config.process.environment = Environment::inherited(std::env::vars(), &[]);
    config.process.kill_grace = Duration::from_millis(300);
    config
}

pub fn toolbox() -> Toolbox {
    Toolbox::builtin(config())
}

/// A runtime that lasts, so that tools may keep processes and connections across tests.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
    })
}

pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    runtime().block_on(work)
}

/// Starts a call that goes on while the test does other things.
pub fn spawn(kind: &'static str, call: Call) -> JoinHandle<Report> {
    runtime().spawn(shared().call(kind, call))
}

/// A toolbox that all tests share.
pub fn shared() -> &'static Toolbox {
    static TOOLBOX: OnceLock<Toolbox> = OnceLock::new();
    TOOLBOX.get_or_init(toolbox)
}

pub fn run(kind: &str, config: Value) -> Report {
    run_call(kind, Call::new(config))
}

pub fn run_call(kind: &str, call: Call) -> Report {
    block_on(shared().call(kind, call))
}

pub fn with_code(mut call: Call, code: &str) -> Call {
    call.code = Some(CodeText::new(unindented(code)));
    call
}

/// The text without the indentation of its first line.
pub fn unindented(text: &str) -> String {
    let text = text.trim_start_matches('\n');
    let indentation = text.len() - text.trim_start_matches(' ').len();
    text.lines()
        .map(|line| line.get(indentation..).unwrap_or_default())
        .fold(String::new(), |all, line| all + line + "\n")
}

pub fn credentials(entries: &[(&str, &str, Value)]) -> Arc<FixedCredentials> {
    Arc::new(FixedCredentials::new(entries.iter().map(|(name, kind, data)| Credential {
        name: name.to_string(),
        kind: kind.to_string(),
        data: data.clone(),
    })))
}

#[track_caller]
pub fn data(report: &Report) -> &Value {
    assert_eq!(report.error, None);
    report.data.as_inline().expect("tools give inline data")
}

#[track_caller]
pub fn error(report: &Report) -> &ToolError {
    report.error.as_ref().unwrap_or_else(|| panic!("an error was expected, not {:?}", report.data))
}

#[track_caller]
pub fn assert_fails(report: &Report, kind: ErrorKind, part_of_message: &str) {
    let error = error(report);
    assert_eq!(error.kind, kind, "{error:?}");
    assert!(error.message.contains(part_of_message), "{:?} lacks {part_of_message:?}", error.message);
}

/// Checks again and again until it holds.
#[track_caller]
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "still not: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a process exists and is more than an entry that waits to be collected.
pub fn is_running(pid: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = status.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// The number in a file that a process writes, once it is there.
#[track_caller]
pub fn pid_in(path: &std::path::Path) -> u32 {
    let read = || std::fs::read_to_string(path).ok()?.strip_suffix('\n')?.trim().parse().ok();
    eventually("a process wrote its id", || read().is_some());
    read().expect("it was just there")
}

/// Keeps what is logged.
#[derive(Default)]
pub struct KeptLogs(Mutex<Vec<(Stream, String)>>);

impl KeptLogs {
    pub fn text(&self, stream: Stream) -> String {
        self.0.lock().unwrap().iter().filter(|(of, _)| *of == stream).map(|(_, text)| text.as_str()).collect()
    }
}

impl LogSink for KeptLogs {
    fn write(&self, stream: Stream, text: &str) {
        self.0.lock().unwrap().push((stream, text.to_owned()));
    }
}
