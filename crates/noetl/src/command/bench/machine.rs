//! Whether the machine did anything else meanwhile. Numbers of a busy machine say little about anybody's program.

use serde::Serialize;

/// Load from which on a core is taken for busy before anything is measured.
const RESTING_LOAD: f64 = 0.5;

/// Percent of processor time that a host may keep before it shows in the numbers.
const UNNOTICED_STEAL: f64 = 1.0;

/// The processor as it is when the measuring begins.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Processes that wanted to run in the minute before, on average.
    load: Option<f64>,
    ticks: Option<Ticks>,
}

/// What the machine was busy with besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Besides {
    pub load_before: Option<f64>,
    /// Percent of its processor time that the host of a virtual machine gave to others.
    pub steal_percent: Option<f64>,
}

/// Processor time of all cores since the start of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticks {
    all: u64,
    stolen: u64,
}

impl Watched {
    pub fn begin() -> Watched {
        let load = read("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok());
        Watched { load, ticks: Ticks::now() }
    }

    pub fn end(self) -> Besides {
        let passed = self.ticks.zip(Ticks::now());
        let steal = passed.filter(|(before, now)| now.all > before.all).map(|(before, now)| {
            100.0 * now.stolen.saturating_sub(before.stolen) as f64 / (now.all - before.all) as f64
        });
        Besides { load_before: self.load, steal_percent: steal }
    }
}

impl Besides {
    /// A sentence for those who wonder about their numbers.
    pub fn remark(&self) -> Option<String> {
        let load = self.load_before.filter(|&load| load > RESTING_LOAD);
        let steal = self.steal_percent.filter(|&steal| steal > UNNOTICED_STEAL);
        let causes = [
            load.map(|load| format!("its load was {load:.1} before")),
            steal.map(|steal| format!("its host gave {steal:.1} % of the processor time to others")),
        ];
        let causes: Vec<String> = causes.into_iter().flatten().collect();
        (!causes.is_empty()).then(|| {
            format!("the machine was not at rest: {}; at rest it does better", causes.join(", and "))
        })
    }
}

impl Ticks {
    fn now() -> Option<Ticks> {
        Ticks::read(&read("/proc/stat")?)
    }

    /// From the first line: user, nice, system, idle, iowait, irq, softirq, steal, and two that are part of the first two.
    fn read(text: &str) -> Option<Ticks> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let parts: Vec<u64> = line.split_whitespace().map_while(|part| part.parse().ok()).take(8).collect();
        Some(Ticks { all: parts.iter().sum(), stolen: *parts.get(7)? })
    }
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_number_and_guests_are_not_counted_twice() {
        let text = "cpu  100 1 2 300 4 5 6 70 50 50\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(Ticks::read(text), Some(Ticks { all: 488, stolen: 70 }));
        assert_eq!(Ticks::read("cpu  1 2 3\n"), None);
        assert_eq!(Ticks::read(""), None);
    }

    #[test]
    fn a_machine_that_did_something_else_is_remarked_on() {
        let besides = |load, steal| Besides { load_before: Some(load), steal_percent: Some(steal) };
        assert_eq!(besides(0.4, 0.3).remark(), None);
        assert_eq!(Besides::default().remark(), None);
        assert_eq!(
            besides(2.0, 4.26).remark().as_deref(),
            Some(
                "the machine was not at rest: its load was 2.0 before, and its host gave 4.3 % of the processor time to others; \
                 at rest it does better"
            )
        );
    }
}
