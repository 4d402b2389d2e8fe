//! What a run does, told on standard error as it happens.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use noetl_engine::Run;
use noetl_types::{Event, EventBody, ExecutionId, Item, RunStatus, SkipReason, StepStatus, Timestamp};

/// How often the progress of loops is shown at most.
const LOOP_LINE: Duration = Duration::from_millis(250);

pub struct Progress {
    silent: bool,
    colored: bool,
    /// Standard error is a terminal, so a line can be written over.
    terminal: bool,
    entered: BTreeMap<Arc<str>, Timestamp>,
    loops: BTreeMap<Arc<str>, LoopLine>,
    shown: Instant,
    line_open: bool,
}

struct LoopLine {
    total: Option<u32>,
    done: u32,
    failed: u32,
}

impl Progress {
    pub fn new(silent: bool, colored: bool) -> Progress {
        Progress {
            silent,
            colored,
            terminal: std::io::stderr().is_terminal(),
            entered: BTreeMap::new(),
            loops: BTreeMap::new(),
            shown: Instant::now(),
            line_open: false,
        }
    }

    pub fn begin(&mut self, execution: ExecutionId, name: Option<&str>) {
        self.line(&format!(
            "execution {execution}{}",
            name.map_or(String::new(), |name| format!(" of {name}"))
        ));
    }

    /// Tells what happened. True when the run is over.
    pub fn tell(&mut self, events: &[Event]) -> bool {
        let mut over = false;
        for event in events {
            match &event.body {
                EventBody::StepEntered { step, looping, .. } => {
                    self.entered.insert(step.clone(), event.at);
                    if let Some(entry) = looping {
                        let line = LoopLine { total: entry.total, done: 0, failed: 0 };
                        self.loops.insert(step.clone(), line);
                    }
                }
                EventBody::CallDone { step, command, .. } if matches!(command.item, Item::At(_)) => {
                    self.item(step, false);
                }
                EventBody::CallFailed { step, command, .. } if matches!(command.item, Item::At(_)) => {
                    self.item(step, true);
                }
                EventBody::StepExited { step, status, error, handled, .. } => {
                    let took = self.entered.remove(step).map_or(Duration::ZERO, |from| event.at.since(from));
                    let items = self.loops.remove(step).map_or(String::new(), |line| line.words());
                    let (mark, tail) = match (status, error) {
                        (StepStatus::Completed, _) => (self.paint("✓", "32"), String::new()),
                        (_, Some(error)) => {
                            let handled = if *handled { " (handled)" } else { "" };
                            (self.paint("✗", "31"), format!("{handled}: {}", error.message))
                        }
                        _ => (self.paint("✗", "31"), String::new()),
                    };
                    self.line(&format!("{mark} {step}{items} {}{tail}", self.dim(&seconds(took))));
                }
                EventBody::StepSkipped { step, reason, .. } if *reason != SkipReason::NotReached => {
                    let why = match reason {
                        SkipReason::Guard => "its when is false",
                        SkipReason::NotAdmitted => "not admitted",
                        SkipReason::FailureBefore => "a step before it failed",
                        SkipReason::NotReached => "not reached",
                    };
                    self.line(&format!("{} {step} skipped: {why}", self.dim("-")));
                }
                EventBody::CommandLost { step, attempt, .. } => {
                    self.line(&format!("! {step}: attempt {attempt} was lost, it is tried again"));
                }
                EventBody::CallSuspended { step, on, .. } => match on {
                    noetl_types::Await::Signal { name, .. } => {
                        self.line(&format!("… {step} waits for the signal '{name}'"));
                    }
                    noetl_types::Await::Child { path, .. } => {
                        self.line(&format!("… {step} calls playbook '{path}'"));
                    }
                    noetl_types::Await::Sleep { seconds } => {
                        self.line(&format!("… {step} waits {seconds} s"));
                    }
                },
                EventBody::PlaybookCompleted { .. }
                | EventBody::PlaybookFailed { .. }
                | EventBody::PlaybookCancelled { .. } => over = true,
                _ => {}
            }
        }
        if self.shown.elapsed() >= LOOP_LINE {
            self.show_loops();
        }
        over
    }

    fn item(&mut self, step: &Arc<str>, failed: bool) {
        if let Some(line) = self.loops.get_mut(step) {
            line.done += 1;
            line.failed += u32::from(failed);
        }
    }

    /// Time goes by.
    pub fn tick(&mut self) {
        self.show_loops();
    }

    fn show_loops(&mut self) {
        self.shown = Instant::now();
        if self.silent || !self.terminal || self.loops.is_empty() {
            return;
        }
        let words: Vec<String> =
            self.loops.iter().map(|(step, line)| format!("{step}{}", line.words())).collect();
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[2K… {}", words.join(", "));
        let _ = stderr.flush();
        self.line_open = true;
    }

    pub fn end(&mut self, run: &Run) {
        let took = run.ended_at.map_or(Duration::ZERO, |end| end.since(run.started_at));
        let status = match run.status {
            RunStatus::Completed => self.paint("COMPLETED", "32"),
            RunStatus::Failed => self.paint("FAILED", "31"),
            other => self.paint(other.as_str(), "33"),
        };
        let why = run.error.as_ref().map_or(String::new(), |error| format!(": {}", error.message));
        self.line(&format!("{status} in {}{why}", seconds(took)));
    }

    fn line(&mut self, text: &str) {
        if self.silent {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        if std::mem::take(&mut self.line_open) {
            let _ = write!(stderr, "\r\x1b[2K");
        }
        // With standard error closed there is nobody left to tell.
        let _ = writeln!(stderr, "{text}");
    }

    fn paint(&self, text: &str, code: &str) -> String {
        if self.colored && self.terminal { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn dim(&self, text: &str) -> String {
        self.paint(text, "2")
    }
}

impl LoopLine {
    fn words(&self) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        match self.total {
            Some(total) => format!(" {}/{total}{failed}", self.done),
            None => format!(" {} rows{failed}", self.done),
        }
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        time if time < 0.01 => format!("{:.1} ms", time * 1000.0),
        time if time < 1.0 => format!("{:.0} ms", time * 1000.0),
        time => format!("{time:.1} s"),
    }
}
