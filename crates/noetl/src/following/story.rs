//! What happens in an execution, told on standard error.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use noetl_client::api::execution::{Detail, EventRow};
use noetl_types::{Timestamp, Value};

use super::{Detailed, TICK};
use crate::table::Color;
use crate::telling::{Teller, seconds};

pub struct Story {
    teller: Teller,
    detailed: Detailed,
    /// The steps under way, and since when.
    entered: BTreeMap<String, Option<Timestamp>>,
    loops: BTreeMap<String, Items>,
    begun: Instant,
    shown: Instant,
}

struct Items {
    total: Option<i64>,
    done: u64,
    failed: u64,
}

impl Items {
    fn words(&self) -> String {
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        match self.total {
            Some(total) => format!(" {}/{total}{failed}", self.done),
            None => format!(" {} rows{failed}", self.done),
        }
    }
}

impl Story {
    pub fn new(silent: bool, detailed: Detailed) -> Story {
        Story {
            teller: Teller::new(silent),
            detailed,
            entered: BTreeMap::new(),
            loops: BTreeMap::new(),
            begun: Instant::now(),
            shown: Instant::now(),
        }
    }

    pub fn begin(&mut self, execution: i64, path: &str) {
        self.teller.line(&format!("execution {execution} of {path}"));
    }

    pub fn tell(&mut self, event: &EventRow) {
        let step = event.node_name.clone().unwrap_or_default();
        let facts = event.result.get("context");
        match event.event_type.as_str() {
            "step.enter" => {
                self.entered.insert(step.clone(), Timestamp::parse(&event.timestamp));
                if let Some(facts) = facts.filter(|facts| facts.get("max_in_flight").is_some()) {
                    let total = facts.get("iterations_expected").and_then(Value::as_i64);
                    self.loops.insert(step, Items { total, done: 0, failed: 0 });
                }
            }
            "call.done" | "call.error" if event.current_index.is_some() => {
                if let Some(items) = self.loops.get_mut(&step) {
                    items.done += 1;
                    items.failed += u64::from(event.event_type == "call.error");
                }
            }
            "step.exit" => self.step_ended(&step, event),
            "step.kept" => self.step_line(&format!("{} {step} kept", self.teller.dim("="))),
            "step.skipped" => {
                let reason = facts.and_then(|facts| facts.get("reason")).and_then(Value::as_str);
                if let Some(why) = reason.and_then(why_skipped) {
                    self.step_line(&format!("{} {step} skipped: {why}", self.teller.dim("-")));
                }
            }
            "command.lost" => self.step_line(&format!("! {step}: an attempt was lost, it is tried again")),
            "call.suspended" => {
                if let Some(waits) = facts.and_then(|facts| facts.get("waits_for")).and_then(waiting) {
                    self.step_line(&format!("… {step} {waits}"));
                }
            }
            _ => {}
        }
        if self.shown.elapsed() >= TICK {
            self.show_standing();
        }
    }

    fn step_ended(&mut self, step: &str, event: &EventRow) {
        let from = self.entered.remove(step).flatten();
        let took = match (from, Timestamp::parse(&event.timestamp)) {
            (Some(from), Some(to)) => to.since(from),
            _ => Duration::ZERO,
        };
        let items = self.loops.remove(step).map_or(String::new(), |items| items.words());
        let facts = event.result.get("context");
        let handled = facts.and_then(|facts| facts.get("handled")).and_then(Value::as_bool) == Some(true);
        let tail = match &event.error {
            Some(error) => format!("{}: {error}", if handled { " (handled)" } else { "" }),
            None => String::new(),
        };
        let mark = match event.status.as_str() {
            "COMPLETED" => self.teller.paint("✓", Color::Green),
            _ => self.teller.paint("✗", Color::Red),
        };
        let took = self.teller.dim(&seconds(took));
        self.step_line(&format!("{mark} {step}{items} {took}{tail}"));
    }

    fn step_line(&mut self, text: &str) {
        if self.detailed == Detailed::Steps {
            self.teller.line(text);
        }
    }

    /// What is under way and for how long.
    pub fn show_standing(&mut self) {
        self.shown = Instant::now();
        let under_way: Vec<String> = self
            .entered
            .keys()
            .map(|step| format!("{step}{}", self.loops.get(step).map_or(String::new(), Items::words)))
            .collect();
        let steps = if under_way.is_empty() { "waiting".to_owned() } else { under_way.join(", ") };
        self.teller.meanwhile(&format!("{steps}, {} s", self.begun.elapsed().as_secs()));
    }

    pub fn clear(&mut self) {
        self.teller.clear();
    }

    pub fn end(&mut self, detail: &Detail) {
        let execution = &detail.summary;
        let took = seconds(Duration::try_from_secs_f64(execution.duration_seconds).unwrap_or_default());
        let why = execution.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
        self.teller.line(&format!("{} in {took}{why}", self.teller.status(&execution.status)));
    }
}

/// Why a step was skipped, when that is worth a line.
fn why_skipped(reason: &str) -> Option<&'static str> {
    match reason {
        "guard" => Some("its when is false"),
        "not_admitted" => Some("not admitted"),
        "failure_before" => Some("a step before it failed"),
        _ => None,
    }
}

fn waiting(on: &Value) -> Option<String> {
    let text = |key: &str| on.get(key).map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
    Some(match on.get("await")?.as_str()? {
        "signal" => format!("waits for the signal '{}'", text("name")?),
        "child" => format!("calls playbook '{}'", text("path")?),
        "sleep" => format!("waits {} s", text("seconds")?),
        _ => return None,
    })
}
