//! The text format of Prometheus.

use std::fmt::Write;

use super::Family;
use super::histogram::Histogram;

/// Puts families together, one after the other.
#[derive(Debug, Default)]
pub struct Text {
    text: String,
}

impl Text {
    pub fn begin(&mut self, family: &Family) {
        let Family { name, kind, help } = family;
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {}", kind.name()));
    }

    /// A family of a single value.
    pub fn single(&mut self, family: &Family, value: f64) {
        self.begin(family);
        self.sample(family.name, &[], value);
    }

    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels = written(labels);
        self.line(format_args!("{name}{labels} {value}"));
    }

    pub fn histogram(&mut self, name: &str, labels: &[(&str, &str)], histogram: &Histogram) {
        let counts = histogram.cumulative();
        for (bound, count) in &counts {
            let bound = if bound.is_finite() { bound.to_string() } else { "+Inf".to_owned() };
            let mut labels = labels.to_vec();
            labels.push(("le", &bound));
            self.sample(&format!("{name}_bucket"), &labels, *count as f64);
        }
        let total = counts.last().map_or(0, |(_, count)| *count);
        self.sample(&format!("{name}_sum"), labels, histogram.sum());
        self.sample(&format!("{name}_count"), labels, total as f64);
    }

    pub fn finish(self) -> String {
        self.text
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("text takes every line");
    }
}

fn written(labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> = labels
        .iter()
        .map(|(name, value)| {
            let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
            format!("{name}=\"{value}\"")
        })
        .collect();
    format!("{{{}}}", pairs.join(","))
}
