//! Cases for people: a line each, and under a case that did not pass what is wrong, as a difference with both places.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use noetl_test::{Case, Problem, Share};
use noetl_types::Value;
use similar::{ChangeTag, TextDiff};

use super::{CoverageOf, Ran, TestFile};
use crate::output::Output;
use crate::report::{Human, counted};

/// How many lines around a difference are shown.
const CONTEXT: usize = 3;

pub struct People {
    shown: bool,
    quiet: bool,
    colored: bool,
    /// The file whose name was shown last.
    file: Option<String>,
    /// The last line that was shown is empty.
    after_gap: bool,
}

impl People {
    pub fn new(shown: bool, quiet: bool, colored: bool) -> People {
        People { shown, quiet, colored, file: None, after_gap: false }
    }

    pub fn show(&mut self, out: &mut Output, file: &TestFile, case: &Case, ran: &Ran) -> Result<()> {
        let passed = ran.outcome.passed();
        if !self.shown || (self.quiet && passed) {
            return Ok(());
        }
        let name = &file.document.name;
        if self.file.as_ref() != Some(name) {
            writeln!(out, "{name}")?;
            self.file = Some(name.clone());
        }
        let word = if passed { self.paint("32", "ok  ") } else { self.paint("31", "FAIL") };
        match self.quiet {
            true => writeln!(out, "  {word}  {}", case.name)?,
            false => writeln!(out, "  {word}  {} ({})", case.name, seconds(ran.took))?,
        }
        for problem in &ran.outcome.problems {
            writeln!(out)?;
            self.problem(out, name, problem)?;
        }
        self.after_gap = !passed;
        if !passed {
            writeln!(out)?;
        }
        // Cases come one by one, and some take their time.
        Ok(out.flush()?)
    }

    fn problem(&self, out: &mut Output, file: &str, problem: &Problem) -> Result<()> {
        writeln!(out, "        {}", problem.message)?;
        writeln!(out, "          at {file}:{}:{}", problem.place.line, problem.place.column)?;
        if let Some(source) = &problem.source {
            writeln!(out, "          of {}:{} ({})", source.file, source.line, source.what)?;
        }
        if let Some(difference) = &problem.difference {
            self.difference(out, &difference.expected, &difference.actual)?;
        }
        if let Some(help) = &problem.help {
            writeln!(out, "          help: {help}")?;
        }
        Ok(())
    }

    fn difference(&self, out: &mut Output, expected: &Value, actual: &Value) -> Result<()> {
        let (expected, actual) =
            (serde_json::to_string_pretty(expected)?, serde_json::to_string_pretty(actual)?);
        writeln!(out, "          {}", self.paint("31", "- expected"))?;
        writeln!(out, "          {}", self.paint("32", "+ actual"))?;
        let diff = TextDiff::from_lines(expected.as_str(), actual.as_str());
        for (at, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
            if at > 0 {
                writeln!(out, "            …")?;
            }
            for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
                let line = change.value().trim_end_matches('\n');
                match change.tag() {
                    ChangeTag::Equal => writeln!(out, "            {line}")?,
                    ChangeTag::Delete => {
                        writeln!(out, "          {}", self.paint("31", &format!("- {line}")))?
                    }
                    ChangeTag::Insert => {
                        writeln!(out, "          {}", self.paint("32", &format!("+ {line}")))?
                    }
                }
            }
        }
        Ok(())
    }

    /// What is wrong with files that could not be run, and what they are warned of.
    pub fn show_invalid(&mut self, out: &mut Output, files: &[TestFile]) -> Result<()> {
        if !self.shown {
            return Ok(());
        }
        let human = Human::new(self.colored);
        for file in files {
            for diagnostic in &file.diagnostics {
                human.write(out, &file.document, diagnostic)?;
                self.after_gap = true;
            }
        }
        Ok(())
    }

    pub fn show_coverage(&mut self, out: &mut Output, coverage: &[CoverageOf], total: Share) -> Result<()> {
        let width = coverage.iter().map(|of| of.file.chars().count()).max().unwrap_or(0);
        if !self.quiet && !self.after_gap {
            writeln!(out)?;
        }
        self.after_gap = false;
        for CoverageOf { file, covered } in coverage {
            let share = |word: &str, share: Share| format!("{word} {}/{}", share.reached, share.of);
            writeln!(
                out,
                "{file:<width$}  {:>5.1} %  {}, {}, {}",
                covered.all().percent(),
                share("steps", covered.steps),
                share("arcs", covered.arcs),
                share("rules", covered.rules),
            )?;
            for missed in &covered.missed {
                writeln!(out, "  not reached: {file}:{} {} {}", missed.line, missed.kind, missed.what)?;
            }
        }
        writeln!(out, "{:<width$}  {:>5.1} %", "all", total.percent())?;
        Ok(())
    }

    pub fn show_summary(
        &self,
        out: &mut Output,
        ran: &[Vec<Ran>],
        files: &[TestFile],
        took: Duration,
    ) -> Result<()> {
        let all = ran.iter().flatten();
        let failed = all.clone().filter(|ran| !ran.outcome.passed()).count();
        let passed = all.count() - failed;
        let invalid = files.iter().filter(|file| file.ready.is_none()).count();
        if files.is_empty() || (self.quiet && failed + invalid == 0) {
            return Ok(());
        }
        let mut words = vec![format!("{} passed", counted(passed, "case"))];
        if failed > 0 {
            words.push(format!("{failed} failed"));
        }
        if invalid > 0 {
            words.push(format!("{} not valid", counted(invalid, "file")));
        }
        if !self.quiet {
            words.push(format!("in {}", seconds(took)));
        }
        if !self.quiet && !self.after_gap {
            writeln!(out)?;
        }
        writeln!(out, "{}", words.join(", "))?;
        Ok(())
    }

    fn paint(&self, color: &str, text: &str) -> String {
        if self.colored { format!("\u{1b}[{color}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}
