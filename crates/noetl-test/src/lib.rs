//! Unit tests of playbooks: one case runs with the real engine and the real interpreter, with tools that are mocked and a
//! clock of its own, so that delays, waits and timeouts pass at once and exactly.
//!
//! [`read()`] turns a test file into a [`Suite`], [`run_case()`] runs a case and holds what happened against what it expects.
//! The crate reads no file and calls no tool: what a case may call for real, its caller brings as [`RealTools`].

mod address;
mod codes;
mod coverage;
mod judge;
pub mod keys;
mod matcher;
mod problem;
mod read;
mod recording;
mod suite;
mod tools;
mod trace;
mod world;
mod yaml;

use std::time::Duration;

pub use address::{Playbook, Playbooks};
pub use coverage::{Coverage, Covered, Missed, Share};
pub use keys::schema;
pub use problem::{Difference, Problem, Source};
pub use read::{Reading, playbook_of, read};
pub use recording::Recording;
pub use suite::{Case, Place, Suite};
pub use tools::{RealCall, RealTools};
pub use yaml::to_yaml;

/// What a case came to.
#[derive(Clone, Debug)]
pub struct CaseOutcome {
    /// Nothing when the case passed.
    pub problems: Vec<Problem>,
    /// How the run ended, in the word of test files.
    pub status: &'static str,
    /// On the case's own clock.
    pub elapsed: Duration,
    /// Calls of tools.
    pub calls: usize,
    pub coverage: Coverage,
}

impl CaseOutcome {
    pub fn passed(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Runs one case.
pub fn run_case(case: &Case, playbooks: &Playbooks, tools: &dyn RealTools) -> CaseOutcome {
    let trace = world::play(case, playbooks, tools);
    CaseOutcome {
        problems: judge::judge(case, playbooks, &trace),
        status: trace.main.as_ref().map_or("waiting", |main| judge::word(main.run.status)),
        elapsed: trace.main.as_ref().map(|main| main.elapsed).unwrap_or_default(),
        calls: trace.calls.len(),
        coverage: Coverage::of(&trace),
    }
}
