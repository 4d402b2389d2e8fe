//! What a run does, told on standard error as it happens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noetl_engine::Run;
use noetl_types::{Event, EventBody, ExecutionId, Item, SkipReason, StepStatus, Timestamp};

use crate::table::Color;
use crate::telling::{Teller, seconds};

/// How often the progress of loops is shown at most.
const LOOP_LINE: Duration = Duration::from_millis(250);

pub struct Progress {
    teller: Teller,
    entered: BTreeMap<Arc<str>, Timestamp>,
    loops: BTreeMap<Arc<str>, LoopLine>,
    shown: Instant,
}

struct LoopLine {
    total: Option<u32>,
    done: u32,
    failed: u32,
}

impl Progress {
    pub fn new(silent: bool) -> Progress {
        Progress {
            teller: Teller::new(silent),
            entered: BTreeMap::new(),
            loops: BTreeMap::new(),
            shown: Instant::now(),
        }
    }

    pub fn begin(&mut self, execution: ExecutionId, name: Option<&str>) {
        self.teller.line(&format!(
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
                        (StepStatus::Completed, _) => (self.teller.paint("✓", Color::Green), String::new()),
                        (_, Some(error)) => {
                            let handled = if *handled { " (handled)" } else { "" };
                            (self.teller.paint("✗", Color::Red), format!("{handled}: {}", error.message))
                        }
                        _ => (self.teller.paint("✗", Color::Red), String::new()),
                    };
                    self.teller
                        .line(&format!("{mark} {step}{items} {}{tail}", self.teller.dim(&seconds(took))));
                }
                EventBody::StepSkipped { step, reason, .. } if *reason != SkipReason::NotReached => {
                    let why = match reason {
                        SkipReason::Guard => "its when is false",
                        SkipReason::NotAdmitted => "not admitted",
                        SkipReason::FailureBefore => "a step before it failed",
                        SkipReason::NotReached => "not reached",
                    };
                    self.teller.line(&format!("{} {step} skipped: {why}", self.teller.dim("-")));
                }
                EventBody::CommandLost { step, attempt, .. } => {
                    self.teller.line(&format!("! {step}: attempt {attempt} was lost, it is tried again"));
                }
                EventBody::CallSuspended { step, on, .. } => match on {
                    noetl_types::Await::Signal { name, .. } => {
                        self.teller.line(&format!("… {step} waits for the signal '{name}'"));
                    }
                    noetl_types::Await::Child { path, .. } => {
                        self.teller.line(&format!("… {step} calls playbook '{path}'"));
                    }
                    noetl_types::Await::Sleep { seconds } => {
                        self.teller.line(&format!("… {step} waits {seconds} s"));
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
        if self.loops.is_empty() {
            return;
        }
        let words: Vec<String> =
            self.loops.iter().map(|(step, line)| format!("{step}{}", line.words())).collect();
        self.teller.meanwhile(&words.join(", "));
    }

    pub fn end(&mut self, run: &Run) {
        let took = run.ended_at.map_or(Duration::ZERO, |end| end.since(run.started_at));
        let status = self.teller.status(run.status.as_str());
        let why = run.error.as_ref().map_or(String::new(), |error| format!(": {}", error.message));
        self.teller.line(&format!("{status} in {}{why}", seconds(took)));
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
