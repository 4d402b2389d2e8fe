//! The numbers that a benchmark ends with. The names are promised to scripts.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use super::machine::Besides;
use super::place::Usage;
use super::workload::Measured;
use crate::output::Output;
use crate::table::Table;

const MIB: f64 = 1024.0 * 1024.0;

/// What the disk and bare SQLite did in the same run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Yardsticks {
    pub fsync_ms: f64,
    pub sqlite_commits_per_s: f64,
    pub sqlite_rows_per_s: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Numbers {
    #[serde(flatten)]
    yardsticks: Yardsticks,
    workloads: BTreeMap<&'static str, Measured>,
    /// The most that the server had in memory after any of them.
    memory_mb: Option<f64>,
    /// Processor time of the server for all of them.
    cpu_s: Option<f64>,
    events_per_execution: Option<f64>,
    bytes_per_execution: Option<f64>,
    #[serde(flatten)]
    besides: Besides,
    #[serde(skip)]
    order: Vec<&'static str>,
    #[serde(skip)]
    counted: Counted,
}

/// Executions of the throughput workloads and what they left.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    executions: f64,
    events: f64,
    bytes: Option<f64>,
}

impl Numbers {
    pub fn new(yardsticks: Yardsticks) -> Numbers {
        Numbers {
            yardsticks,
            workloads: BTreeMap::new(),
            memory_mb: None,
            cpu_s: None,
            events_per_execution: None,
            bytes_per_execution: None,
            besides: Besides::default(),
            order: Vec::new(),
            counted: Counted::default(),
        }
    }

    pub fn add(&mut self, name: &'static str, measured: Measured, usage: &Usage) {
        self.workloads.insert(name, measured);
        self.order.push(name);
        let memory = usage.memory_bytes.map(|bytes| bytes / MIB);
        self.memory_mb = [self.memory_mb, memory].into_iter().flatten().reduce(f64::max);
    }

    /// What executions left behind between two looks at the server.
    pub fn count_executions(&mut self, before: &Usage, after: &Usage, stored: Option<(u64, u64)>) {
        let grown =
            |of: fn(&Usage) -> Option<f64>| of(after).zip(of(before)).map(|(after, before)| after - before);
        let (Some(executions), Some(events)) = (grown(|usage| usage.executions), grown(|usage| usage.events))
        else {
            return;
        };
        let counted = &mut self.counted;
        counted.executions += executions;
        counted.events += events;
        if let Some((before, after)) = stored {
            counted.bytes = Some(counted.bytes.unwrap_or_default() + after.saturating_sub(before) as f64);
        }
        if counted.executions > 0.0 {
            self.events_per_execution = Some(counted.events / counted.executions);
            self.bytes_per_execution = counted.bytes.map(|bytes| bytes / counted.executions);
        }
    }

    pub fn spent(&mut self, before: &Usage, after: &Usage) {
        self.cpu_s = after.cpu_seconds.zip(before.cpu_seconds).map(|(after, before)| after - before);
    }

    /// What the machine did besides.
    pub fn beside(&mut self, besides: Besides) {
        self.besides = besides;
    }

    pub fn remark(&self) -> Option<String> {
        self.besides.remark()
    }

    /// For people.
    pub fn write(&self, out: &mut Output) -> Result<()> {
        let mut table = Table::new(["WHAT", "MEASURED", "UNIT"]);
        let mut line = |what: &str, number: f64, unit: &str| {
            table.row([what.into(), readable(number).into(), unit.into()])
        };
        line("write and sync 4 KiB", self.yardsticks.fsync_ms, "ms");
        line("bare SQLite, commits of one row", self.yardsticks.sqlite_commits_per_s, "/s");
        line("bare SQLite, rows in commits of 100", self.yardsticks.sqlite_rows_per_s, "/s");
        for name in &self.order {
            let measured = &self.workloads[name];
            let parts = [
                ("", measured.per_s, "/s"),
                (" p50", measured.p50_ms, "ms"),
                (" p99", measured.p99_ms, "ms"),
                ("", measured.ms, "ms"),
                ("", measured.s, "s"),
            ];
            for (part, number, unit) in parts {
                if let Some(number) = number {
                    line(&format!("{name}{part}"), number, unit);
                }
            }
        }
        let rest = [
            ("memory of the server, at most", self.memory_mb, "MiB"),
            ("processor time of the server", self.cpu_s, "s"),
            ("events per execution", self.events_per_execution, ""),
            ("bytes per execution", self.bytes_per_execution, "B"),
            ("load of the machine before", self.besides.load_before, ""),
            ("processor time that the host gave to others", self.besides.steal_percent, "%"),
        ];
        for (what, number, unit) in rest {
            if let Some(number) = number {
                line(what, number, unit);
            }
        }
        table.write(out)?;
        out.flush()?;
        Ok(())
    }
}

/// Three digits that count.
fn readable(number: f64) -> String {
    match number.abs() {
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_the_promised_names() {
        let mut numbers =
            Numbers::new(Yardsticks { fsync_ms: 0.1, sqlite_commits_per_s: 6500.0, sqlite_rows_per_s: 2e5 });
        let usage = |events, executions| Usage {
            memory_bytes: Some(50.0 * MIB),
            cpu_seconds: Some(events),
            events: Some(events),
            executions: Some(executions),
        };
        numbers.add(
            "one_step",
            Measured { p50_ms: Some(1.0), p99_ms: Some(2.0), ..Measured::default() },
            &usage(0.0, 0.0),
        );
        numbers.count_executions(&usage(10.0, 0.0), &usage(80.0, 10.0), Some((1000, 3000)));
        numbers.spent(&usage(1.0, 0.0), &usage(4.0, 0.0));
        numbers.beside(Besides { load_before: Some(0.1), steal_percent: Some(0.3) });

        let json = serde_json::to_value(&numbers).expect("numbers are valid JSON");

        assert_eq!(
            json,
            serde_json::json!({
                "fsync_ms": 0.1, "sqlite_commits_per_s": 6500.0, "sqlite_rows_per_s": 200_000.0,
                "workloads": {"one_step": {"p50_ms": 1.0, "p99_ms": 2.0}},
                "memory_mb": 50.0, "cpu_s": 3.0, "events_per_execution": 7.0, "bytes_per_execution": 200.0,
                "load_before": 0.1, "steal_percent": 0.3,
            })
        );
    }
}
